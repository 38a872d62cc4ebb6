# The commands a person needs; Meson and ninja do the work.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS_PER_TARGET ?= 60

.PHONY: all build static dependencies node_packages test demo riddles bench lint format manual fuzz soak agent-asan sampler-asan install clean

all: build

$(BUILD)/build.ninja:
	meson setup $(BUILD)

dependencies:
	tools/install_dependencies.sh

node_packages:
	@tools/install_node_packages.sh viewer

# New and removed sources are noticed by their list, so that no file has to be named twice.
build: node_packages $(BUILD)/build.ninja
	@find src tests/unit fuzz viewer man spark_plugin pyspark_profilers -name node_modules -prune -o -type f -print | sort > $(BUILD)/.sources.new
	@cmp -s $(BUILD)/.sources.new $(BUILD)/.sources || { meson setup --reconfigure $(BUILD) > /dev/null && mv $(BUILD)/.sources.new $(BUILD)/.sources; }
	ninja -C $(BUILD)

# One file without libraries, to copy into a container.
static: build
	ninja -C $(BUILD) sparkflame-static

test: dependencies
	python3 tools/run_tests.py

demo: dependencies build
	python3 tools/demo.py $(BUILD)

# Four jobs that go wrong, on a small Spark cluster of this machine, and what the report says of them.
riddles: dependencies build
	python3 tools/riddles.py $(BUILD)

bench: build
	python3 bench/convert.py

# What a compiler does not see: layers, style, tables, layout, clang-tidy.
lint: build
	python3 tools/run_tests.py --only includes --only style --only tables --only format --only tidy

format:
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

# Brings the options in man/ up to the option tables.
manual: build
	tools/update_manual.py $(BUILD)/sparkflame

fuzz:
	python3 tools/run_fuzz.py --build --seconds $(SECONDS_PER_TARGET)

soak: build
	python3 tools/soak_agent.py --seconds 240

# The agent with the address and undefined-behaviour sanitizers, in real JVMs.
agent-asan: build
	python3 tools/agent_asan.py

# The live tests of the Python sampler with the command that the sanitizers watch.
sampler-asan:
	python3 tools/run_tests.py --only asan
	SPARKFLAME=$(CURDIR)/build-asan/sparkflame ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		$$(cd tools && python3 -c 'import test_steps; print(test_steps.virtual_environment()[0])') \
		-m pytest -q tests/test_python_record.py tests/test_python_robust.py

install: build
	meson configure $(BUILD) --prefix $(PREFIX) > /dev/null
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	rm -rf $(BUILD) build-asan build-tsan
