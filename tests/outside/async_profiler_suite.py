#!/usr/bin/env python3
"""async-profiler's own Java tests, run against our library and command.

ASYNC_PROFILER_DIR=checkout async_profiler_suite.py [--retries N] [--threads N] [--nice N] [--only CASES] JAVA_HOME…

The checkout must have been built with its own `make build-test`. What its tests need of it (their classes, jars and
small programs) is copied to a scratch folder, where our library and our command stand in the places in which they
look for theirs. While they run, the maps of all their processes are read, to show which profilers were loaded. Ends
with a table of each case and Java, and what is known of those that fail; exit code 1 when fewer than --bar cases pass.

Many cases count what a program does within seconds: on a busy machine give them one thread and a --nice below zero.
"""

import argparse
import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from folded_outside import ROOT, SPARKFLAME, folder_from

LIBRARY = pathlib.Path(os.environ.get("SPARKFLAME_AGENT", ROOT / "build" / "libsparkflame.so"))
LATER = ("Instrument", "Nativemem", "Nativelock", "Nonjava", "Proc", "Otlp")  # what our agent does not do yet
RESULT = re.compile(r"^(PASS|FAIL|SKIP[^\[]*?) +\[\d+/\d+] tid\[\d+] (\S+).*? took ([0-9.]+) s")
PROFILER_NAME = re.compile(r"async-?profiler|libasync|sparkflame|honest|yourkit|lagent", re.IGNORECASE)
MAPS_SECONDS = 0.3
KNOWN = {
    "ApiTests.metrics": "needs trace=METHOD",
    "JfrTests.allModeEventOverride": "needs event=METHOD",
    "JfrconverterTests.latencyFilter": "needs trace=METHOD",
    "KernelTests.kprobe": "needs a kernel with the kprobe PMU",
    "StackwalkerTests.deepStack/VM": "expects that the stack breaks off; ours reaches its root",
    "StackwalkerTests.deepStack/VMX": "expects that the stack breaks off; ours reaches its root",
}


def checksum(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def lay_out(checkout, scratch):
    """The folder that the tests expect, with our library and command instead of theirs."""
    for part in ("build/test.jar", "build/jar", "build/test", "test"):
        source, target = checkout / part, scratch / part
        if not source.exists():
            sys.exit(f"{source} is not there: run `make build-test` in the checkout")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("logs", "cpptests"))
        else:
            shutil.copy2(source, target)
    for folder in ("lib", "bin"):
        (scratch / "build" / folder).mkdir()
    shutil.copy2(LIBRARY, scratch / "build" / "lib" / "libasyncProfiler.so")
    shutil.copy2(SPARKFLAME, scratch / "build" / "bin" / "asprof")
    for path in scratch.rglob("*.so"):
        if PROFILER_NAME.search(path.name) and checksum(path) != checksum(LIBRARY):
            sys.exit(f"{path} is another profiler")


class LoadedLibraries(threading.Thread):
    """Which profilers the processes below this one have mapped, by their bytes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.processes = collections.defaultdict(set)
        self.sums = {}
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(MAPS_SECONDS):
            for pid in self.descendants():
                self.look_at(pid)

    @staticmethod
    def descendants():
        children = collections.defaultdict(list)
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(path.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children[parent].append(int(path.parent.name))
        found, waiting = [], [os.getpid()]
        while waiting:
            found.append(waiting.pop())
            waiting += children[found[-1]]
        return found

    def look_at(self, pid):
        try:
            lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            return
        for line in lines:
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[5].startswith("/") and PROFILER_NAME.search(os.path.basename(fields[5])):
                if ".so" in fields[5]:
                    self.note(pid, fields[0], fields[4], fields[5])

    def note(self, pid, addresses, inode, path):
        if inode not in self.sums:
            for name in (f"/proc/{pid}/map_files/{addresses}", path):
                try:
                    self.sums[inode] = checksum(name)
                    break
                except OSError:
                    continue
        if inode in self.sums:
            self.processes[self.sums[inode]].add(pid)


def case_names(scratch):
    areas = sorted(path.name.capitalize() for path in (scratch / "test" / "test").iterdir() if path.is_dir())
    return [area + "Tests" for area in areas
            if area not in LATER and (scratch / "test" / "test" / area.lower() / f"{area}Tests.java").exists()]


def run_suite(home, scratch, cases, options):
    """{case: (result, seconds)}, the whole output goes to a file."""
    command = [str(home / "bin" / "java"), "-DlogDir=build/test/logs", "-Dskip=", f"-DretryCount={options.retries}",
               f"-DthreadCount={options.threads}", "-ea", "-cp", "build/test.jar:build/jar/*:test/deps/*:test/gen/*",
               "one.profiler.test.Runner", *cases]
    environment = {**os.environ, "SPARKFLAME_AGENT": str(scratch / "build" / "lib" / "libasyncProfiler.so")}
    log = pathlib.Path(options.log or scratch) / f"suite-{version_of(home)}.log"
    results = {}
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in process.stdout:
            output.write(line)
            match = RESULT.match(line)
            if match:
                name = match[2] if match[2] not in results else match[2] + "#2"  # same case, for another Java
                results[name] = (match[1].strip(), float(match[3]))
        process.wait()
    return results


def version_of(home):
    release = (home / "release").read_text(encoding="utf-8")
    return re.search(r'JAVA_VERSION="([^"]+)"', release)[1]


def print_table(results):
    versions = list(results)
    cases = sorted({case for each in results.values() for case in each})
    print(f"{'case':<58}" + "".join(f"{version:>18}" for version in versions))
    for case in cases:
        print(f"{case:<58}" + "".join(f"{results[version].get(case, ('not run', 0))[0]:>18}" for version in versions))
    for case in cases:
        if any(each.get(case, ("", 0))[0] == "FAIL" for each in results.values()):
            print(f"failed: {case}: {KNOWN.get(case, 'not known why')}")
    for version in versions:
        counts = collections.Counter(result for result, _ in results[version].values())
        print(f"{version}: " + ", ".join(f"{count} {result}" for result, count in sorted(counts.items())) +
              f", {len(results[version])} in all")


def come_first(nice):
    """A session of its own, since the kernel shares the machine out among sessions before it looks at their processes."""
    if nice == 0:
        return
    if os.getpid() != os.getsid(0):
        os.setsid()
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    group = pathlib.Path("/proc/self/autogroup")
    if group.exists():
        group.write_text(str(nice), encoding="ascii")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="+", type=pathlib.Path, metavar="JAVA_HOME")
    parser.add_argument("--retries", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", action="append", help="Class or Class.method; may be repeated")
    parser.add_argument("--nice", type=int, default=0, help="priority, -20 to 19; below 0 is root's")
    parser.add_argument("--log", help="folder for the suite's own output")
    parser.add_argument("--bar", type=int, default=80, help="how many must pass (80)")
    options = parser.parse_args()
    come_first(options.nice)
    results = {}
    loaded = LoadedLibraries()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        lay_out(folder_from("ASYNC_PROFILER_DIR"), scratch)
        print(f"our library {checksum(LIBRARY)} {LIBRARY}")
        loaded.start()
        for home in options.homes:
            results[version_of(home)] = run_suite(home, scratch, options.only or case_names(scratch), options)
            shutil.rmtree(scratch / "build" / "test" / "logs", ignore_errors=True)
        loaded.ended.set()
    print_table(results)
    for found, processes in loaded.processes.items():
        print(f"profiler {found} was mapped by {len(processes)} processes" +
              (" (ours)" if found == checksum(LIBRARY) else ": NOT OURS"))
    bar = 0 if options.only else options.bar
    passed = all(sum(result == "PASS" for result, _ in each.values()) >= bar for each in results.values())
    return 0 if passed and set(loaded.processes) <= {checksum(LIBRARY)} else 1


if __name__ == "__main__":
    sys.exit(main())
