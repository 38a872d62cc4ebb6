"""The steps of a test run. Each takes Results; `needs` lists the files it works on."""

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import typing
import xml.etree.ElementTree

from check_tables import names_in
from list_sources import is_for
from test_results import ROOT, STARTED, add_tap, end_group, environment, run
import thread_inputs

JOBS = os.cpu_count() or 1
# Against a hang only: above what single tests have as their limit.
PYTEST_LIMIT_SECONDS = 3600
# For one test program, which takes a second or two; under a sanitizer beside other work ten times that.
UNIT_LIMIT_SECONDS = 120
BINARY = ROOT / "build" / "sparkflame"
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def sources():
    """What is compiled on this machine."""
    return sorted(path for path in (ROOT / "src").rglob("*.c") if is_for(path, os.uname().machine))


def meson_setup(folder, *options, env=None):
    """Set up, or set up anew for new sources."""
    if not (ROOT / folder / "build.ninja").exists():
        # What an interrupted setup left; packages and downloads beside it stay.
        for part in (ROOT / folder).glob("meson-*"):
            shutil.rmtree(part, ignore_errors=True)
        return run(["meson", "setup", folder, *options], env=env)
    return run(["meson", "setup", "--reconfigure", folder, *options], env=env)


def meson_build(results, folder, *options, env=None, targets=lambda: ()):
    """Build; one test that the compiler is content."""
    status, output = meson_setup(folder, *options, env=env)
    if status == 0:
        status, output = run(["ninja", "-C", folder, f"-j{JOBS}", *targets()], env=env)
    results.add(f"{folder} builds", status == 0, output)
    return status == 0


def unit_tests(folder):
    _, text = run(["meson", "introspect", "--tests", folder])
    return json.loads(text[text.index("["):])


def run_unit_tests(results, folder, keep=lambda test: True, prefix=(), **more):
    """Every test program of a build folder, as many at a time as there are processors."""
    tests = [test for test in unit_tests(folder) if keep(test)]

    def run_test(test):
        return run([*prefix, *test["cmd"]], env=environment(**test["env"], **more), limit_seconds=UNIT_LIMIT_SECONDS, stacks=True)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = pool.map(run_test, tests)
        for test, (status, output) in zip(tests, runs):
            add_tap(results, f"{folder} {test['name']}", status, output)
    if not tests:
        results.skip(f"{folder} unit tests", "there are none")


def step_build(results):
    """With the static command, so that no test builds in this folder while others use it."""
    def targets():
        has_static = "\nbuild sparkflame-static:" in (ROOT / "build" / "build.ninja").read_text()
        return ["all", "sparkflame-static"] if has_static else ["all"]
    meson_build(results, "build", targets=targets)


def step_unit(results):
    run_unit_tests(results, "build")


def step_build_asan(results):
    """The other compiler, with the address and undefined-behaviour sanitizers, and the fuzz targets."""
    meson_build(results, "build-asan", *ASAN_SETUP, env=environment(CC="clang"))


def step_asan(results):
    run_unit_tests(results, "build-asan", **SANITIZERS)


ASAN_SETUP = ("--buildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dfuzz=true")


def uses_threads(test):
    """Whether the tested file or its test starts threads."""
    stem = re.sub(r"_test$", "", test["name"])
    for path in sources():
        name = f"{path.relative_to(ROOT / 'src').parts[0]}_{path.stem}"
        if name in (stem, stem + "_test") and re.search(r"base/(threads|parallel|ordered_work)\.h|pthread\.h", path.read_text()):
            return True
    return False


def threads_tests():
    return [test for test in unit_tests("build-tsan") if uses_threads(test)]


def samples():
    """Sample files of every reader. Other tests check that they are read correctly."""
    folders = [ROOT / "tests" / "data" / name for name in names_in("READER", "src/formats/reader_table.def")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def step_build_tsan(results):
    meson_build(results, "build-tsan", "--buildtype=debugoptimized", "-Db_sanitize=thread", "-Db_lundef=false",
                targets=lambda: ["sparkflame"] + [pathlib.Path(test["cmd"][0]).name for test in threads_tests()])


def step_tsan(results):
    """Data races: the unit tests of what uses threads, and commands on inputs large enough to start threads."""
    # This compiler's sanitizer does not start where addresses are spread too widely.
    prefix = ["setarch", os.uname().machine, "-R"]
    if run([*prefix, "true"], quiet=True)[0] != 0:
        prefix = []
    command = [*prefix, ROOT / "build-tsan" / "sparkflame"]
    if "unexpected memory mapping" in run([*command, "version"], env=environment(**SANITIZERS), quiet=True)[1]:
        results.skip("build-tsan unit tests", "the thread sanitizer cannot start under this kernel's address layout")
        return
    run_unit_tests(results, "build-tsan", keep=uses_threads, prefix=prefix, **SANITIZERS)
    with tempfile.TemporaryDirectory() as folder:
        for sample in samples():
            words = ["convert", sample, "-q", "-f", "folded"]
            check_threads(results, command, f"reads {sample.relative_to(ROOT)}", words, pathlib.Path(folder) / "output")
        for name, words in thread_inputs.make(pathlib.Path(folder)):
            check_threads(results, command, name, words, pathlib.Path(folder) / "output", least_threads=4)


def check_threads(results, command, name, words, path, least_threads=0):
    """Four threads give what one thread of the release build gives: the same exit status and output, and no data race."""
    expected, wanted = run_watched([BINARY, *words, "-j", "1"], path)[:2]
    status, output, threads, trouble = run_watched([*command, *words, "-j", "4"], path)
    problems = trouble if status != expected or "ThreadSanitizer" in trouble else ""
    if status != expected:
        problems += f"\nerror: exit status {status} instead of {expected}"
    elif output != wanted:
        problems += "\nerror: the output differs from that of one thread"
    if threads < least_threads:
        problems += f"\nerror: it had {threads} threads, not {least_threads}: the input is too small to test anything"
    results.add(f"build-tsan {name}", not problems, problems)


def run_watched(command, path):
    """(exit status, standard output, most threads seen at a time, standard error)"""
    threads = 0
    with open(path, "wb") as output, open(f"{path}.errors", "wb") as errors:
        process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env=environment(**SANITIZERS), stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=errors, start_new_session=True)
        STARTED.add(process)
        end = time.monotonic() + UNIT_LIMIT_SECONDS
        while process.poll() is None:
            with contextlib.suppress(OSError):
                threads = max(threads, len(os.listdir(f"/proc/{process.pid}/task")))
            if time.monotonic() > end:
                end_group(process)
            time.sleep(0.002)
        STARTED.discard(process)
    return process.returncode, path.read_bytes(), threads, pathlib.Path(f"{path}.errors").read_text(errors="replace")


def check_script(name, *arguments):
    def step(results):
        status, output = run([sys.executable, ROOT / "tools" / name, *arguments])
        results.add(" ".join([name, *arguments]), status == 0, output)
    return step


def c_files():
    status, text = run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"])
    return [line for line in text.splitlines() if (ROOT / line).exists()] if status == 0 else []


def step_format(results):
    status, output = run(["clang-format", "--dry-run", "--Werror", *c_files()], quiet=True)
    files = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", output, re.MULTILINE)))
    results.add("clang-format", status == 0, "run `make format` for:\n" + "\n".join(files) if files else output)


def step_tidy(results):
    """Each file separately, in parallel, so that failures name the file."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = pool.map(lambda path: run(["clang-tidy", "--quiet", "-p", "build", path]), sources())
        for path, (status, output) in zip(sources(), runs):
            results.add(f"clang-tidy {path.relative_to(ROOT)}", status == 0, output)


def virtual_environment():
    """A Python with the packages of tests/requirements.txt and no others: (python, "") or (None, why there is none)."""
    folder = ROOT / "build" / "venv"
    python = folder / "bin" / "python3"
    wanted = (ROOT / "tests" / "requirements.txt").read_text()
    stamp = folder / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return python, ""
    shutil.rmtree(folder, ignore_errors=True)
    status, output = run(["python3", "-m", "venv", folder])
    if status != 0:
        return None, f"python3 -m venv failed (Debian: apt install python3-venv):\n{output}"
    for _ in range(3):
        status, output = run([python, "-m", "pip", "install", "-q", "--no-deps", "-r", ROOT / "tests" / "requirements.txt"])
        if status == 0:
            stamp.write_text(wanted)
            return python, ""
    return None, f"pip could not install the packages of tests/requirements.txt:\n{output}"


def step_venv(results):
    python, trouble = virtual_environment()
    results.add("the packages of tests/requirements.txt are installed", python is not None, trouble)


def step_fetch(results):
    """What live tests need from registries, all before them; a test that lacks something reports it itself."""
    commands = [["fetch_pythons.py"], ["fetch_jdks.py", "11", "21", "25"], ["fetch_spark.py", "--pandas", "3.5", "4"], ["fetch_jars.py", "hadoop"],
                ["fetch_pyroscope.py"]]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for command, (status, output) in zip(commands, pool.map(lambda words: run([sys.executable, ROOT / "tools" / words[0], *words[1:]]),
                                                                commands)):
            if status != 0:
                print(f"{' '.join(command)}: {output}", flush=True)


# Live tests whose assertions depend on how much of the processors they get: they run alone.
MEASURING = ("test_jvm_agent.py", "test_jvm_agent_truth.py", "test_jvm_agent_tags.py", "test_jvm_agent_features.py", "test_jvm_agent_jfr.py",
             "test_jvm_agent_perf.py", "test_jvm_agent_events.py", "test_jvm_agent_system.py", "test_python_record.py",
             "test_python_native.py", "test_native_record.py", "test_record_jvm.py", "test_spark_stitch.py", "test_jvm_agent_weeks.py")
# They start Spark, HDFS and YARN, and mostly wait.
SPARK = ("test_spark_", "test_python_spark")
LIVE = ("test_jvm_", "test_python_", "test_record_", "test_top", "test_asprof", "test_list", "test_pyroscope_")
# Readers and writers, once more with the build that the address sanitizer watches.
FORMATS = ("test_damaged_input.py", "test_formats_json.py", "test_formats_text.py", "test_jfr.py", "test_select.py", "test_diff.py", "test_metrics.py",
           "test_parquet.py")


def group_of(name):
    """The step that runs this file of tests: each belongs to one."""
    if name in MEASURING:
        return "pytest-measuring"
    if name.startswith(SPARK):
        return "pytest-spark"
    return "pytest-live" if name.startswith(LIVE) else "pytest"


def test_files(group):
    return sorted(path for path in (ROOT / "tests").glob("test_*.py") if group_of(path.name) == group)


def run_pytest(results, name, files, workers=0, prefix="", **more):
    """Run these files; with workers as many at a time."""
    python, trouble = virtual_environment()
    if python is None:
        results.add(f"{name}: packages", False, trouble)
        return
    report = ROOT / "build" / f"{name}.xml"
    report.unlink(missing_ok=True)
    options = ["-n", workers, "--dist", "worksteal"] if workers else []
    status, output = run([python, "-m", "pytest", "-q", "-rR", "-p", "no:cacheprovider", f"--junitxml={report}", *options, *files],
                         env=environment(**{"SPARKFLAME": str(BINARY), "PYTHONDONTWRITEBYTECODE": "1", **more}),
                         limit_seconds=PYTEST_LIMIT_SECONDS)
    results.reruns += len(re.findall(r"^RERUN ", output, re.MULTILINE))
    failed = add_junit(results, report, prefix) if report.exists() else 0
    if status != 0 and failed == 0:
        results.add(f"{name} (exit status {status})", False, output)


def pytest_group(name, workers=0):
    return lambda results: run_pytest(results, name, test_files(name), workers)


def step_formats_asan(results):
    """The tests of readers and writers, with the command that the address and undefined-behaviour sanitizers watch."""
    run_pytest(results, "pytest-asan", [ROOT / "tests" / name for name in FORMATS], JOBS, "build-asan ",
               SPARKFLAME=str(ROOT / "build-asan" / "sparkflame"), **SANITIZERS)


def add_junit(results, report, prefix=""):
    failed = 0
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{prefix}{case.get('classname')}.{case.get('name')}"
        trouble = [part for part in case if part.tag in ("failure", "error")]
        skipped = case.find("skipped")
        if skipped is not None:
            results.skip(name, skipped.get("message", ""))
            continue
        text = "\n".join(f"{part.get('message', '')}\n{part.text or ''}" for part in trouble)
        results.add(name, not trouble, text)
        failed += bool(trouble)
    return failed


def node_packages(results, folder):
    status, output = run([ROOT / "tools" / "install_node_packages.sh", folder])
    if status != 0:
        results.add(f"{folder}: npm ci", False, output)
    return status == 0


def node_tests(folder):
    def step(results):
        if not node_packages(results, folder):
            return
        scripts = json.loads((ROOT / folder / "package.json").read_text()).get("scripts", {})
        if "check" in scripts:
            status, output = run(["npm", "run", "--silent", "check"], cwd=ROOT / folder)
            results.add(f"{folder}: npm run check", status == 0, output)
        if "test" in scripts:
            chromium = shutil.which("chromium") or "/usr/bin/chromium"
            status, output = run(["npm", "test", "--silent"], cwd=ROOT / folder,
                                 env=environment(SPARKFLAME=str(BINARY), CHROMIUM=chromium))
            add_node(results, folder, status, output)
    return step


def add_node(results, folder, status, output):
    """Counts of node's test runner, in either of its two reports."""
    counts = {"pass": 0, "fail": 0, "cancelled": 0, "skipped": 0}
    for word, number in re.findall(r"^(?:#|ℹ) (pass|fail|cancelled|skipped) (\d+)$", output, re.MULTILINE):
        counts[word] += int(number)
    for number in range(counts["pass"]):
        results.passed.append(f"{folder} {number}")
    for _ in range(counts["skipped"]):
        results.skip(folder, "skipped by node's test runner")
    broken = re.split(r"^(?=[ ]*(?:not ok \d+|✖ ))", output, flags=re.MULTILINE)[1:]
    failed = counts["fail"] + counts["cancelled"]
    for index in range(failed):
        text = broken[index] if index < len(broken) else output[-3000:]
        results.add(f"{folder}: {text.splitlines()[0].strip()}", False, text)
    if failed == 0 and (status != 0 or counts["pass"] == 0):
        results.add(f"{folder}: npm test (exit status {status}, {counts['pass']} tests)", False, output[-4000:])


def step_plugin(results):
    """The unit tests of the Spark plugin."""
    folder = ROOT / "build" / "plugin-test"
    shutil.rmtree(folder, ignore_errors=True)
    status, output = run([sys.executable, ROOT / "tools" / "build_plugin.py", "test", folder])
    reports = sorted((folder / "surefire-reports").glob("TEST-*.xml"))
    failed = sum(add_junit(results, report) for report in reports)
    if failed == 0 and (status != 0 or not reports):
        results.add(f"plugin (exit status {status}, {len(reports)} reports)", False, output)


def step_agent_libc(results):
    status, output = run([sys.executable, ROOT / "tools" / "check_agent.py", ROOT / "build" / "libsparkflame.so"])
    results.add("libsparkflame.so needs only libc", status == 0, output)


def step_fuzz(results):
    """A fixed number of runs, so that the machine's load changes nothing but the time."""
    status, output = run([sys.executable, ROOT / "tools" / "run_fuzz.py", "--runs", "3000"])
    add_tap(results, "fuzz", status, output)


def exists(*names):
    return lambda: all((ROOT / name).exists() for name in names)


@dataclasses.dataclass
class Step:
    """One step of a run, a process of its own. It starts when those in `after` have ended, and when so many processors are free;
    a quiet one only when no other runs."""
    name: str
    run: typing.Callable
    ready: typing.Callable
    after: tuple = ()
    processors: float = 1
    quiet: bool = False
    nice: int = 0


BUILDS = ("build", "build-asan", "build-tsan")
PYTEST = ("build", "venv", "fetch")
# What the others wait for comes first, then what must be alone, then long waiting beside computing.
STEPS = [
    Step("includes", check_script("check_includes.py"), exists("tools/check_includes.py")),
    Step("style", check_script("check_style.py"), exists("tools/check_style.py")),
    Step("words", check_script("check_words.py"), exists("tools/check_words.py")),
    Step("tables", check_script("check_tables.py"), exists("tools/check_tables.py")),
    Step("format", step_format, exists(".clang-format")),
    Step("venv", step_venv, exists("tests/requirements.txt"), processors=0.2),
    Step("fetch", step_fetch, exists("tests/conftest.py"), processors=0.2),
    Step("build", step_build, exists("meson.build"), processors=JOBS - 0.4),
    Step("build-asan", step_build_asan, exists("meson.build"), ("build",), JOBS - 0.4),
    Step("build-tsan", step_build_tsan, exists("meson.build"), ("build",), JOBS - 0.4),
    Step("pytest-measuring", pytest_group("pytest-measuring"), exists("tests/conftest.py"), (*PYTEST, *BUILDS), quiet=True),
    Step("pytest-spark", pytest_group("pytest-spark"), exists("tests/conftest.py"), PYTEST, processors=0.5),
    Step("pytest-live", pytest_group("pytest-live"), exists("tests/conftest.py"), PYTEST, processors=0.5),
    Step("viewer", node_tests("viewer"), exists("viewer/package.json")),
    Step("unit", step_unit, exists("meson.build"), ("build",)),
    Step("async-safe", check_script("check_async_safe.py", "build"), lambda: any((ROOT / "src").rglob("*_async_safe.c")), ("build",)),
    Step("agent-libc", step_agent_libc, exists("tools/check_agent.py"), ("build",)),
    Step("plugin", step_plugin, exists("spark_plugin/pom.xml", "tools/build_plugin.py"), ("build",)),
    Step("browser", node_tests("tests/browser"), exists("tests/browser/package.json"), ("build", "viewer")),
    Step("pytest", pytest_group("pytest", JOBS), exists("tests/conftest.py"), PYTEST),
    Step("pytest-asan", step_formats_asan, exists("tests/conftest.py"), ("build-asan", *PYTEST)),
    Step("asan", step_asan, exists("meson.build"), ("build-asan",)),
    Step("tsan", step_tsan, exists("meson.build"), ("build-tsan",)),
    Step("fuzz", step_fuzz, exists("tools/run_fuzz.py", "fuzz/meson.build"), ("build-asan",), nice=10),
    Step("tidy", step_tidy, exists(".clang-tidy"), ("build",), nice=10),
]
