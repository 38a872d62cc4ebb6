#!/usr/bin/env python3
"""Compare `sparkflame record` of a native program with perf: native_sampler.py [--seconds S] [--rounds N].

The target (native_target.c) computes in 2 or 64 threads. Costs are processor time (user and system), divided by the samples that were
taken, since on a busy machine tools get different numbers; tools take turns and the best round counts. "to folded" is the way from the start
of the recording to folded stacks: for perf with `perf script`, whose text is then converted by `sparkflame convert`. Stacks: ours are
walked by unwind tables, `perf -g` follows frame pointers, which the target lacks, `perf dwarf` copies stacks and walks them in perf script.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "sparkflame"
CASES = [(2, 99), (2, 999), (64, 99), (64, 999)]


def processor_seconds(command, folder, output=None, may_fail=False):
    """Of the command and its children."""
    with open(folder / (output or "said"), "wb") as file:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 and not may_fail:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def count_samples(folder, name):
    """At least 1: on a very busy machine there may be none."""
    text = subprocess.run([BINARY, "convert", name, "-q", "-f", "folded", "--weight", "count"], cwd=folder, capture_output=True, text=True,
                          check=False).stdout
    return sum(int(float(line.rpartition(" ")[2])) for line in text.splitlines()) or 1


def run_ours(folder, pid, rate, seconds):
    cost = processor_seconds([BINARY, "record", pid, "-q", "-d", seconds, "-r", rate, "-f", "ours.pb"], folder)
    cost_folded = cost + processor_seconds([BINARY, "convert", "ours.pb", "-q", "-f", "folded"], folder)
    return cost, cost_folded, count_samples(folder, "ours.pb")


def run_perf(folder, pid, rate, seconds, graph):
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", rate, *graph, "-o", "perf.data", "-p", pid, "--", "sleep", seconds]
    cost = processor_seconds(record, folder)
    script = processor_seconds(["perf", "script", "-i", "perf.data"], folder, "script.txt")
    convert = processor_seconds([BINARY, "convert", "script.txt", "-q", "-f", "folded"], folder, may_fail=True)  # without samples
    return cost, cost + script + convert, count_samples(folder, "script.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if shutil.which("perf") is None:
        sys.exit("no perf here")
    tools = {
        "sparkflame": run_ours,
        "perf -g": lambda *words: run_perf(*words, ["-g"]),
        "perf dwarf": lambda *words: run_perf(*words, ["--call-graph", "dwarf,32768"]),
    }
    print(f"load {os.getloadavg()[0]:.0f}; ms of processor time for each sample: recording, and to folded stacks")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-pthread", "-o", folder / "target", ROOT / "bench" / "native_target.c"], check=True)
        for threads, rate in CASES:
            best = {}
            for _ in range(options.rounds):
                for tool, run in tools.items():
                    with subprocess.Popen([folder / "target", str(threads)]) as target:
                        try:
                            cost, folded, samples = run(folder, target.pid, rate, options.seconds)
                        finally:
                            target.kill()
                    found = (1000 * cost / samples, 1000 * folded / samples, samples)
                    best[tool] = min(best.get(tool, found), found)
            for tool, (cost, folded, samples) in best.items():
                ours = best["sparkflame"]
                print(f"{threads:3} threads {rate:4} Hz  {tool:11} {cost:7.3f} {folded:7.3f}  {samples:6} samples; "
                      f"ratio {ours[0] / cost:.2f} {ours[1] / folded:.2f}", flush=True)


if __name__ == "__main__":
    main()
