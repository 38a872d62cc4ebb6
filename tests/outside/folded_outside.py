"""What the comparisons with other projects' expected folded files share."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPARKFLAME = os.environ.get("SPARKFLAME", str(ROOT / "build" / "sparkflame"))


def folder_from(variable):
    """The checkout that an environment variable names; ends the program when there is none."""
    path = os.environ.get(variable)
    if not path or not pathlib.Path(path).is_dir():
        sys.exit(f"set {variable} to a checkout of the public repository")
    return pathlib.Path(path)


def convert(path, *options, text=None):
    """Folded lines of a file, or of a text on standard input."""
    command = [SPARKFLAME, "convert", "--quiet", "--bare-names", *options, "-" if text is not None else str(path)]
    result = subprocess.run(command, input=text, capture_output=True, check=False)
    return result.returncode, result.stdout.decode("utf-8", "replace").splitlines(), result.stderr.decode()


def without_quotes(lines):
    return [line.replace('"', "").replace("'", "") for line in lines]


def totals(lines):
    """Stack to count, whatever the order."""
    found = {}
    for line in lines:
        stack, _, count = line.rpartition(" ")
        found[stack] = found.get(stack, 0) + float(count)
    return found


class Report:
    """Counts what is equal, what differs on purpose and what differs."""

    def __init__(self):
        self.equal = 0
        self.intended = []
        self.bad = 0

    def case(self, name, got, expected, intended=None):
        if totals(got) == totals(expected) and (intended or got == sorted_bytes(expected)):
            self.equal += intended is None
            if intended:
                self.intended.append((name, intended))
            return
        self.bad += 1
        ours, theirs = totals(got), totals(expected)
        print(f"DIFFERS {name}: {len(got)} lines, expected {len(expected)}")
        for stack in [stack for stack in theirs if ours.get(stack) != theirs[stack]][:2]:
            print(f"    expected {theirs[stack]:g}, got {ours.get(stack)}: {stack[-300:]}")
        for stack in [stack for stack in ours if stack not in theirs][:2]:
            print(f"    not expected {ours[stack]:g}: {stack[-300:]}")
        if list(ours.items()) and ours == theirs:
            print("    only the order differs")

    def end(self):
        for name, why in self.intended:
            print(f"intended {name}: {why}")
        print(f"{self.equal} equal, {len(self.intended)} differ as intended, {self.bad} differ")
        return 1 if self.bad else 0


def sorted_bytes(lines):
    return sorted(lines, key=lambda line: line.rpartition(" ")[0].encode())
