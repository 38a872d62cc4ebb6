#!/usr/bin/env python3
"""Compare with inferno's expected differences of folded files: INFERNO_DIR=checkout inferno_diff.py.

inferno rounds counts to whole numbers; so does this comparison.
"""

import subprocess
import sys

from folded_outside import SPARKFLAME, folder_from

CASES = [
    ("default", "before.txt", []),
    ("fractionals", "before_fractionals.txt", []),
    ("normalize", "before.txt", ["--normalize"]),
    ("strip_hex", "before.txt", ["--strip-hex"]),
]


def lines_of(text):
    found = set()
    for line in text.splitlines():
        stack, before, after = line.rsplit(" ", 2)
        found.add((stack, int(float(before)), int(float(after))))
    return found


def main():
    folder = folder_from("INFERNO_DIR") / "tests" / "data" / "diff-folded"
    bad = 0
    for name, before, options in CASES:
        command = [SPARKFLAME, "diff", "--quiet", "--kinds", "-f", "folded", *options,
                   str(folder / before), str(folder / "after.txt")]
        result = subprocess.run(command, capture_output=True, check=False)
        expected = lines_of((folder / "results" / f"{name}.txt").read_text())
        got = lines_of(result.stdout.decode())
        if result.returncode != 0 or got != expected:
            bad += 1
            print(f"DIFFERS {name}: {result.stderr.decode().strip()}")
            for line in sorted(expected - got)[:3]:
                print("    expected", *line)
            for line in sorted(got - expected)[:3]:
                print("    got     ", *line)
    print(f"{len(CASES) - bad} equal, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
