#!/usr/bin/env python3
"""Our stacks against the expected ones of grafana/jfr-parser, for each of its recordings.

    JFR_PARSER_SOURCE=…/jfr-parser tests/outside/jfr_parser.py [NAME…]

Recordings and expected files are read from its parser/testdata; nothing of them is kept here. What is undone before
comparing: it knows CPU and wall samples as times at 100 Hz, durations in ticks, puts the library before C functions,
takes the numbers out of generated classes' names and leaves hidden classes the dots that the JDK writes there ("a.b.C+0x1");
ours end in the class that was allocated or locked.
"""

import collections
import gzip
import os
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("SPARKFLAME", HERE.parent.parent / "build" / "sparkflame")
PERIOD_NS = 10_000_000
UNKNOWN_LINE = 0xffffffff
GENERATED = [
    (r"(^|;)(jdk/internal/reflect/GeneratedMethodAccessor)\d+(?=\.)", r"\1\2_"),
    (r"(\$\$Lambda)(\$?\d*[./](0x)?[\da-f]+|\d+)(?=\.)", r"\1_"),
    (r"(\$\$EnhancerBySpringCGLIB\$\$)[^.;]*(?=\.)", r"\1_"),
]
# Expected kind: the calls of ours that it takes, and whether a class ends our stacks.
KINDS = {
    "process_cpu_cpu": ([["-e", "cpu"], ["-e", "wall", "-s", "runnable"]], False),
    "wall_wall": ([["-e", "wall"]], False),
    "memory_alloc_in_new_tlab": ([["-e", "alloc", "-l", "allocation=in new TLAB"]], True),
    "memory_alloc_outside_tlab": ([["-e", "alloc", "-l", "allocation=outside TLAB"]], True),
    "memory_alloc_sample": ([["-e", "alloc-sample"], ["-e", "alloc", "-l", "allocation=sampled"]], True),
    "memory_live": ([["-e", "live"]], True),
    "memory_malloc": ([["-e", "nativemem"]], False),
    "mutex_contentions": ([["-e", "lock"]], True),
    "block_contentions": ([["-e", "park"]], True),
}


def with_package(name):
    """A hidden class with slashes up to its address, as all other classes have them."""
    hidden = name.find("+0x")
    return name if hidden < 0 else name[:hidden].replace(".", "/") + name[hidden:]


def expected_stacks(path):
    """{frames: values}; a frame is (name, line)."""
    stacks = collections.Counter(), collections.Counter()
    for line in gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines():
        text, _, values = line.rpartition(" [")
        if not text:
            text, values = "", line[line.index("[") + 1:]
        frames = tuple((name.replace(";", ":"), int(number))
                       for name, number in re.findall(r"(.*?):(-?\d+)(?:;|$)", text))
        for counter, value in zip(stacks, values.rstrip("]").split()):
            counter[frames] += int(value)
    return stacks


def our_stacks(recording, selection, weight):
    run = subprocess.run([str(BINARY), "convert", "-q", "-f", "folded", "--lines", "--weight", weight, *selection,
                          str(recording)], capture_output=True, check=False)
    stacks = collections.Counter()
    if run.returncode != 0:
        if b"no sample" not in run.stderr.lower() and b"no event" not in run.stderr.lower():
            print(run.stderr.decode(), end="")
        return stacks
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        text, _, value = line.rpartition(" ")
        for pattern, by in GENERATED:
            text = re.sub(pattern, by, text)
        frames = []
        for frame in text.split(";"):
            name, _, number = frame.rpartition(":")
            frames.append((name, int(number)) if name and number.isdigit() and not name.endswith(":") else (frame, 0))
        stacks[tuple(frames)] += round(float(value))
    return stacks


def without_class(stacks):
    """The last frame is a class when it has no line and no slash."""
    shorter = collections.Counter()
    for frames, value in stacks.items():
        name, line = frames[-1]
        shorter[frames[:-1] if line == 0 and "/" not in name else frames] += value
    return shorter


def in_our_words(expected, ours):
    """Expected stacks with the names that ours have: C functions without their library."""
    known = {frame for frames in ours for frame in frames}
    found = {}

    def translate(frame):
        if frame not in found:
            name, line = frame
            line = 0 if line == UNKNOWN_LINE else line
            words = [name, with_package(name)]
            for match in re.finditer(r"\.", name):
                library, function = name[:match.start()], name[match.end():]
                words += [f"{function} ({library})", function]
            found[frame] = next(((word, line) for word in words if (word, line) in known), frame)
        return found[frame]

    result = collections.Counter()
    for frames, value in expected.items():
        result[tuple(map(translate, frames))] += value
    return result


def ticks_per_second(recording):
    with gzip.open(recording) as file:
        return struct.unpack(">q", file.read(64)[56:64])[0]


def sum_of(recording, calls, weight, has_class):
    total = collections.Counter()
    for selection in calls:
        stacks = our_stacks(recording, selection, weight)
        total.update(without_class(stacks) if has_class else stacks)
    return total


def differences(ours, expected, allowed=lambda frames: 0):
    return [frames for frames in ours.keys() | expected.keys()
            if abs(ours[frames] - expected[frames]) > allowed(frames)]


def is_same(recording, kind, path):
    calls, has_class = KINDS[kind]
    first, second = expected_stacks(path)
    counts = sum_of(recording, calls, "count", has_class)
    if kind in ("process_cpu_cpu", "wall_wall"):
        first = collections.Counter({frames: value // PERIOD_NS for frames, value in first.items()})
    if "_truncated_frame" in path.name:
        counts, first, second = (collections.Counter(stacks) for stacks in (counts, *map(untruncated, (first, second))))
    bad = differences(counts, in_our_words(first, counts))
    if bad or not second:
        return bad
    values = sum_of(recording, calls, "value", has_class)
    wanted = in_our_words(second, values)
    if "contentions" in kind:
        scale = 1e9 / ticks_per_second(recording)
        wanted = collections.Counter({frames: round(value * scale) for frames, value in wanted.items()})
        return differences(values, wanted, lambda frames: counts[frames] + 1)
    return differences(values, wanted)


def untruncated(stacks):
    """Without the mark that a stack was cut off by its recorder."""
    shorter = collections.Counter()
    for frames, value in stacks.items():
        shorter[frames[1:] if frames and frames[0][0] == "[truncated]" else frames] += value
    return shorter


def main():
    data = pathlib.Path(os.environ["JFR_PARSER_SOURCE"]) / "parser" / "testdata"
    recordings = sorted(data.glob("*.jfr.gz"), key=lambda path: -len(path.name))
    seen, failed = set(), 0
    for recording in recordings:
        stem = recording.name[:-len(".jfr.gz")]
        for path in sorted(data.glob(f"{stem}_*_expected_collapsed.txt.gz")):
            kind = next((kind for kind in KINDS if re.match(rf"\d+_{kind}", path.name[len(stem) + 1:])), None)
            if kind is None or path in seen or (len(sys.argv) > 1 and stem not in sys.argv[1:]):
                continue
            seen.add(path)
            bad = is_same(recording, kind, path)
            print("FAILED" if bad else "ok", path.name.replace("_expected_collapsed.txt.gz", ""), flush=True)
            failed += bool(bad)
            if bad and os.environ.get("VERBOSE"):
                for frames in bad[:3]:
                    print("   ", ";".join(f"{name}:{line}" for name, line in frames))
    print(f"{len(seen) - failed} of {len(seen)} expected files match, of {len(recordings)} recordings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
