#!/usr/bin/env python3
"""Measure reading event logs and logs: report.py [--runs N] [--tasks N] [--only PART] [--folder FOLDER] [--json FILE].

Event logs are held against a loop in Python that does nothing but orjson.loads() on each line; logs against Phil's Stopwatch.
All run in turn, N times; the best CPU time (user and system) and the least of the largest resident sizes count.

SPARKFLAME        our command, when it is not build/sparkflame
STOPWATCH_DIR     checkout of phil_stopwatch
STOPWATCH_PYTHON  a Python that has its plotly
A peer that is not there is left out.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

from measured_run import run

HERE = pathlib.Path(__file__).resolve().parent
OURS = os.environ.get("SPARKFLAME", str(HERE.parent / "build" / "sparkflame"))
STOPWATCH = os.environ.get("STOPWATCH_DIR", "")
STOPWATCH_PYTHON = os.environ.get("STOPWATCH_PYTHON", sys.executable)
SAMPLE = HERE.parent / "tests" / "data" / "event_log" / "single"
ORJSON = "import orjson, sys\nfor line in open(sys.argv[1], 'rb'):\n    orjson.loads(line)\n"
LOG_LINES = 20_000
CALLS = {
    "chunks": "SparkLogParser(sys.argv[2]).get_top_log_chunks()",
    "errors": "SparkLogParser(sys.argv[2]).extract_errors()",
    "tasks": "SparkLogParser(sys.argv[2]).extract_task_intervals()",
}


def make_events(path, tasks):
    """The log of tests/data with its first successful task's end repeated, each time with another id, time and index."""
    lines = SAMPLE.read_text().splitlines()
    start = next(line for line in lines if line.startswith('{"Event":"SparkListenerTaskStart"'))
    end = next(line for line in lines if line.startswith('{"Event":"SparkListenerTaskEnd"') and '"Reason":"Success"' in line)
    pair = [json.loads(start), json.loads(end)]
    with open(path, "w") as out:
        out.write("\n".join(lines[:-1]) + "\n")
        for number in range(tasks):
            for event in pair:
                event["Task Info"].update({"Task ID": 1000 + number, "Index": number})
                event["Task Info"]["Launch Time"] += 1
                out.write(json.dumps(event, separators=(",", ":")) + "\n")
        out.write(lines[-1] + "\n")


def make_interleaved(path):
    """Lines whose chunks Stopwatch looks for in time that grows with their square."""
    with open(path, "w") as out:
        for number in range(LOG_LINES):
            out.write(f"26/11/16 10:{number // 600 % 60:02}:{number // 10 % 60:02} INFO part{number % 977}: line {number % 313}\n")


def make_long_error(path):
    with open(path, "w") as out:
        out.write("26/11/16 10:00:00 ERROR part: it broke\n")
        for number in range(LOG_LINES):
            out.write(f"\tat org.example.Class{number}.method(Class.java:{number})\n")


def stopwatch(call, path):
    program = f"import sys; sys.path.insert(0, sys.argv[1]); from parsers import SparkLogParser; {CALLS[call]}"
    return [STOPWATCH_PYTHON, "-c", program, STOPWATCH, path] if STOPWATCH else None


def cases(folder, tasks, own_logs):
    """(name, {tool: command})"""
    has_orjson = importlib.util.find_spec("orjson") is not None
    events = folder / "events"
    make_events(events, tasks)
    yield f"events-{tasks}", {"sparkflame": [OURS, "report", "-q", "-o", os.devnull, events],
                              "orjson loop": [sys.executable, "-c", ORJSON, events] if has_orjson else None}
    for path in own_logs:
        yield f"tasks-{path.name}", {"sparkflame": [OURS, "logs", "-q", "--tasks", path], "Stopwatch": stopwatch("tasks", path)}
        yield f"chunks-{path.name}", {"sparkflame": [OURS, "logs", "-q", "-c", path], "Stopwatch": stopwatch("chunks", path)}
    interleaved, error = folder / "interleaved.log", folder / "long_error.log"
    make_interleaved(interleaved)
    make_long_error(error)
    yield "chunks-interleaved", {"sparkflame": [OURS, "logs", "-q", "-c", interleaved],
                                 "Stopwatch": stopwatch("chunks", interleaved)}
    yield "errors-long", {"sparkflame": [OURS, "logs", "-q", "-e", error], "Stopwatch": stopwatch("errors", error)}


def measure(name, commands, runs):
    best = {}
    for _ in range(runs):
        for tool, command in commands.items():
            if command is not None:
                seconds, megabytes, _ = run(list(map(str, command)))
                before = best.get(tool, (float("inf"), float("inf")))
                best[tool] = (min(before[0], seconds), min(before[1], megabytes))
    ours = best["sparkflame"][0]
    for tool, (seconds, megabytes) in best.items():
        print(f"| {name} | {tool} | {seconds:.3f} | {megabytes:.0f} | {seconds / max(ours, 0.001):.1f} |", flush=True)
    return {tool: {"cpu_seconds": seconds, "resident_mb": megabytes} for tool, (seconds, megabytes) in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--only", default="", help="only cases whose name contains this; the last two take Stopwatch a minute each")
    parser.add_argument("--folder", help="where inputs are made (default: one that is removed)")
    parser.add_argument("--json", help="write the figures to this file, too")
    options = parser.parse_args()
    own_logs = sorted(pathlib.Path(STOPWATCH, "analytics", "data").rglob("*.log.gz")) if STOPWATCH else []
    print("| case | tool | CPU s | resident MB | times ours |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.folder or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        figures = {name: measure(name, commands, options.runs) for name, commands in cases(folder, options.tasks, own_logs)
                   if options.only in name}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
