#!/usr/bin/env python3
"""Measure the agent beside async-profiler: jvm_agent.py [--runs N] [--version 17].

The same fixed work runs in turn without a profiler, with ours and with async-profiler (from Maven), at 10 ms and 1 ms. For
each: CPU time of the process, CPU-clock time inside the sampling handler per sample (by each profiler's own count, same
clock), and samples. The best of the runs counts; the spread is shown."""

import argparse
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


def attach(pid, library, arguments):
    subprocess.run([jvm.system_home() / "bin" / "jcmd", str(pid), "JVMTI.agent_load", str(library), f'"{arguments}"'],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def run(home, classes, library, event, interval, folder):
    """{cpu_s, samples, handler_ns}; the last two None without a profiler."""
    agent = [] if library is None else [f"-agentpath:{library}=start,event={event},interval={interval},features=stats"]
    program = subprocess.Popen([home / "bin" / "java", *agent, "-cp", str(classes), "FixedWork"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = program.stdout.readline()
    while not line.strip().isdigit():
        line = program.stdout.readline()
    result = {"cpu_s": int(line) / 1e9, "samples": None, "handler_ns": None}
    if library is not None:
        metrics = folder / "metrics.txt"
        metrics.unlink(missing_ok=True)
        attach(program.pid, library, f"metrics,file={metrics}")
        found = dict(re.findall(r"^(\w+) (\d+)$", metrics.read_text(), re.MULTILINE))
        result["samples"] = int(found.get("signals_total", found["samples_total"]))
        result["handler_ns"] = int(found["stackwalk_ns_total"]) / max(result["samples"], 1)
    program.communicate("\n")
    return result


def show(name, results):
    line = f"{name:24}"
    for key, unit in (("cpu_s", "s"), ("handler_ns", "ns"), ("samples", "")):
        values = [result[key] for result in results if result[key] is not None]
        if values:
            line += f"  {key} {min(values):10.2f}{unit} (to {max(values):.2f})"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--version", default="17")
    parser.add_argument("--peer", type=pathlib.Path, help="async-profiler's library (default: from Maven)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = options.peer or peer_library(folder)
        classes = jvm.compile_classes(folder, "../../bench/java/FixedWork")
        home = jvm.home_of(options.version)
        cases = [("none", None, "", "")]
        for interval in ("10ms", "1ms"):
            for event in ("cpu", "ctimer"):
                cases += [(f"ours {event} {interval}", jvm.LIBRARY, event, interval),
                          (f"async-profiler {event} {interval}", peer, event, interval)]
        results = {case[0]: [] for case in cases}
        for _ in range(options.runs):
            for case, library, event, interval in cases:
                results[case].append(run(home, classes, library, event, interval, folder))
        for case, _, _, _ in cases:
            show(case, results[case])


if __name__ == "__main__":
    main()
