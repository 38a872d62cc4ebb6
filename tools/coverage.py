#!/usr/bin/env python3
"""Which lines of each room (src/*) the tests reach: build with gcov, run unit tests and pytest, print a table; exit status 1 when
a room is below the bar or a test fails."""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

from test_results import ROOT, Results, environment, run
from test_steps import JOBS, meson_build, run_unit_tests, test_files, virtual_environment

FOLDER = ROOT / "build-coverage"
SETUP = ("--buildtype=debug", "-Db_coverage=true", "-Dwerror=false", "-Dc_args=-fprofile-update=atomic",
         # gcov's library calls malloc, which unit tests wrap.
         "-Dc_link_args=-Wl,--undefined=__wrap_malloc")
BAR_PERCENT = 80
# Live tests that reach what others do not: the agent, the sampler, attaching, commands for processes.
LIVE = ["test_jvm_agent.py", "test_jvm_agent_disk.py", "test_jvm_agent_events.py", "test_jvm_agent_fallback.py", "test_jvm_agent_features.py",
        "test_jvm_agent_jfr.py", "test_jvm_agent_rotate.py", "test_jvm_agent_shared.py", "test_jvm_agent_system.py", "test_jvm_agent_tags.py",
        "test_jvm_attach.py", "test_python_commands.py", "test_python_record.py", "test_python_native.py", "test_record_jvm.py", "test_list.py",
        "test_top.py", "test_asprof.py"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bar", type=int, default=BAR_PERCENT, metavar="PERCENT", help=f"least share of lines in each room ({BAR_PERCENT})")
    parser.add_argument("--no-live", action="store_true", help="without live tests (they take ten minutes)")
    parser.add_argument("--only-table", action="store_true", help="run nothing, print what the last run has left")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="also the N files of each room with most lines that no test reaches")
    return parser.parse_args()


def run_tests(results, live):
    """Failures are shown by what runs them, and counted."""
    run_unit_tests(results, FOLDER.name)
    python, trouble = virtual_environment()
    if python is None:
        results.add("packages", False, trouble)
        return
    more = environment(SPARKFLAME=str(FOLDER / "sparkflame"), SPARKFLAME_AGENT=str(FOLDER / "libsparkflame.so"), PYTHONDONTWRITEBYTECODE="1")
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    results.add("tests without live processes", run([*command, "-n", JOBS, *test_files("pytest")], env=more, limit_seconds=3600)[0] == 0)
    if live and run([*command, *(ROOT / "tests" / name for name in LIVE)], env=more, limit_seconds=7200)[0] != 0:
        print("some live tests failed in this build (its output is above); make test judges them", flush=True)


def gcov_reports(scratch):
    """One per object file."""
    notes = sorted(str(path) for path in FOLDER.rglob("*.gcno"))
    for first in range(0, len(notes), 50):
        subprocess.run(["gcov", "--json-format", "--hash-filenames", *notes[first:first + 50]], cwd=scratch, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for path in pathlib.Path(scratch).glob("*.gcov.json.gz"):
        yield json.loads(gzip.decompress(path.read_bytes()))


def measure():
    """{file: {line: times reached}} of the sources that are no tests."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    with tempfile.TemporaryDirectory() as scratch:
        for report in gcov_reports(scratch):
            base = pathlib.Path(report["current_working_directory"])
            for file in report["files"]:
                path = (base / file["file"]).resolve()
                if path.is_relative_to(ROOT / "src") and not path.stem.endswith("_test"):
                    for line in file["lines"]:
                        counts[path.relative_to(ROOT / "src")][line["line_number"]] += line["count"]
    return counts


def room_of(path):
    return path.parts[0] if len(path.parts) > 1 else "."


def rooms_of(counts):
    """{room: {file: (lines reached, lines)}}"""
    rooms = collections.defaultdict(dict)
    for path, lines in counts.items():
        rooms[room_of(path)][path] = (sum(count > 0 for count in lines.values()), len(lines))
    return rooms


def table(rooms, bar, file_count):
    """(text, whether every room reaches the bar)"""
    lines, good = [f"{'room':<18}{'files':>6}{'lines':>8}{'reached':>9}{'%':>7}"], True
    for room, files in sorted(rooms.items()):
        reached, total = (sum(part[i] for part in files.values()) for i in (0, 1))
        low = reached * 100 < bar * total
        good = good and not low
        lines.append(f"{room:<18}{len(files):>6}{total:>8}{reached:>9}{reached * 100 / max(total, 1):>7.1f}" + (f"  below {bar}" if low else ""))
        worst = sorted(files.items(), key=lambda item: item[1][0] - item[1][1])[:file_count]
        lines += [f"    {path}: {part[1] - part[0]} of {part[1]} lines not reached" for path, part in worst if part[1] > part[0]]
    return "\n".join(lines), good


def main():
    options, results = arguments(), Results()
    if not options.only_table:
        if not meson_build(results, FOLDER.name, *SETUP):
            return 1
        for path in FOLDER.rglob("*.gcda"):
            path.unlink()
        run_tests(results, not options.no_live)
    text, good = table(rooms_of(measure()), options.bar, options.files)
    print(text)
    if results.failures:
        print(f"failed: {', '.join(name for name, _ in results.failures)}")
    return 0 if good and not results.failures else 1


if __name__ == "__main__":
    sys.exit(main())
