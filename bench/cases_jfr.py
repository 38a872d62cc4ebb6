#!/usr/bin/env python3
"""Measure reading JFR beside async-profiler's converter: cases_jfr.py [CASE…] [--runs N] [--folder FOLDER].

Inputs are recorded by jfr_inputs.py; the converter comes from Maven (tools.profiler:jfr-converter). Both run in turn,
N times, so that a busy machine hits them alike; the best CPU time and the least of the peaks of memory count. Anonymous
memory is what no file stands behind: heaps and stacks, but not the pages of a mapped recording.
SPARKFLAME is our command, when it is not build/sparkflame."""

import argparse
import os
import pathlib
import subprocess
import tempfile

import jfr_inputs
from measured_run import run_anonymous

HERE = pathlib.Path(__file__).resolve().parent
OURS = os.environ.get("SPARKFLAME", str(HERE.parent / "build" / "sparkflame"))
CONVERTER = "tools.profiler:jfr-converter:4.5"

# case: (input, event of ours, option of the converter, format of ours, format of the converter)
CASES = {
    "jdkexec-folded": ("jdkexec200", "cpu", [], "folded", "collapsed"),
    "jdkexec-html": ("jdkexec200", "cpu", [], "html", "html"),
    "jdkexec-pprof": ("jdkexec200", "cpu", [], "pprof", "pb.gz"),
    "ap-folded": ("ap200", "cpu", ["--cpu"], "folded", "collapsed"),
    "ap-html": ("ap200", "cpu", ["--cpu"], "html", "html"),
    "jdkalloc-folded": ("jdkalloc200", "alloc", ["--alloc"], "folded", "collapsed"),
    "jdkalloc-html": ("jdkalloc200", "alloc", ["--alloc"], "html", "html"),
    "jdkalloc-pprof": ("jdkalloc200", "alloc", ["--alloc"], "pprof", "pb.gz"),
    "apalloc-folded": ("ap200", "alloc", ["--alloc"], "folded", "collapsed"),
    "apalloc-html": ("ap200", "alloc", ["--alloc"], "html", "html"),
    "apalloc-pprof": ("ap200", "alloc", ["--alloc"], "pprof", "pb.gz"),
}


def converter(folder):
    found = list(folder.glob("jfr-converter-*.jar"))
    if not found:
        subprocess.run(["mvn", "-q", "dependency:copy", f"-Dartifact={CONVERTER}", f"-DoutputDirectory={folder}"],
                       check=True)
        found = list(folder.glob("jfr-converter-*.jar"))
    return found[0]


def commands(case, folder, scratch):
    name, event, option, our_format, their_format = CASES[case]
    path = str(jfr_inputs.make(folder, name))
    ours = [OURS, "convert", "-q", "-e", event, "-f", our_format, "-o", f"{scratch}/ours", path]
    theirs = ["java", "-jar", str(converter(folder)), *option, "-o", their_format, path, f"{scratch}/theirs.{their_format}"]
    return {"sparkflame -j1": ours + ["-j", "1"], "sparkflame -j2": ours + ["-j", "2"], "jfr-converter": theirs}


def measure(case, folder, runs):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        found = {}
        for _ in range(runs):
            for tool, command in commands(case, folder, scratch).items():
                found.setdefault(tool, []).append(run_anonymous(command))
    best = {tool: tuple(min(column) for column in zip(*results)) for tool, results in found.items()}
    base = best["sparkflame -j1"]
    for tool, (cpu, resident, wall, anonymous) in best.items():
        print(f"| {case} | {tool} | {cpu:.2f} | {cpu / base[0]:.1f} | {anonymous:.0f} | {anonymous / base[3]:.1f} | "
              f"{resident:.0f} | {wall:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "sparkflame-bench")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print("| case | tool | CPU s | times ours | anonymous MB | times ours | resident MB | wall s |\n"
          "|---|---|---|---|---|---|---|---|")
    for case in arguments.cases or CASES:
        measure(case, folder, arguments.runs)


if __name__ == "__main__":
    main()
