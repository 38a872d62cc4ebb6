#!/usr/bin/env python3
"""Make tests/data/report/driver.000001.jfr: samples and metrics of the application whose event log is
tests/data/event_log/single, task by task, at moments when the log says that they ran.

Every task has 10 CPU samples of Job.work and one of the wall clock; in Python's stage 4 they are Python's. Task 10, the slowest of stage 2, has 30 more,
in Job.sort, and waits in native code.

tests/data/report_python/driver.000001.jfr: the tasks of stage 4 only, with what their Java threads do around it. Each has 4 wall clock samples that wait
for the worker, one of Java at work, and of the worker 6 CPU samples in two methods."""

import json
import pathlib
import subprocess
import sys

import jfr_builder

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLOW_TASK = 10
PYTHON_STAGE = 4
FRAME_TYPES = [*jfr_builder.FRAME_TYPES, "Python"]
WORK, SORT, PYTHON = 1, 2, 3
RUNNABLE, SLEEPING = 6, 7


def build(report):
    types = jfr_builder.standard_metadata()
    types.add("sparkflame.ProcessMetrics", [("startTime", "long"), ("heapUsed", "long"), ("gcTime", "long"), ("userTime", "long"),
                                            ("systemTime", "long"), ("residentSize", "long")], True)
    start_ms = report["application"]["start_ms"]
    chunk = jfr_builder.Chunk(types, start_ns=start_ms * 1_000_000, start_ticks=0, ticks_per_second=1000)
    chunk.standard_constants(
        symbols={1: "java/lang/Thread", 2: "run", 3: "org/example/Job", 4: "work", 5: "sort", 6: "", 7: "futex_wait", 8: "worker.py.parse"},
        classes={1: 1, 2: 3, 3: 6}, methods={1: (1, 2), 2: (2, 4), 3: (2, 5), 4: (3, 7), 5: (3, 8)},
        threads={100 + task["id"]: (f"Executor task launch worker-{task['id'] % 2}", 100 + task["id"] % 2) for task in report["tasks"]},
        frame_types=FRAME_TYPES)
    chunk.stacks({WORK: [(2, 12, 1), (1, 840, 0)], SORT: [(4, 0, 3), (3, 30, 1), (2, 14, 1), (1, 840, 0)], PYTHON: [(5, 7, 7)]})
    for task in report["tasks"]:
        thread, launch = 100 + task["id"], task["launch_ms"] - start_ms
        took = task["finish_ms"] - task["launch_ms"]
        chunk.add("sparkflame.Labels", launch, thread,
                  jfr_builder.utf8(f"stage={task['stage']};stage_attempt={task['stage_attempt']};task={task['id']}"))
        for i in range(10):
            stack = PYTHON if task["stage"] == PYTHON_STAGE else WORK
            chunk.add("jdk.ExecutionSample", launch + 1 + took * i // 11, thread, stack, 0)
        for i in range(30 if task["id"] == SLOW_TASK else 0):
            chunk.add("jdk.ExecutionSample", launch + 2 + took * i // 31, thread, SORT, 0)
        chunk.add("profiler.WallClockSample", launch + took // 2, thread, WORK, 7, 5)
        chunk.add("sparkflame.Labels", launch + took, thread, jfr_builder.utf8(""))
    for second in range(0, (report["application"]["end_ms"] - start_ms) // 1000, 4):
        chunk.add("sparkflame.ProcessMetrics", second * 1000, (100 + second % 40) << 20, second * 10_000_000, second * 500_000_000,
                  second * 100_000_000, 300 << 20)
    return chunk.bytes()


def build_python(report):
    types = jfr_builder.standard_metadata()
    start_ms = report["application"]["start_ms"]
    chunk = jfr_builder.Chunk(types, start_ns=start_ms * 1_000_000, start_ticks=0, ticks_per_second=1000)
    tasks = [task for task in report["tasks"] if task["stage"] == PYTHON_STAGE]
    chunk.standard_constants(
        symbols={1: "java/lang/Thread", 2: "run", 3: "org/apache/spark/api/python/PythonRunner$$anon$3", 4: "read", 5: "java/io/DataInputStream", 6: "readInt",
                 7: "", 8: "<module>", 9: "parse", 10: "<lambda>", 11: "worker.py", 12: "nightly.py"},
        classes={1: 1, 2: 3, 3: 5, 4: 11, 5: 12},
        methods={1: (1, 2), 2: (2, 4), 3: (3, 6), 4: (4, 8), 5: (5, 9), 6: (5, 10)},
        threads={100 + task["id"]: (f"Executor task launch worker-{task['id'] % 2}", 100 + task["id"] % 2) for task in tasks},
        frame_types=FRAME_TYPES)
    wait, java, parse, anonymous = 1, 2, 3, 4
    chunk.stacks({wait: [(3, 1, 1), (2, 80, 1), (1, 840, 0)], java: [(2, 90, 1), (1, 840, 0)],
                  parse: [(5, 7, 7), (4, 3, 7)], anonymous: [(6, 9, 7), (5, 8, 7), (4, 3, 7)]})
    for task in tasks:
        thread, launch = 100 + task["id"], task["launch_ms"] - start_ms
        chunk.add("sparkflame.Labels", launch, thread, jfr_builder.utf8(f"stage={PYTHON_STAGE};stage_attempt=0;task={task['id']}"))
        for i, (stack, state) in enumerate([(wait, SLEEPING)] * 4 + [(java, RUNNABLE)]):
            chunk.add("profiler.WallClockSample", launch + 1 + i, thread, stack, state, 1)
        for i, stack in enumerate([parse] * 4 + [anonymous] * 2):
            chunk.add("jdk.ExecutionSample", launch + 1 + i, thread, stack, 0)
        chunk.add("sparkflame.Labels", task["finish_ms"] - start_ms, thread, jfr_builder.utf8(""))
    return chunk.bytes()


def main():
    sparkflame = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "sparkflame"
    log = ROOT / "tests" / "data" / "event_log" / "single"
    report = json.loads(subprocess.run([sparkflame, "report", "-f", "json", log], stdin=subprocess.DEVNULL, check=True, capture_output=True).stdout)
    for name, build_one in [("report", build), ("report_python", build_python)]:
        folder = ROOT / "tests" / "data" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "driver.000001.jfr").write_bytes(build_one(report))


if __name__ == "__main__":
    main()
