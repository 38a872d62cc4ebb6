"""The steps of a test run. Each takes Results; each says by `needs` which files it works on."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree

from check_tables import names_in
from test_results import ROOT, add_tap, environment, run

JOBS = os.cpu_count() or 1
BINARY = ROOT / "build" / "sparkflame"
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def sources():
    return sorted((ROOT / "src").rglob("*.c"))


def meson_setup(folder, *options, env=None):
    """Set up, or set up anew for new sources."""
    if not (ROOT / folder / "build.ninja").exists():
        shutil.rmtree(ROOT / folder, ignore_errors=True)
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
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = pool.map(lambda test: run([*prefix, *test["cmd"]], env=environment(**test["env"], **more)), tests)
        for test, (status, output) in zip(tests, runs):
            add_tap(results, f"{folder} {test['name']}", status, output)
    if not tests:
        results.skip(f"{folder} unit tests", "there are none")


def step_build(results):
    meson_build(results, "build")


def step_unit(results):
    run_unit_tests(results, "build")


def step_asan(results):
    """The other compiler, with the address and undefined-behaviour sanitizers, and the fuzz targets."""
    if meson_build(results, "build-asan", *ASAN_SETUP, env=environment(CC="clang")):
        run_unit_tests(results, "build-asan", **SANITIZERS)


ASAN_SETUP = ("--buildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dfuzz=true")


def uses_threads(test):
    """Whether the tested file or its test starts threads."""
    stem = re.sub(r"_test$", "", test["name"])
    for path in sources():
        name = f"{path.parent.name}_{path.stem}"
        if name in (stem, stem + "_test") and re.search(r"base/(threads|parallel|ordered_work)\.h|pthread\.h", path.read_text()):
            return True
    return False


def threads_tests():
    return [test for test in unit_tests("build-tsan") if uses_threads(test)]


def samples():
    """Sample files of every reader. That they are read right is for other tests to say."""
    folders = [ROOT / "tests" / "data" / name for name in names_in("READER", "src/formats/reader_table.def")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def step_tsan(results):
    """Data races; only the tests of what uses threads."""
    if not meson_build(results, "build-tsan", "--buildtype=debugoptimized", "-Db_sanitize=thread", "-Db_lundef=false",
                       targets=lambda: ["sparkflame"] + [pathlib.Path(test["cmd"][0]).name for test in threads_tests()]):
        return
    # This compiler's sanitizer does not start where addresses are spread too widely.
    prefix = ["setarch", os.uname().machine, "-R"]
    if run([*prefix, "true"], quiet=True)[0] != 0:
        prefix = []
    command = [*prefix, ROOT / "build-tsan" / "sparkflame"]
    if "unexpected memory mapping" in run([*command, "version"], env=environment(**SANITIZERS), quiet=True)[1]:
        results.skip("build-tsan unit tests", "the thread sanitizer cannot start under this kernel's address layout")
        return
    run_unit_tests(results, "build-tsan", keep=uses_threads, prefix=prefix, **SANITIZERS)
    for sample in samples():
        _, output = run([*command, "convert", "-j", "4", sample, "-f", "folded", "-o", "/dev/null"],
                        env=environment(**SANITIZERS), quiet=True)
        results.add(f"build-tsan reads {sample.relative_to(ROOT)}", "ThreadSanitizer" not in output, output)


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
    """Each file alone, so that all processors work and the files at fault are named."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = pool.map(lambda path: run(["clang-tidy", "--quiet", "-p", "build", path]), sources())
        for path, (status, output) in zip(sources(), runs):
            results.add(f"clang-tidy {path.relative_to(ROOT)}", status == 0, output)


def virtual_environment():
    """A Python with the test packages: our own where the package index answers, else the machine's."""
    folder = ROOT / "build" / "venv"
    python = folder / "bin" / "python3"
    wanted = (ROOT / "tests" / "requirements.txt").read_text()
    stamp = folder / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return python, ""
    shutil.rmtree(folder, ignore_errors=True)
    status, output = run(["python3", "-m", "venv", folder])
    for _ in range(3):
        if status == 0:
            status, output = run([python, "-m", "pip", "install", "-q", "-r", ROOT / "tests" / "requirements.txt"])
            if status == 0:
                stamp.write_text(wanted)
                return python, ""
    if run(["python3", "-c", "import pytest"], quiet=True)[0] == 0:
        return "python3", ""
    return None, output


def step_pytest(results):
    python, trouble = virtual_environment()
    if python is None:
        results.add("pytest is installed", False, trouble)
        return
    report = ROOT / "build" / "pytest.xml"
    report.unlink(missing_ok=True)
    status, output = run([python, "-m", "pytest", "-q", "-rR", "-p", "no:cacheprovider", f"--junitxml={report}", "tests"],
                         env=environment(SPARKFLAME=str(BINARY), PYTHONDONTWRITEBYTECODE="1"))
    # 5: there are no tests yet.
    if status == 5:
        results.skip("pytest", "there are no tests")
        return
    failed = add_junit(results, report) if report.exists() else 0
    if status != 0 and failed == 0:
        results.add(f"pytest (exit status {status})", False, output)


def add_junit(results, report):
    failed = 0
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
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
    results.passed += counts["pass"]
    for _ in range(counts["skipped"]):
        results.skip(folder, "node's test runner says so")
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


# name, step, whether it has anything to work on
STEPS = [
    ("includes", check_script("check_includes.py"), exists("tools/check_includes.py")),
    ("style", check_script("check_style.py"), exists("tools/check_style.py")),
    ("tables", check_script("check_tables.py"), exists("tools/check_tables.py")),
    ("format", step_format, exists(".clang-format")),
    ("viewer", node_tests("viewer"), exists("viewer/package.json")),
    ("build", step_build, exists("meson.build")),
    ("unit", step_unit, exists("meson.build")),
    ("async-safe", check_script("check_async_safe.py", "build"), lambda: any((ROOT / "src").rglob("*_async_safe.c"))),
    ("agent-libc", step_agent_libc, exists("build/libsparkflame.so", "tools/check_agent.py")),
    ("plugin", step_plugin, exists("spark_plugin/pom.xml", "tools/build_plugin.py")),
    ("pytest", step_pytest, exists("tests/conftest.py")),
    ("browser", node_tests("tests/browser"), exists("tests/browser/package.json")),
    ("tidy", step_tidy, exists(".clang-tidy")),
    ("asan", step_asan, exists("meson.build")),
    ("fuzz", step_fuzz, exists("tools/run_fuzz.py", "fuzz/meson.build")),
    ("tsan", step_tsan, exists("meson.build")),
]
