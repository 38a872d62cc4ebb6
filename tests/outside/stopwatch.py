#!/usr/bin/env python3
"""Compare with what phil_stopwatch itself says of its records: STOPWATCH_DIR=its analytics/data stopwatch.py."""

import sys

from folded_outside import convert, folder_from, totals

# files: stacks, total
TRUTH = [
    (["ProfileStraggler/Stacktrace.json.gz"], 38, 47473),
    (["profile_straggler/Stacktrace.json.gz"], 64, 29160),
    (["profile_straggler/s_1_stack.json.gz"], 4, 1475),
    (["profile_straggler/Stacktrace.json.gz", "profile_straggler/s_1_stack.json.gz"], 68, 30635),
]


def main():
    folder = folder_from("STOPWATCH_DIR")
    bad = 0
    for names, stacks, total in TRUTH:
        paths = [str(folder / name) for name in names]
        found = totals(convert(paths[-1], "--lines", *paths[:-1])[1])
        if (len(found), sum(found.values())) != (stacks, total):
            print(f"DIFFERS {names}: {len(found)} stacks, total {sum(found.values())}, not {stacks} and {total}")
            bad += 1
    print(f"{len(TRUTH) - bad} equal, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
