# Entry points; Meson and ninja do the work.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS_PER_TARGET ?= 60

.PHONY: all build static packages reproduce platforms dependencies node_packages test demo demo-console riddles bench fleet outliers cross-aarch64 aarch64 lint format manual fuzz fuzz-parquet soak torture weeks coverage outside agent-asan sampler-asan pictures install clean

all: build

$(BUILD)/build.ninja:
	meson setup $(BUILD)

dependencies:
	tools/install_dependencies.sh

node_packages:
	@tools/install_node_packages.sh viewer

# Reconfigures if sources were added or removed: the build finds them by itself.
build: node_packages $(BUILD)/build.ninja
	@find src tests/unit fuzz viewer man spark_plugin pyspark_profilers -name node_modules -prune -o -type f -print | sort > $(BUILD)/.sources.new
	@cmp -s $(BUILD)/.sources.new $(BUILD)/.sources || { meson setup --reconfigure $(BUILD) > /dev/null && mv $(BUILD)/.sources.new $(BUILD)/.sources; }
	ninja -C $(BUILD)

# One statically linked file, to copy into a container.
static: build
	ninja -C $(BUILD) sparkflame-static

# Wheel, Debian package, tarball, Maven repository: build/packages.
packages: static
	python3 packaging/make_packages.py $(BUILD) $(BUILD)/packages

# Builds the last commit in another folder, and compares its packages with those of this one.
reproduce: packages
	python3 packaging/reproduce.py $(BUILD)/packages

# A job on each release of Spark, with each Scala and each Java that it allows.
platforms: build
	python3 tools/run_platforms.py $(BUILD)

test: dependencies
	python3 tools/run_tests.py

demo: dependencies build
	python3 tools/demo.py $(BUILD)

# A collector with recordings of the demo, if it ran, and of the tests: open its page in a browser.
demo-console: build
	python3 tools/demo_console.py $(BUILD)

# The pictures of the README, from a run of the demo.
pictures: demo
	tools/install_node_packages.sh tests/browser
	node tools/make_pictures.mjs $(BUILD) docs/pictures

# Runs four jobs that go wrong on a small Spark cluster of this machine, and prints the report's advice.
riddles: dependencies build
	python3 tools/riddles.py $(BUILD)

bench: build
	python3 bench/convert.py

# What 500 executors ask of a file system and of the driver in an hour, now and in the first version.
fleet: build
	python3 bench/fleet.py --hdfs

# As root: network namespaces and loop devices
outliers: build
	python3 bench/host_outliers.py --report bench/results/outliers.md

# For Linux on aarch64: the agent, its unit tests and the static command in build/aarch64/build, and the plugin's jar for both
# architectures in build/aarch64.
cross-aarch64: build
	tools/install_dependencies.sh aarch64
	python3 tools/cross_aarch64.py $(BUILD)/aarch64
	[ -f $(BUILD)/aarch64/build/build.ninja ] || meson setup $(BUILD)/aarch64/build --cross-file $(BUILD)/aarch64/cross.ini
	ninja -C $(BUILD)/aarch64/build libsparkflame.so sparkflame-static test_jvm_agent_machine_aarch64_test
	python3 tools/build_plugin.py pack $(BUILD)/sparkflame-plugin-classes.jar $(BUILD)/libsparkflame.so $(BUILD)/aarch64/build/libsparkflame.so \
		$(BUILD)/aarch64/sparkflame-plugin.jar

# The agent in a JVM for aarch64, emulated, beside async-profiler: bench/results/aarch64.md.
aarch64: build cross-aarch64
	python3 tools/run_aarch64.py $(BUILD)/aarch64/build

# Checks beyond the compiler's.
lint: build
	python3 tools/run_tests.py --only includes --only style --only words --only tables --only format --only tidy

format:
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

# Updates the options in man/ from the option tables.
manual: build
	tools/update_manual.py $(BUILD)/sparkflame

fuzz:
	python3 tools/run_fuzz.py --build --seconds $(SECONDS_PER_TARGET)

# Random tables by the Parquet writer, read by pyarrow and DuckDB.
fuzz-parquet: build
	$$(cd tools && python3 -c 'import test_steps; print(test_steps.virtual_environment()[0])') tools/fuzz_parquet.py --build $(BUILD) --seconds $(SECONDS_PER_TARGET)

soak: build
	python3 tools/soak_agent.py --seconds 240

# Which lines of each room the tests reach: 80 % at least.
coverage: dependencies
	python3 tools/coverage.py

# The suites of tests/outside, with the checkouts of other projects that DIRS names.
outside: build
	python3 tools/run_outside.py $(DIRS)

# Several profilers in one JVM, in every order, on four releases of Java.
torture: build
	python3 tools/torture_agent.py

# Recordings of more stacks than their memory holds: ten million, and a thousand classes that Spark SQL generates.
weeks: build
	python3 bench/weeks.py

# The agent with the address and undefined-behaviour sanitizers, in real JVMs.
agent-asan: build
	python3 tools/agent_asan.py

# The live tests of the Python sampler with the sanitizers.
sampler-asan:
	python3 tools/run_tests.py --only build-asan --only venv
	SPARKFLAME=$(CURDIR)/build-asan/sparkflame ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		$$(cd tools && python3 -c 'import test_steps; print(test_steps.virtual_environment()[0])') \
		-m pytest -q tests/test_python_record.py tests/test_python_robust.py tests/test_python_hostile.py

install: build
	meson configure $(BUILD) --prefix $(PREFIX) > /dev/null
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	rm -rf $(BUILD) build-asan build-tsan build-coverage
