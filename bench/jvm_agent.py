#!/usr/bin/env python3
"""Measure the agent beside async-profiler: jvm_agent.py [--runs N] [--version 17].

The same fixed work runs in turn without a profiler, with ours and with async-profiler (from Maven), at 10 ms and 1 ms. For
each: CPU time of the process; CPU time inside the handler per signal, measured around both handlers by one preloaded library
(handler_clock.c) with the thread's CPU clock; all its other CPU time, wherever it is spent: of its own threads, and of the thread
that starts it, stops it and writes the profile by its command; bytes of its tables by its own count; and how many samples there
are for the CPU time. The best of the runs counts; the spread is shown. --churn measures a program
whose threads live less than a millisecond instead: how much of its CPU time the samples show. --threads measures one with 300
idle and three busy threads, and several events at once into JFR, where both profilers have threads of their own; the JVM's calls
for allocations and monitors are measured around both, too (callback_clock.c).

--keep FOLDER keeps the figures in its results.json, and a further call with it adds to them: ten runs need not be made at once."""

import argparse
import json
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
MANY_THREADS = {"cpu": "event=cpu,interval=10ms",
                "cpu+wall": "event=cpu,interval=10ms,wall=10ms",
                "cpu+alloc+lock": "event=cpu,interval=10ms,alloc=512k,lock=1ms"}
FIGURES = ("cpu_s", "samples", "handler_us", "median_us", "handler_ms", "callback_ms", "own_threads_ms", "start_ms", "stop_ms", "besides_ms",
           "all_ms", "table_kb", "file_kb", "seen", "cpu_seen_s", "wall_seen_s", "alloc_seen_mb")


def peer_library(folder):
    subprocess.run(["mvn", "-q", "dependency:copy", f"-Dartifact={PEER}", f"-DoutputDirectory={folder}"], check=True,
                   stdin=subprocess.DEVNULL)
    with zipfile.ZipFile(next(folder.glob("async-profiler-*.jar"))) as archive:
        name = next(name for name in archive.namelist() if name.endswith("linux-x64/libasyncProfiler.so"))
        return archive.extract(name, folder)


def compile_clock(folder, name="handler_clock"):
    include = jvm.system_home() / "include"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{include}", f"-I{include}/linux", "-o", str(folder / f"{name}.so"),
                    str(HERE / f"{name}.c"), "-ldl"], check=True, stdin=subprocess.DEVNULL)
    return folder / f"{name}.so"


def attach(pid, library, arguments):
    subprocess.run([jvm.system_home() / "bin" / "jcmd", str(pid), "JVMTI.agent_load", str(library), f'"{arguments}"'],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def threads(pid, *names):
    """{thread: CPU ns} of those so named."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            if (task / "comm").read_text().startswith(names):
                found[int(task.name)] = int((task / "schedstat").read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


class Commands:
    """Those that attach are served by one thread of the JVM's. A profiler's threads may have its name, too, by inheritance."""

    def __init__(self, program, library):
        self.program, self.library = program, library
        attach(program.pid, library, "status")
        self.listener = min(threads(program.pid, "Attach Listener"))

    def run(self, arguments):
        """CPU milliseconds that the JVM's thread spends on it."""
        before = self.listener_ns()
        attach(self.program.pid, self.library, arguments)
        return (self.listener_ns() - before) / 1e6

    def listener_ns(self):
        return threads(self.program.pid, "Attach Listener")[self.listener]

    def own_threads_ms(self):
        found = threads(self.program.pid, "Sparkflame", "sparkflame", "Async-profiler", "Attach Listener")
        return sum(ns for thread, ns in found.items() if thread != self.listener) / 1e6


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
    """Asked for its status first without counting: what it costs to load a library is the JVM's."""
    commands = Commands(program, library)
    result = {"start_ms": commands.run(start)}
    program.stdin.write("\n")
    program.stdin.flush()
    result["cpu_s"] = read_number(program) / 1e9
    result["table_kb"] = read_metrics(program, library, folder)
    result["own_threads_ms"] = commands.own_threads_ms()
    result["stop_ms"] = commands.run("stop" if profile.suffix == ".jfr" else f"stop,file={profile},total")
    result["besides_ms"] = result["start_ms"] + result["own_threads_ms"] + result["stop_ms"]
    return result


def sum_of(profile, event):
    """Weights of the samples of a recording, as the readers of both see them."""
    done = subprocess.run([HERE.parent / "build" / "sparkflame", "convert", "-q", "-e", event, "-f", "folded", profile],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines())


def look_into(profile, result):
    """How much of the work the profile shows."""
    if profile.suffix == ".jfr":
        result["file_kb"] = profile.stat().st_size / 1024
        result["cpu_seen_s"] = sum_of(profile, "cpu") / 100
        result["wall_seen_s"] = sum_of(profile, "wall") / 100
        result["alloc_seen_mb"] = sum_of(profile, "alloc") / 1e6
    else:
        result["seen"] = sum(count for _, count in jvm.read_folded(profile)) / 1e9 / result["cpu_s"]


def run(options, program_name, library, start, folder):
    """The figures; without a profiler only the CPU time."""
    profile, clock = folder / f"profile.{'jfr' if options.threads else 'collapsed'}", folder / "clock.txt"
    callbacks = folder / "callbacks.txt"
    for path in (profile, clock, callbacks):
        path.unlink(missing_ok=True)
    environment = {**os.environ, "LD_PRELOAD": str(folder / "handler_clock.so"), "HANDLER_CLOCK": str(clock),
                   "CALLBACK_CLOCK": str(callbacks)}
    agent = [f"-agentpath:{folder}/callback_clock.so"] if options.threads else []
    program = subprocess.Popen([options.home / "bin" / "java", *agent, "-cp", str(folder), program_name], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    program.stdout.readline()
    if library is None:
        program.stdin.write("\n")
        program.stdin.flush()
        result = {"cpu_s": read_number(program) / 1e9}
    else:
        result = profile_work(program, library, f"start,{start},file={profile}", profile, folder)
    program.communicate("\n")
    if library is not None:
        calls, total_ns, _, median_ns, clock_ns = map(int, clock.read_text().split())
        result["samples"] = calls
        result["handler_us"] = (total_ns / calls - clock_ns) / 1e3
        result["median_us"] = (median_ns - clock_ns) / 1e3
        result["handler_ms"] = result["handler_us"] * calls / 1e3
        result["all_ms"] = result["handler_ms"] + result["besides_ms"]
        if options.threads:
            calls, total_ns = map(int, callbacks.read_text().split())
            result["callback_ms"] = (total_ns - calls * clock_ns) / 1e6
            result["all_ms"] += result["callback_ms"]
        look_into(profile, result)
    return result


def show(name, results):
    line = f"{name:24} {len(results)} runs"
    for key in FIGURES:
        values = [result[key] for result in results if result.get(key)]
        if values:
            line += f"  {key} {min(values):.2f} (to {max(values):.2f})"
    print(line, flush=True)


def list_cases(options, peer):
    """[(name, library, arguments of the start)]"""
    if options.threads:
        starts = MANY_THREADS
    else:
        starts = {f"{event} {interval}": f"event={event},interval={interval},total" for interval in ("10ms", "1ms")
                  for event in options.events.split(",")}
    return [("none", None, "")] + [(f"{who} {name}", library, start) for name, start in starts.items()
                                   for who, library in (("ours", jvm.LIBRARY), ("async-profiler", peer))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--version", default="17")
    parser.add_argument("--events", default="cpu", help="cpu, ctimer or both, separated by a comma (cpu)")
    parser.add_argument("--churn", action="store_true", help="threads that live shortly instead of fixed work")
    parser.add_argument("--threads", action="store_true", help="many threads and several events instead")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for results.json")
    parser.add_argument("--peer", type=pathlib.Path, help="async-profiler's library (default: from Maven)")
    options = parser.parse_args()
    options.home = jvm.home_of(options.version)
    program = "ShortThreads" if options.churn else "ManyThreads" if options.threads else "FixedWork"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = options.peer or peer_library(folder)
        compile_clock(folder)
        compile_clock(folder, "callback_clock")
        jvm.compile_classes(folder, *(f"../../bench/java/{each}" for each in {program, "FixedWork"}))
        kept = (options.keep or folder) / "results.json"
        kept.parent.mkdir(exist_ok=True)
        results = json.loads(kept.read_text()) if kept.exists() else {}
        for _ in range(options.runs):
            for case, library, start in list_cases(options, peer):
                results.setdefault(case, []).append(run(options, program, library, start, folder))
            kept.write_text(json.dumps(results, indent=1) + "\n")
        for case, found in results.items():
            show(case, found)


if __name__ == "__main__":
    main()
