#!/usr/bin/env python3
"""Compare with what phil_stopwatch itself says of its records: STOPWATCH_DIR=its analytics/data stopwatch.py."""

import json
import subprocess
import sys

from folded_outside import SPARKFLAME, convert, folder_from, totals

# files: stacks, total
TRUTH = [
    (["ProfileStraggler/Stacktrace.json.gz"], 38, 47473),
    (["profile_straggler/Stacktrace.json.gz"], 64, 29160),
    (["profile_straggler/s_1_stack.json.gz"], 4, 1475),
    (["profile_straggler/Stacktrace.json.gz", "profile_straggler/s_1_stack.json.gz"], 68, 30635),
]

# file: points, most heap or resident MiB as it prints them, {collector: collections}
METRICS = [
    ("ProfileStraggler/CpuAndMemory.json.gz", 10758, "516.92", {"PS Scavenge": 2892, "PS MarkSweep": 4}),
    ("profile_straggler/CpuAndMemory.json.gz", 5700, "234.62", {"PS Scavenge": 10, "PS MarkSweep": 2}),
    ("profile_straggler/s_1_1401_cpumem.json.gz", 153, "1201.6", {}),
    ("profile_straggler/s_1_1402_cpumem.json.gz", 136, "1202.0", {}),
    ("profile_straggler/s_1_1403_cpumem.json.gz", 1186, "10689.0", {}),
]
LOGS = ["ProfileStraggler/JobStraggler.log.gz", "profile_straggler/Straggler_PySpark.log.gz"]


def told(command, path):
    run = subprocess.run([SPARKFLAME, command, "-q", "-f", "json", path], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def metrics_of(path):
    """(points, most MiB, collections) as in METRICS"""
    series = told("metrics", path)["metrics"]
    (memory,) = [one for one in series if one["metric"] in ("heap_used", "rss") and one["points"]][:1]
    most = max(value for _, value in memory["points"]) / 2**20
    digits = 2 if memory["metric"] == "heap_used" else 1
    collections = {one["part"]: max(value for _, value in one["points"]) for one in series if one["metric"] == "gc_count"}
    return len(memory["points"]), f"{most:.{digits}f}", collections


def main():
    folder = folder_from("STOPWATCH_DIR")
    bad = 0
    for name, *truth in METRICS:
        found = list(metrics_of(folder / name))
        if found != truth:
            print(f"DIFFERS {name}: {found}, not {truth}")
            bad += 1
    for name in LOGS:
        log = told("logs", folder / name)
        found = [len(log[part]) for part in ("jobs", "stages", "tasks")]
        if found != [1, 1, 3]:
            print(f"DIFFERS {name}: {found} jobs, stages, tasks, not [1, 1, 3]")
            bad += 1
    for names, stacks, total in TRUTH:
        paths = [str(folder / name) for name in names]
        found = totals(convert(paths[-1], "--lines", *paths[:-1])[1])
        if (len(found), sum(found.values())) != (stacks, total):
            print(f"DIFFERS {names}: {len(found)} stacks, total {sum(found.values())}, not {stacks} and {total}")
            bad += 1
    print(f"{len(TRUTH) + len(METRICS) + len(LOGS) - bad} equal, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
