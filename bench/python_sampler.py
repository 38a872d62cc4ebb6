#!/usr/bin/env python3
"""Compare the Python sampler with py-spy and Austin on the same targets: python_sampler.py [--seconds S] [--rounds N].

Each cell is a run of its own; tools take turns, so that what else the machine does falls on all of them. Costs are
processor time of the sampler for each stack, the best of the rounds, since other work only adds. "most" asks for more samples
than any tool can give: what is left is the cost without the timer's wake-up, and the highest rate. A tool's start takes some
milliseconds, so that runs at 100 samples a second last five times as long. "empty ticks" is a program that only wakes up at
that rate: its cost is that of a tick, not of a stack, and part of each sampler's. Writes a table and python_sampler.json.

py-spy and Austin are taken from PATH, or from PY_SPY and AUSTIN (which may hold several words, such as a loader with
its options); those that are missing are left out, and that is said.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import fetch_pythons  # noqa: E402  (found by the line above)

TARGET = ROOT / "bench" / "python_target.py"
# name, threads, processes, samples a second
CASES = [("1 thread", 1, 1, 100), ("1 thread", 1, 1, 1000), ("8 threads", 8, 1, 100), ("8 threads", 8, 1, 1000),
         ("8 processes", 1, 8, 100), ("8 processes", 1, 8, 1000), ("1 thread, most", 1, 1, 1000000), ("8 threads, most", 8, 1, 1000000)]


def most_memory(pid):
    """Resident memory at its highest, in MB; wait4() would count that of the process which started it."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            found = re.search(r"VmHWM:\s+(\d+)", file.read())
    except (FileNotFoundError, ProcessLookupError):
        found = None
    return int(found[1]) / 1024 if found else 0


def processor_seconds(command):
    """Run it; its own processor time, its most memory in MB, what it printed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        memory, ended = 0, 0
        time.sleep(0.5)  # until it has become the other program
        while ended == 0:
            memory = max(memory, most_memory(process.pid))
            time.sleep(0.2)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return usage.ru_utime + usage.ru_stime, memory, said.read().decode(errors="replace")


def count_folded(path):
    return sum(int(line.rsplit(" ", 1)[1]) for line in path.read_text().splitlines())


class Sparkflame:
    name = "sparkflame"

    def run(self, pid, rate, seconds, many, folder):
        path = folder / "sparkflame.folded"
        command = [ROOT / "build" / "sparkflame", "record", str(pid), "--idle", "-r", str(rate), "-d", str(seconds),
                   "-f", path, *(["--subprocesses"] if many else [])]
        cost, memory, said = processor_seconds(command)
        return cost, memory, int(re.search(r"(\d+) stacks of", said)[1])


class EmptyTicks:
    name = "empty ticks"

    def run(self, pid, rate, seconds, many, folder):
        program = folder / "empty_ticks"
        if not program.exists():
            subprocess.run(["cc", "-O2", "-o", program, ROOT / "bench" / "empty_ticks.c"], check=True)
        ticks = rate * seconds
        cost, memory, _ = processor_seconds([program, str(1000000000 // rate), str(ticks)])
        return cost, memory, ticks


class PySpy:
    def __init__(self, words, nonblocking):
        self.words = words
        self.extra = ["--nonblocking"] if nonblocking else []
        self.name = "py-spy --nonblocking" if nonblocking else "py-spy"

    def run(self, pid, rate, seconds, many, folder):
        path = folder / "py-spy.txt"
        asked = min(rate, 10000)  # it ends after so many samples, however long they take
        cost, memory, _ = processor_seconds([*self.words, "record", "-p", str(pid), "-r", str(asked), "-d", str(seconds), "-i",
                                             "-f", "raw", "-o", path, *(["-s"] if many else []), *self.extra])
        return cost, memory, count_folded(path)


class Austin:
    name = "austin"

    def __init__(self, words):
        self.words = words

    def run(self, pid, rate, seconds, many, folder):
        path = folder / "austin.mojo"
        cost, memory, _ = processor_seconds([*self.words, "-i", str(1000000 // rate), "-x", str(seconds), "-o", path, "-p", str(pid),
                                             *(["-C"] if many else [])])
        return cost, memory, self.count(path)

    @staticmethod
    def count(path):
        """Its file says at the end how many samples it took: metadata "count"."""
        found = re.findall(rb"count\0(\d+)\0", path.read_bytes())
        return int(found[-1]) if found else 0


def tools(chosen):
    """Those whose name has the chosen text in it."""
    return [tool for tool in all_tools() if chosen is None or any(part in tool.name for part in chosen.split(","))]


def all_tools():
    found = [Sparkflame(), EmptyTicks()]
    words = shlex.split(os.environ.get("PY_SPY", "")) or [shutil.which("py-spy")]
    if words[0]:
        found += [PySpy(words, False), PySpy(words, True)]
    else:
        print("py-spy is not there and is left out", file=sys.stderr)
    words = shlex.split(os.environ.get("AUSTIN", "")) or [shutil.which("austin")]
    if words[0]:
        found.append(Austin(words))
    else:
        print("austin is not there and is left out", file=sys.stderr)
    return found


def measure(version, case, seconds, rounds, chosen):
    _, threads, processes, rate = case
    rows = {}
    command = [str(fetch_pythons.fetch(version)), str(TARGET), str(threads), str(processes)]
    target = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    target.stdout.readline()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(rounds):
                for tool in tools(chosen):
                    if tool.name == EmptyTicks.name and rate > 1000:
                        continue
                    lasts = seconds * (5 if rate <= 100 else 1)
                    cost, memory, stacks = tool.run(target.pid, rate, lasts, processes > 1, pathlib.Path(folder))
                    rows.setdefault(tool.name, []).append((1e6 * cost / max(stacks, 1), memory, stacks))
    finally:
        target.stdin.close()
        target.wait()
    return {name: min(runs) for name, runs in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", help="only targets whose name has this in it")
    parser.add_argument("--rate", type=int, help="only at so many samples a second (1000000: most)")
    parser.add_argument("--tools", help="only these, as \"sparkflame,austin\"; py-spy takes long at high rates")
    parser.add_argument("--python", action="append", help="version; may be repeated (default: 3.13)")
    chosen = parser.parse_args()
    results = []
    print(f"{'Python':8}{'target':16}{'Hz':>6}  {'tool':22}{'µs a stack':>12}{'stacks':>9}{'MB':>7}")
    for version in chosen.python or ["3.13"]:
        for case in CASES:
            if (chosen.case and chosen.case not in case[0]) or (chosen.rate and chosen.rate != case[3]):
                continue
            for name, (cost, memory, stacks) in measure(version, case, chosen.seconds, chosen.rounds, chosen.tools).items():
                print(f"{version:8}{case[0]:16}{case[3]:6}  {name:22}{cost:12.1f}{stacks:9.0f}{memory:7.1f}", flush=True)
                results.append({"python": version, "target": case[0], "rate_hz": case[3], "tool": name,
                                "microseconds_a_stack": cost, "stacks": stacks, "memory_mb": memory})
    (ROOT / "build" / "python_sampler.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
