#!/usr/bin/env python3
"""Measure converting and drawing beside other tools: convert.py [CASE…] [--runs N] [--folder FOLDER] [--json FILE].

Each case has an input that is made once, our command and the peers' commands. All run in turn, N times, so that a
busy machine hits them alike; the best CPU time (user and system) and the least of the largest resident sizes count.

INFERNO_BIN     folder with inferno-collapse-perf, inferno-flamegraph, inferno-diff-folded (cargo install inferno)
FLAMEGRAPH_DIR  checkout of FlameGraph
SPARKFLAME      our command, when it is not build/sparkflame
A peer that is not there is left out.

Before it is measured, each tool's output is compared with ours: folded text and differences line by line (in any order),
pictures by the samples of the box of all and by the number of boxes that are at least a pixel wide in 1,200, since the
minimum width of a box is not the same for all of them. What differs is printed and makes the run fail. Each row says
how the tool was run: its arguments but for the files, and its threads.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from measured_run import run, run_pipe

HERE = pathlib.Path(__file__).resolve().parent
INFERNO = os.environ.get("INFERNO_BIN", "")
FLAMEGRAPH = os.environ.get("FLAMEGRAPH_DIR", "")
OURS = os.environ.get("SPARKFLAME", str(HERE.parent / "build" / "sparkflame"))

# "name (1,234 samples, 5.67%…)"; in a difference more may follow.
TITLE = re.compile(r"<title>[^<]* \(([\d,]+) samples?, [\d.]+%")

INPUTS = {
    "deep.folded": ["make_folded.py", "--kind", "deep"],
    "wide.folded": ["make_folded.py", "--kind", "wide"],
    "distinct.folded": ["make_folded.py", "--kind", "distinct"],
    "perf.txt": ["make_perf.py"],
    "perf_jitter.txt": ["make_perf.py", "--jitter"],
}


def ours(*arguments):
    return [OURS, *arguments]


def inferno(program, *arguments):
    return [str(pathlib.Path(INFERNO) / program), *arguments] if INFERNO else None


def perl(program, *arguments):
    return ["perl", str(pathlib.Path(FLAMEGRAPH) / program), *arguments] if FLAMEGRAPH else None


# case: (inputs, {tool: command}); {0} and {1} are the inputs; '|' stands between two commands
CASES = {}
for kind in ("perf", "perf_jitter"):
    CASES[f"{kind}-folded"] = ([f"{kind}.txt"], {
        "sparkflame -j1": ours("convert", "-j", "1", "{0}"),
        "sparkflame -j2": ours("convert", "-j", "2", "{0}"),
        "inferno": inferno("inferno-collapse-perf", "-n", "1", "-q", "{0}"),
        "FlameGraph": perl("stackcollapse-perf.pl", "{0}"),
    })
for kind in ("deep", "wide", "distinct"):
    CASES[f"{kind}-svg"] = ([f"{kind}.folded"], {
        "sparkflame -j1": ours("flame", "-j", "1", "-f", "svg", "-o", "-", "{0}"),
        "sparkflame -j2": ours("flame", "-j", "2", "-f", "svg", "-o", "-", "{0}"),
        "inferno": inferno("inferno-flamegraph", "{0}"),
        "FlameGraph": perl("flamegraph.pl", "{0}"),
    })
    CASES[f"{kind}-diff"] = ([f"{kind}.folded", f"{kind}.folded"], {
        "sparkflame -j1": ours("diff", "-j", "1", "-f", "folded", "-o", "-", "{0}", "{1}"),
        "sparkflame -j2": ours("diff", "-j", "2", "-f", "folded", "-o", "-", "{0}", "{1}"),
        "inferno": inferno("inferno-diff-folded", "{0}", "{1}"),
        "FlameGraph": perl("difffolded.pl", "{0}", "{1}"),
    })
    CASES[f"{kind}-diff-svg"] = ([f"{kind}.folded", f"{kind}.folded"], {
        "sparkflame -j1": ours("diff", "-j", "1", "-f", "svg", "-o", "-", "{0}", "{1}"),
        "sparkflame -j2": ours("diff", "-j", "2", "-f", "svg", "-o", "-", "{0}", "{1}"),
        "inferno": INFERNO and [*inferno("inferno-diff-folded", "{0}", "{1}"), "|", *inferno("inferno-flamegraph")],
        "FlameGraph": FLAMEGRAPH and [*perl("difffolded.pl", "{0}", "{1}"), "|", *perl("flamegraph.pl")],
    })


def make_input(folder, name):
    path = folder / name
    if not path.exists():
        program, *options = INPUTS[name]
        part = path.with_suffix(".part")
        subprocess.run([sys.executable, str(HERE / program), str(part), *options], check=True, cwd=HERE)
        part.rename(path)
    return path


def run_any(command):
    if "|" not in command:
        return run(command)
    bar = command.index("|")
    return run_pipe(command[:bar], command[bar + 1:])


def output_of(command):
    with tempfile.TemporaryFile() as target, tempfile.TemporaryFile() as between:
        bar = command.index("|") if "|" in command else len(command)
        subprocess.run(command[:bar], stdout=target if bar == len(command) else between, stderr=subprocess.DEVNULL, check=True)
        if bar < len(command):
            between.seek(0)
            subprocess.run(command[bar + 1:], stdin=between, stdout=target, stderr=subprocess.DEVNULL, check=True)
        target.seek(0)
        return target.read().decode()


def facts_of_picture(text):
    """(samples of all, boxes of at least a pixel in 1,200)"""
    boxes = [int(found.replace(",", "")) for found in TITLE.findall(text)]
    total = max(boxes, default=0)
    return total, sum(box * 1200 >= total for box in boxes)


def facts_of(command):
    text = output_of(command)
    if "<svg" in text[:1000]:
        return facts_of_picture(text)
    lines = sorted(text.splitlines())
    return len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def compare_outputs(name, commands):
    """Whether all tools say the same. Another process looks, since a measured one begins as a copy of this one."""
    with multiprocessing.Pool(1) as pool:
        facts = dict(zip(commands, pool.map(facts_of, commands.values())))
    differing = {tool: found for tool, found in facts.items() if found != facts["sparkflame -j1"]}
    for tool, found in differing.items():
        print(f"{name}: {tool} gives {found}, sparkflame -j1 gives {facts['sparkflame -j1']}", file=sys.stderr)
    return not differing


def how(command):
    """The command without its files."""
    is_program = [number == 0 or command[number - 1] in ("|", "perl") for number in range(len(command))]
    words = [pathlib.Path(word).name if program else word for word, program in zip(command, is_program)]
    text = " ".join(word for word in words if "/" not in word).replace("|", "then")
    return text if "-j" in command else text + ", one thread"


def measure(name, folder, runs, slow):
    inputs, commands = CASES[name]
    paths = [str(make_input(folder, each)) for each in inputs]
    commands = {tool: [word.format(*paths) for word in command] for tool, command in commands.items()
                if command and (slow or tool != "FlameGraph")}
    same = compare_outputs(name, commands)
    found = {tool: [] for tool in commands}
    for _ in range(runs):
        for tool, command in commands.items():
            found[tool].append(run_any(command))
    best = {tool: tuple(min(column) for column in zip(*results)) for tool, results in found.items()}
    for tool, (cpu, resident, wall) in best.items():
        base = best["sparkflame -j1"]
        print(f"| {name} | {tool} | {cpu:.2f} | {cpu / base[0]:.1f} | {resident:.0f} | {resident / base[1]:.1f} | {wall:.2f} | "
              f"{how(commands[tool])} |",
              flush=True)
    return [{"case": name, "tool": tool, "how": how(commands[tool]), "same_output": same, "cpu_s": cpu,
             "resident_mb": resident, "wall_s": wall, "runs": runs}
            for tool, (cpu, resident, wall) in best.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "sparkflame-bench")
    parser.add_argument("--slow", action="store_true", help="FlameGraph's scripts too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="else convert.json in the folder")
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - set(CASES)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print("| case | tool | CPU s | times ours | MB | times ours | wall s | how |")
    print("|---|---|---|---|---|---|---|---|")
    load_before = os.getloadavg()[0]
    results = []
    for name in arguments.cases or CASES:
        results += measure(name, arguments.folder, arguments.runs, arguments.slow)
    report = {"processors": os.cpu_count(), "load_before": load_before, "load_after": os.getloadavg()[0],
              "results": results}
    (arguments.json or arguments.folder / "convert.json").write_text(json.dumps(report, indent=1) + "\n")
    return 0 if all(each["same_output"] for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
