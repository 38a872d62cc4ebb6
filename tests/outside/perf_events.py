#!/usr/bin/env python3
"""Compare with perf on the same runs: perf.data files of each kind as `sparkflame convert` and `perf script` read them, and what `sparkflame
record` and `perf record` see of one program at the same time. Needs perf (Debian: linux-perf); BINARY is the command under test. Prints a line
for each comparison; exit status 1 when less than 98 % is equal.

Intended difference: of copied stacks of processes that were forked, perf script 6.1 (libdw) loses the caller of the innermost frame: spin is
called by burn_fifty, burn_thirty or burn_twenty only, but seems to be called by work_until. Ours must have that frame.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("BINARY", ROOT / "build" / "sparkflame")).resolve()
SOURCE = ROOT / "tests" / "native_programs" / "native_work.c"
LEAST = 0.98
# Functions of libraries and the kernel have several names, of which both may choose different ones.
OWN = re.compile(r"main|spin|outlive_leader|compute|(burn|work|run|wait|call|touch|sleep|lock|read|take)_\w+")
BURNERS = {"burn_fifty", "burn_thirty", "burn_twenty"}
WAITERS = {"wait_asleep", "wait_for_lock", "wait_for_pipe"}
OFTEN = {"sleep_often", "lock_often", "read_often", "compute"}
FILES = [
    ("frame pointers", "threads", ["-e", "cpu-clock", "-g"]),
    ("compressed", "children", ["-e", "cpu-clock", "-g", "-z"]),
    ("pipe", "children", ["-e", "cpu-clock", "-g"]),
    ("copied stacks", "threads", ["-e", "cpu-clock", "--call-graph", "dwarf,16384"]),
    ("copied stacks of programs in turn", "children", ["-e", "cpu-clock", "--call-graph", "dwarf,8192"]),
    ("no stacks", "threads", ["-e", "cpu-clock"]),
    ("switch events", "children", ["-e", "cpu-clock", "-g", "--switch-events"]),
    ("addresses and weights", "shares", ["-e", "cpu-clock", "-g", "-d", "--sample-cpu", "-W"]),
    ("page faults", "faults", ["-e", "page-faults", "-c", "1", "-g"]),
    ("context switches", "waits", ["-e", "context-switches", "-c", "1", "-g"]),
    ("several events", "children", ["-e", "cpu-clock,page-faults", "-g"]),
    ("the machine", "shares", ["-a", "-e", "cpu-clock", "-g"]),
]
RECORDINGS = [
    ("processor time", "shares", "cpu", ["-e", "cpu-clock"]),
    ("threads", "threads", "cpu", ["-e", "cpu-clock"]),
    ("children", "children", "cpu", ["-e", "cpu-clock"]),
    ("the kernel", "kernel", "cpu", ["-e", "cpu-clock"]),
    ("waits", "waits", "offcpu", ["-e", "context-switches", "-c", "1"]),
    ("page faults", "faults", "page-faults", ["-e", "page-faults", "-c", "50"]),
]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False, stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.decode().strip()}")
    return done.stdout


def own_stacks(text, only=None):
    """Of folded text: weights of stacks, functions of other files as "other", which is not repeated."""
    counts = {}
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if only is not None and frames[0] != only:
            continue
        names = []
        for frame in frames[1 if only is not None else 0:]:
            name = re.sub(r" \(.*\)$", "", frame)
            if name in ("[waiting]", "[preempted]"):
                continue
            name = name if OWN.fullmatch(name) else "other"
            if not names or names[-1] != name or name != "other":
                names.append(name)
        counts[tuple(names)] = counts.get(tuple(names), 0) + float(count)
    return counts


def convert(path, event, folder):
    return run(BINARY, "convert", path, "-q", "-f", "folded", "--weight", "count", "--event", event, cwd=folder).decode()


def without(stacks, names):
    counts = {}
    for stack, count in stacks.items():
        left = []
        for name in stack:
            if name not in names and not (name == "other" and left and left[-1] == "other"):
                left.append(name)
        counts[tuple(left)] = counts.get(tuple(left), 0) + count
    return counts


def sum_of_equal(ours, theirs):
    return sum(min(count, theirs.get(stack, 0)) for stack, count in ours.items())


def compare_file(name, mode, options, folder, work):
    output = "-" if name == "pipe" else "perf.data"
    amount = {"faults": 5000}.get(mode, 400)
    content = run("perf", "record", "-q", *(["-F", "499"] if "-c" not in options else []), *options, "-o", output, work, mode, amount,
                  cwd=folder)
    if name == "pipe":
        (folder / "perf.data").write_bytes(content)
    script = run("perf", "script", "-i", "perf.data", cwd=folder)
    (folder / "script.txt").write_bytes(script)
    same = total = 0
    for event in [word for word in options[options.index("-e") + 1].split(",")]:
        ours, theirs = (own_stacks(convert(path, event, folder)) for path in ("perf.data", "script.txt"))
        if name == "copied stacks of programs in turn":
            assert all("spin" not in stack or set(stack) & BURNERS for stack in ours), ours
            ours, theirs = without(ours, BURNERS), without(theirs, BURNERS)
        total += max(sum(ours.values()), sum(theirs.values()))
        same += sum_of_equal(ours, theirs)
    return same, total


def compare_recording(name, mode, event, options, folder, work):
    """With a clock, perf records our recorder and the program that it starts; two recordings of one software event at the same time disturb
    each other (the kernel gives both the stack of the first), so there each has its own run. Samples are not of the same moments: the kinds of
    stacks are compared, by weight and in both directions."""
    amount = {"faults": 30000}.get(mode, 1500)
    is_clock = event == "cpu"
    graph = ["--call-graph", "dwarf,16384"] if is_clock else ["-g"]
    rate = {"cpu": ["-r", "999"], "page-faults": ["--count", "50"]}.get(event, [])
    ours = [BINARY, "record", "-e", event, *rate, "-f", "ours.pb", "--", work, mode, amount]
    theirs = ["perf", "record", "-q", *(["-F", "999"] if is_clock else []), *options, *graph, "-o", "perf.data"]
    run(*theirs, *(ours if is_clock else [work, mode, amount]), cwd=folder)
    if not is_clock:
        run(*ours, cwd=folder)
    comms = ",".join([work.name, *(f"burner-{i}" for i in range(4))])
    (folder / "script.txt").write_bytes(run("perf", "script", "-i", "perf.data", "--comms", comms, cwd=folder))
    text = run(BINARY, "convert", "ours.pb", "-q", "-f", "folded", "--weight", "count", cwd=folder).decode()
    ours, theirs = own_stacks(text), own_stacks(convert("script.txt", options[1], folder))
    if mode == "children":
        assert all("spin" not in stack or set(stack) & BURNERS for stack in ours), ours
        ours, theirs = without(ours, BURNERS), without(theirs, BURNERS)
    if mode == "waits":  # by frame pointers, which libc lacks, perf misses its callers
        ours, theirs = without(ours, WAITERS | BURNERS), without(theirs, WAITERS | BURNERS)
    wanted = OFTEN if mode == "waits" else {"main", "start_thread", *OFTEN, *BURNERS}
    ours, theirs = ({stack: count for stack, count in stacks.items() if set(stack) & wanted} for stacks in (ours, theirs))
    found = sum(ours[stack] for stack in ours if stack in theirs) + sum(theirs[stack] for stack in theirs if stack in ours)
    return found, sum(ours.values()) + sum(theirs.values())


def compare(title, function, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        try:
            same, total = function(*arguments[:-1], pathlib.Path(folder), arguments[-1])
        except RuntimeError as error:
            print(f"left out: {title}: {error}")
            return None
    share = same / total if total else 0
    print(f"{'equal' if share >= LEAST else 'DIFFERENT'}: {title}: {share:.2%} of {total:.0f}")
    return share >= LEAST


def main():
    if shutil.which("perf") is None:
        sys.exit("perf is not installed")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / "native_work"
        run("cc", "-O1", "-fno-omit-frame-pointer", "-pthread", "-o", work, SOURCE)
        results = [compare(f"file: {name}", compare_file, name, mode, options, work) for name, mode, options in FILES]
        results += [compare(f"recording: {name}", compare_recording, name, mode, event, options, work)
                    for name, mode, event, options in RECORDINGS]
    print(f"{results.count(True)} equal, {results.count(False)} different, {results.count(None)} left out")
    sys.exit(results.count(False) > 0 or results.count(True) == 0)


if __name__ == "__main__":
    main()
