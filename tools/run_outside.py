#!/usr/bin/env python3
"""run_outside.py DIRECTORY… : run the suites of tests/outside, which compare with other projects' own samples and programs.

Each DIRECTORY is a checkout, or holds checkouts (FlameGraph, inferno, jfr-parser, …), jars (jfr-converter-*.jar) and libasyncProfiler.so; each is known by
what is in it, not by its name. Nothing is fetched. A suite whose checkout is not there is left out, and that is said. Exit status 1
when a suite fails or none could run."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTSIDE = ROOT / "tests" / "outside"
LIMIT_SECONDS = 7200
# variable: a file that is only in such a checkout
MARKS = {
    "FLAMEGRAPH_DIR": "stackcollapse-perf.pl",
    "INFERNO_DIR": "src/collapse/perf.rs",
    "INFERNO_SOURCE": "src/collapse/perf.rs",
    "JFR_PARSER_SOURCE": "parser/testdata",
    "ASYNC_PROFILER_DIR": "src/profiler.cpp",
    "PPROF_DIR": "profile/testdata",
    "SPEEDSCOPE_DIR": "sample/profiles",
    "PY_SPY_DIR": "src/python_spy.rs",
    "PYSTACK_DIR": "src/pystack",
    "STOPWATCH_DIR": "ProfileStraggler/CpuAndMemory.json.gz",
    "SPARK_SOURCE": "core/src/test/resources/spark-events",
    "SCHEMATHESIS": "bin/schemathesis",
}
# variable: the file's name
FILES = {"JFRCONV": r"(jfr-converter|jfrconv).*\.jar", "JFR_CONVERTER": r"(jfr-converter|jfrconv).*\.jar", "PEER": r"libasyncProfiler\.so"}
# suite: variables that it needs; those after them are of use
SUITES = {
    "flamegraph_perf.py": (["FLAMEGRAPH_DIR"], []),
    "inferno_perf.py": (["INFERNO_DIR"], ["FLAMEGRAPH_DIR"]),
    "inferno_diff.py": (["INFERNO_DIR"], []),
    "svg.py": (["INFERNO_SOURCE", "FLAMEGRAPH_DIR"], []),
    "speedscope.py": (["SPEEDSCOPE_DIR"], []),
    "pprof.py": (["PPROF_DIR"], []),
    "jfr_parser.py": (["JFR_PARSER_SOURCE"], []),
    "jfr_totals.py": (["JFR_PARSER_SOURCE"], ["JFR_CONVERTER"]),
    "async_html.py": (["ASYNC_PROFILER_DIR", "JFRCONV"], []),
    "stopwatch.py": (["STOPWATCH_DIR"], []),
    "history_server.py": (["SPARK_SOURCE"], []),
    "py_spy_programs.py": (["PY_SPY_DIR"], []),
    "pystack_programs.py": (["PYSTACK_DIR"], []),
    "async_profiler_suite.py": (["ASYNC_PROFILER_DIR"], []),
    "agent_stacks.py": (["PEER"], []),
    "schemathesis_api.py": (["SCHEMATHESIS"], []),
    "perf_events.py": ([], []),
}
NEEDS_COMMAND = {"perf_events.py": "perf", "pprof.py": "go", "async_profiler_suite.py": "java"}
# Not a suite: what suites share.
SHARED = {"folded_outside.py", "python_outside.py"}


def candidates(folders):
    """The folders, what is in them, and what is in that: STOPWATCH_DIR is two levels below its checkout."""
    for folder in folders:
        yield folder
        for depth in ("*", "*/*", "*/*/*"):
            yield from sorted(path for path in folder.glob(depth) if path.is_dir() or path.suffix in (".jar", ".so"))


def find(folders):
    """{variable: path}"""
    found = {}
    for path in candidates(folders):
        for variable, mark in MARKS.items():
            if variable not in found and (path / mark).exists():
                found[variable] = path
        for variable, pattern in FILES.items():
            if variable not in found and re.fullmatch(pattern, path.name):
                found[variable] = path
    return found


def reason_to_leave_out(suite, found):
    missing = [variable for variable in SUITES[suite][0] if variable not in found]
    if missing:
        return f"no {' and no '.join(missing)} in the directories"
    command = NEEDS_COMMAND.get(suite)
    return f"{command} is not installed" if command and shutil.which(command) is None else ""


def java_homes():
    javac = shutil.which("javac")
    return [str(pathlib.Path(javac).resolve().parent.parent)] if javac else []


def run_suite(suite, found):
    """(exit status, last line)"""
    needed, useful = SUITES[suite]
    variables = {name: str(found[name]) for name in (*needed, *useful) if name in found}
    words = {"async_profiler_suite.py": java_homes(), "agent_stacks.py": ["--peer", variables.get("PEER", "")]}.get(suite, [])
    try:
        done = subprocess.run([sys.executable, OUTSIDE / suite, *words], env={**os.environ, **variables}, cwd=ROOT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return 124, f"ended after {LIMIT_SECONDS} s"
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        print(text, flush=True)
    lines = [line for line in text.splitlines() if line.strip()]
    return done.returncode, lines[-1].strip()[:90] if lines else ""


def main():
    if not sys.argv[1:] or "-h" in sys.argv or "--help" in sys.argv:
        print(__doc__)
        return 0 if sys.argv[1:] else 2
    folders = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    absent = [str(folder) for folder in folders if not folder.is_dir()]
    if absent:
        print(f"no such directory: {', '.join(absent)}", file=sys.stderr)
        return 2
    found, rows, counts = find(folders), [], {"passed": 0, "FAILED": 0, "left out": 0}
    for suite in SUITES:
        reason = reason_to_leave_out(suite, found)
        began = time.monotonic()
        status, line = (0, reason) if reason else run_suite(suite, found)
        outcome = "left out" if reason else "passed" if status == 0 else "FAILED"
        counts[outcome] += 1
        rows.append(f"{suite:<26}{outcome:<10}{time.monotonic() - began:>6.0f} s  {line}")
        print(rows[-1], flush=True)
    print("\n" + "\n".join(rows))
    print(", ".join(f"{count} {name.lower()}" for name, count in counts.items()))
    return 1 if counts["FAILED"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
