#!/usr/bin/env python3
"""Measure `sparkflame merge` beside a loop of async-profiler's converter and inferno: merge.py [--objects N…] [--runs N] [--from FOLDER].

Objects are copies of the recordings in the folder (default: of examples/word_counts.jfr.gz), named as executors ship them. First come CPU
time and memory of three numbers of objects and of each output, which should grow in line and not at all; then, for the smallest number, what
a loop costs that converts each object and draws all of them. inferno-flamegraph is left out where it is not installed.
SPARKFLAME is our command, when it is not build/sparkflame."""

import argparse
import gzip
import os
import pathlib
import shutil
import tempfile

import cases_jfr
from measured_run import run, run_anonymous

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = os.environ.get("SPARKFLAME", str(ROOT / "build" / "sparkflame"))
OUTPUTS = {"folded": ["-e", "cpu", "-f", "folded"], "pprof": ["-f", "pprof"], "html": ["-f", "html"], "stitched": ["--stitch", "-f", "folded"],
           "parquet": ["-f", "parquet"]}
EXECUTORS = 20


def sources(folder):
    """The recordings' bytes."""
    if folder:
        return [path.read_bytes() for path in sorted(folder.rglob("*.jfr"))]
    return [gzip.decompress((ROOT / "examples" / "word_counts.jfr.gz").read_bytes())]


def make(folder, recordings, count):
    for number in range(count):
        home = folder / "team" / "app-1" / str(number % EXECUTORS + 1)
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{number // EXECUTORS + 1:06}.jfr").write_bytes(recordings[number % len(recordings)])
    return sum(path.stat().st_size for path in folder.rglob("*.jfr")) / 1e6


def loop(folder, scratch):
    """(CPU seconds, resident MB) of converting each object, and drawing all of them. Without an event, the converter takes samples of execution: in the example
    those are as many as ours of CPU time, while with --cpu it finds none."""
    jar = cases_jfr.converter(scratch)
    cpu, memory = 0.0, 0.0
    with open(scratch / "all.folded", "wb") as together:
        for path in sorted(folder.rglob("*.jfr")):
            found = run_anonymous(["java", "-jar", str(jar), "--wall", "-o", "collapsed", str(path), str(scratch / "one.collapsed")])
            cpu, memory = cpu + found[0], max(memory, found[1])
            together.write((scratch / "one.collapsed").read_bytes())
    if shutil.which("inferno-flamegraph"):
        with open(scratch / "all.svg", "wb") as picture, open(scratch / "all.folded", "rb") as source:
            found = run(["inferno-flamegraph"], source=source, target=picture)
        cpu, memory = cpu + found[0], max(memory, found[1])
    return cpu, memory


def best(command, runs):
    return tuple(min(column) for column in zip(*(run_anonymous(command) for _ in range(runs))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--without-loop", action="store_true")
    arguments = parser.parse_args()
    recordings = sources(arguments.source)
    print("| objects | MB | output | CPU s | MB/s of CPU | anonymous MB | written MB |\n|---|---|---|---|---|---|---|")
    for count in arguments.objects:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            size = make(folder / "objects", recordings, count)
            for name, options in OUTPUTS.items():
                out = folder / f"out.{name}"
                cpu, _, _, memory = best([OURS, "merge", "-q", *options, "-o", str(out), str(folder / "objects")], arguments.runs)
                written = sum(path.stat().st_size for path in (out.iterdir() if out.is_dir() else [out])) / 1e6
                print(f"| {count} | {size:.0f} | {name} | {cpu:.2f} | {size / cpu:.0f} | {memory:.0f} | {written:.2f} |", flush=True)
    if arguments.without_loop:
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        count = min(arguments.objects)
        make(folder / "objects", recordings, count)
        ours = best([OURS, "merge", "-q", "-e", "wall", "-o", str(folder / "out.svg"), str(folder / "objects")], arguments.runs)
        theirs = loop(folder / "objects", folder)
        print(f"\n{count} objects to a picture: {ours[0]:.2f} s and {ours[1]:.0f} MB resident; a loop of jfr-converter"
              f"{' and inferno' if shutil.which('inferno-flamegraph') else ''}: {theirs[0]:.2f} s ({theirs[0] / ours[0]:.1f} times) and "
              f"{theirs[1]:.0f} MB ({theirs[1] / ours[1]:.1f} times)")


if __name__ == "__main__":
    main()
