#!/usr/bin/env python3
"""Measure reading event logs and logs, with one thread and with all: report.py [--runs N] [--tasks N] [--only PART] [--folder FOLDER] [--json FILE].

Event logs are held against a loop in Python that does nothing but orjson.loads() on each line; logs against Phil's Stopwatch.
All run in turn, N times; the best CPU time (user and system), the best time on the wall and the least of the largest resident sizes count.

SPARKFLAME        our command, when it is not build/sparkflame
STOPWATCH_DIR     checkout of phil_stopwatch
STOPWATCH_PYTHON  a Python that has its plotly
A peer that is not there is left out.
"""

import argparse
import gzip
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
LARGE_LOG_BYTES = 200_000_000
CALLS = {
    "chunks": "SparkLogParser(sys.argv[2]).get_top_log_chunks()",
    "errors": "SparkLogParser(sys.argv[2]).extract_errors()",
    "tasks": "SparkLogParser(sys.argv[2]).extract_task_intervals()",
}


def make_events(path, tasks, of_sql=False):
    """The log of tests/data with its first successful task's end repeated, each time with another id, time and index. Of SQL: one that
    counted for operators of a query, before the query's end."""
    lines = SAMPLE.read_text().splitlines()
    start = next(line for line in lines if line.startswith('{"Event":"SparkListenerTaskStart"'))
    end = next(line for line in lines if line.startswith('{"Event":"SparkListenerTaskEnd"') and '"Reason":"Success"' in line
               and ('"Metadata":"sql"' in line or not of_sql))
    pair = [json.loads(start), json.loads(end)]
    behind = next(i for i, line in enumerate(lines) if "SQLExecutionEnd" in line) if of_sql else len(lines) - 1
    with open(path, "w") as out:
        out.write("\n".join(lines[:behind]) + "\n")
        for number in range(tasks):
            for event in pair:
                event["Task Info"].update({"Task ID": 1000 + number, "Index": number})
                event["Task Info"]["Launch Time"] += 1
                out.write(json.dumps(event, separators=(",", ":")) + "\n")
        out.write("\n".join(lines[behind:]) + "\n")


def make_large_log(path):
    """Logs of drivers and executors over and over, each time with other tasks."""
    logs = sorted((HERE.parent / "tests" / "data" / "advice").glob("*/*.log.gz"))
    text = b"".join(gzip.decompress(log.read_bytes()) for log in logs)
    with open(path, "wb") as out:
        while out.tell() < LARGE_LOG_BYTES:
            out.write(text.replace(b"(TID ", b"(TID %d" % (out.tell() // len(text) + 1)))


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
    of_sql = folder / "events_of_sql"
    make_events(of_sql, tasks, True)
    yield f"events-sql-{tasks}", {"sparkflame": [OURS, "report", "-q", "-o", os.devnull, of_sql],
                                  "orjson loop": [sys.executable, "-c", ORJSON, of_sql] if has_orjson else None}
    large = folder / "large.log"
    make_large_log(large)
    yield "threads-log-200MB", {"sparkflame": [OURS, "logs", "-q", "-o", os.devnull, large],
                                "one thread": [OURS, "logs", "-q", "-j", "1", "-o", os.devnull, large]}
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
                costs = run(list(map(str, command)))
                best[tool] = tuple(map(min, costs, best.get(tool, costs)))
    ours = best["sparkflame"][0]
    for tool, (seconds, megabytes, wall) in best.items():
        print(f"| {name} | {tool} | {seconds:.3f} | {wall:.3f} | {megabytes:.0f} | {seconds / max(ours, 0.001):.2f} |", flush=True)
    return {tool: {"cpu_seconds": seconds, "wall_seconds": wall, "resident_mb": megabytes} for tool, (seconds, megabytes, wall) in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--only", default="", help="only cases whose name contains this; the last two take Stopwatch a minute each")
    parser.add_argument("--folder", help="where inputs are made (default: one that is removed)")
    parser.add_argument("--json", help="write the figures to this file, too")
    options = parser.parse_args()
    own_logs = sorted(pathlib.Path(STOPWATCH, "analytics", "data").rglob("*.log.gz")) if STOPWATCH else []
    print("| case | tool | CPU s | wall s | resident MB | CPU times ours |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.folder or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        figures = {name: measure(name, commands, options.runs) for name, commands in cases(folder, options.tasks, own_logs)
                   if options.only in name}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
