#!/usr/bin/env python3
"""Compare with speedscope's own reading of its samples: SPEEDSCOPE_DIR=checkout speedscope.py.

Of its sample/profiles: the files of its own format and of pprof. What it shows is in the snapshots of its tests, as
text: a list "a;b 5" for each profile. A file that it refuses because a frame never closes is read by us, with a notice.
"""

import json
import re
import sys

from folded_outside import Report, convert, folder_from

# Snapshots say weights in the profile's unit, we in nanoseconds.
FACTORS = {"": 1, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}


def weights_of(document):
    """What the format itself says, summed up by stack over all profiles of the file."""
    names = [frame["name"] for frame in document["shared"]["frames"]]
    factors = {"none": 1, "seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1, "bytes": 1}
    found = {}
    for profile in document["profiles"]:
        factor = factors[profile["unit"]]
        if profile["type"] == "sampled":
            pairs = zip(profile["samples"], profile["weights"])
        else:
            pairs = spans(profile)
        for stack, weight in pairs:
            key = ";".join(names[index] for index in stack)
            found[key] = found.get(key, 0) + weight * factor
    return [f"{stack} {weight:.0f}" for stack, weight in found.items() if weight and stack]


def spans(profile):
    stack, last = [], profile["startValue"]
    for event in profile["events"]:
        if event["at"] > last:
            yield list(stack), event["at"] - last
            last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        elif stack.pop() != event["frame"]:
            raise ValueError("frames close out of order")
    if stack:
        yield list(stack), profile["endValue"] - last


def snapshot_of(checkout, test, name):
    """The lines of the list of stacks of one snapshot."""
    text = (checkout / "src" / "import" / "__snapshots__" / f"{test}.test.ts.snap").read_text()
    block = text.split(f"exports[`{name} 1`]", 1)[1].split("exports[`", 1)[0]
    lines = []
    for stack, weight, unit in re.findall(r'"(.*) ([\d.]+)([a-zµ]*)",', block.split('"stacks": [', 1)[1]):
        lines.append(f"{stack} {float(weight) * FACTORS[unit]:.0f}")
    return lines


def main():
    checkout = folder_from("SPEEDSCOPE_DIR")
    samples = checkout / "sample" / "profiles"
    report = Report()
    for path in sorted((samples / "speedscope").glob("*/*.json")):
        status, lines, errors = convert(path)
        try:
            expected = weights_of(json.loads(path.read_text()))
        except (ValueError, IndexError):
            report.equal += status == 1 and "offset" in errors
            report.bad += status != 1
            continue
        report.case(path.name, lines, expected, "an open frame lasts to the end" if "incomplete" in path.name else None)
    expected = {}
    for line in snapshot_of(checkout, "pprof", "importAsPprofProfile"):
        stack, _, weight = line.rpartition(" ")
        expected[stack] = expected.get(stack, 0) + float(weight)
    report.case("simple.prof", convert(samples / "pprof" / "simple.prof")[1],
                [f"{stack} {weight:.0f}" for stack, weight in expected.items()])
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
