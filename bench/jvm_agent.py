#!/usr/bin/env python3
"""Measure the agent beside async-profiler: jvm_agent.py [--runs N] [--version 17].

The same fixed work runs in turn without a profiler, with ours and with async-profiler (from Maven), at 10 ms and 1 ms. For
each: CPU time of the process; CPU time inside the handler per signal, measured around both handlers by one preloaded library
(handler_clock.c) with the thread's CPU clock; all its other CPU time, wherever it is spent: of its own threads, and of the thread
that starts it, stops it and writes the profile by its command; bytes of its tables by its own count; and how many samples there
are for the CPU time. The best of the runs counts; the spread is shown. --churn measures a program
whose threads live less than a millisecond instead: how much of its CPU time the samples show."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
import jvm  # noqa: E402

PEER = "tools.profiler:async-profiler:4.5"


def peer_library(folder):
    subprocess.run(["mvn", "-q", "dependency:copy", f"-Dartifact={PEER}", f"-DoutputDirectory={folder}"], check=True,
                   stdin=subprocess.DEVNULL)
    with zipfile.ZipFile(next(folder.glob("async-profiler-*.jar"))) as archive:
        name = next(name for name in archive.namelist() if name.endswith("linux-x64/libasyncProfiler.so"))
        return archive.extract(name, folder)


def compile_clock(folder):
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(folder / "handler_clock.so"), str(HERE / "handler_clock.c"), "-ldl"],
                   check=True, stdin=subprocess.DEVNULL)
    return folder / "handler_clock.so"


def attach(pid, library, arguments):
    subprocess.run([jvm.system_home() / "bin" / "jcmd", str(pid), "JVMTI.agent_load", str(library), f'"{arguments}"'],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def threads_ns(pid, *names):
    """CPU time of the threads so named."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().startswith(names):
            total += int((task / "schedstat").read_text().split()[0])
    return total


def command(program, library, arguments):
    """CPU milliseconds of a command, which runs in the JVM's thread for those who attach."""
    before = threads_ns(program.pid, "Attach Listener")
    attach(program.pid, library, arguments)
    return (threads_ns(program.pid, "Attach Listener") - before) / 1e6


def read_number(program):
    line = program.stdout.readline()
    while not line.strip().isdigit():
        line = program.stdout.readline()
    return int(line)


def read_metrics(program, library, folder):
    metrics = folder / "metrics.txt"
    attach(program.pid, library, f"metrics,file={metrics}")
    found = dict(re.findall(r"^(\w+) (\d+)$", metrics.read_text(), re.MULTILINE))
    return int(found.get("calltracestorage_bytes", 0)) / 1024 or int(found.get("mem_calltracestorage_kb", 0))


def profile_work(program, library, start, profile, folder):
    """Started once without counting: what it costs to load a library, and to be asked for the first time, is the JVM's."""
    command(program, library, "status")
    result = {"start_ms": command(program, library, start)}
    program.stdin.write("\n")
    program.stdin.flush()
    result["cpu_s"] = read_number(program) / 1e9
    result["table_kb"] = read_metrics(program, library, folder)
    result["own_threads_ms"] = threads_ns(program.pid, "Sparkflame", "Async-profiler", "sparkflame") / 1e6
    result["stop_ms"] = command(program, library, f"stop,file={profile},total")
    result["besides_ms"] = result["start_ms"] + result["own_threads_ms"] + result["stop_ms"]
    return result


def run(options, program_name, library, event, interval, folder):
    """What show() shows; without a profiler only the CPU time."""
    profile, clock = folder / "profile.collapsed", folder / "clock.txt"
    for path in (profile, clock):
        path.unlink(missing_ok=True)
    environment = {**os.environ, "LD_PRELOAD": str(folder / "handler_clock.so"), "HANDLER_CLOCK": str(clock)}
    program = subprocess.Popen([options.home / "bin" / "java", "-cp", str(folder), program_name], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    program.stdout.readline()
    if library is None:
        program.stdin.write("\n")
        program.stdin.flush()
        result = {"cpu_s": read_number(program) / 1e9}
    else:
        result = profile_work(program, library, f"start,event={event},interval={interval},file={profile},total", profile, folder)
    program.communicate("\n")
    if library is not None:
        calls, total_ns, _, median_ns, clock_ns = map(int, clock.read_text().split())
        result["samples"] = calls
        result["handler_us"] = (total_ns / calls - clock_ns) / 1e3
        result["median_us"] = (median_ns - clock_ns) / 1e3
        result["seen"] = sum(count for _, count in jvm.read_folded(profile)) / 1e9 / result["cpu_s"]
    return result


def show(name, results):
    line = f"{name:24}"
    for key in ("cpu_s", "samples", "handler_us", "median_us", "own_threads_ms", "start_ms", "stop_ms", "besides_ms",
                "table_kb", "seen"):
        values = [result[key] for result in results if key in result]
        if values:
            line += f"  {key} {min(values):.2f} (to {max(values):.2f})"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--version", default="17")
    parser.add_argument("--events", default="cpu", help="cpu, ctimer or both, separated by a comma (cpu)")
    parser.add_argument("--churn", action="store_true", help="threads that live shortly instead of fixed work")
    parser.add_argument("--peer", type=pathlib.Path, help="async-profiler's library (default: from Maven)")
    options = parser.parse_args()
    options.home = jvm.home_of(options.version)
    program = "ShortThreads" if options.churn else "FixedWork"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = options.peer or peer_library(folder)
        compile_clock(folder)
        jvm.compile_classes(folder, f"../../bench/java/{program}")
        cases = [("none", None, "", "")]
        for interval in ("10ms", "1ms"):
            for event in options.events.split(","):
                cases += [(f"ours {event} {interval}", jvm.LIBRARY, event, interval),
                          (f"async-profiler {event} {interval}", peer, event, interval)]
        results = {case[0]: [] for case in cases}
        for _ in range(options.runs):
            for case, library, event, interval in cases:
                results[case].append(run(options, program, library, event, interval, folder))
        for case, _, _, _ in cases:
            show(case, results[case])


if __name__ == "__main__":
    main()
