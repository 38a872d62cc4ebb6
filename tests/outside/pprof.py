#!/usr/bin/env python3
"""Compare with what Go's pprof says of google/pprof's profiles: PPROF_DIR=checkout pprof.py. Needs `go tool pprof`.

Each of its profiles is folded by us and from the text of `pprof -raw`, and then written by us and read by pprof again.
Those in the formats from before 2014 we must refuse; pprof turns them into new ones first.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from folded_outside import SPARKFLAME, Report, convert, folder_from

# Our name of an event, by the sample type that holds its amount; counts go with the amount after them.
EVENTS = {"alloc_space": "alloc", "inuse_space": "live", "delay": "lock"}
# We keep amounts in nanoseconds and bytes.
FACTORS = {"microseconds": 1000, "milliseconds": 1000000, "seconds": 1000000000}
LINE = re.compile(r"^\s*(\d+): 0x([0-9a-f]+) (?:M=\d+ )?(?:(.*) (\S*):(-?\d+):\d+ s=-?\d+)?")
INLINED = re.compile(r"^\s+(.*) (\S*):(-?\d+):\d+ s=-?\d+")


def pprof(*arguments):
    command = ["go", "tool", "pprof", "-symbolize=none", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def read_raw(path):
    """Sample types, {stack of names from outermost: [values]} as `pprof -raw` tells them."""
    lines = pprof("-raw", path).splitlines()
    start, end = lines.index("Samples:"), lines.index("Locations")
    types = [each.removesuffix("[dflt]").split("/") for each in lines[start + 1].split()]
    factors = [FACTORS.get(unit, 1) for _, unit in types]
    locations, last = {}, None
    for line in lines[end + 1 : lines.index("Mappings")]:
        found = LINE.match(line)
        if found:
            last = locations[int(found[1])] = [found[3] or "0x" + found[2]]
        elif INLINED.match(line):
            last.append(INLINED.match(line)[1])
    stacks = {}
    for line in lines[start + 2 : end]:
        values, _, identities = line.partition(":")
        if not re.fullmatch(r"[\s\d-]+", values):
            continue  # labels
        frames = [name for each in identities.split() for name in locations[int(each)]]
        sums = stacks.setdefault(tuple(reversed(frames)), [0] * len(types))
        for index, value in enumerate(values.split()):
            sums[index] += int(value) * factors[index]
    return types, stacks


def expected_lines(stacks, index):
    return [f"{';'.join(frame.replace(';', ':') for frame in stack) or '[no frames left]'} {values[index]}"
            for stack, values in stacks.items() if values[index] != 0]


def compare(report, name, path, folder):
    types, stacks = read_raw(path)
    for index, (kind, unit) in enumerate(types):
        paired = unit == "count" and index + 1 < len(types) and types[index + 1][1] != "count"
        amount = types[index + 1][0] if paired else kind
        status, lines, errors = convert(path, "--event", EVENTS.get(amount, amount), "--weight",
                                        "count" if unit == "count" else "value")
        if status != 0 and not any(values[index] for values in stacks.values()):
            lines = []  # an event without samples cannot be chosen
        elif status != 0:
            print(errors.strip())
        report.case(f"{name} {kind}", lines, expected_lines(stacks, index))
    ours = folder / "ours.pb.gz"
    subprocess.run([SPARKFLAME, "convert", "-q", path, "-f", "pprof", "-o", ours], check=True)
    again = {stack: values for stack, values in read_raw(ours)[1].items() if any(values)}
    wanted = {stack: values for stack, values in stacks.items() if any(values)}
    same = again == wanted
    report.equal += same
    report.bad += not same
    if not same:
        print(f"DIFFERS {name}: pprof reads {len(again)} stacks of ours, {len(wanted)} of its own")


def main():
    checkout = folder_from("PPROF_DIR")
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [path for path in sorted((checkout / "profile" / "testdata").iterdir()) if path.suffix != ".string"]
        for path in files:
            status, _, errors = convert(path)
            if status != 1 or "before 2014" not in errors:
                print(f"DIFFERS {path.name}: not refused: {errors}")
                report.bad += 1
            new = folder / (path.name + ".pb.gz")
            pprof("-proto", "-output", new, path)
            compare(report, path.name, new, folder)
        for path in sorted(checkout.glob("internal/*/testdata/*.cpu")):
            if path.read_bytes()[:2] == b"\x1f\x8b":
                compare(report, path.name, path, folder)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
