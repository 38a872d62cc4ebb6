#!/usr/bin/env python3
"""report_input.py FOLDER TASKS SAMPLES: the event log of an application with so many tasks on 50 executors of 4 cores, and a
recording with so many samples of them, to measure the report's page (report_open.mjs)."""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import jfr_builder  # noqa: E402

START_MS = 1_700_000_000_000
EXECUTORS, CORES, STAGES = 50, 4, 100
METHODS, STACKS, DEPTH = 2000, 4000, 40


def task_end(task):
    metrics = {"Executor Deserialize Time": 3, "Executor Run Time": task["took"], "Executor CPU Time": task["took"] * 600_000, "JVM GC Time": task["took"] // 20,
               "Result Size": 1000, "Disk Bytes Spilled": 0, "Memory Bytes Spilled": 0,
               "Shuffle Read Metrics": {"Remote Bytes Read": 1000, "Local Bytes Read": 100, "Fetch Wait Time": 1, "Total Records Read": 10}}
    info = {"Task ID": task["id"], "Index": task["index"], "Attempt": 0, "Launch Time": task["launch"], "Executor ID": task["executor"], "Host": "h",
            "Locality": "ANY", "Speculative": False, "Getting Result Time": 0, "Finish Time": task["launch"] + task["took"], "Failed": False, "Killed": False}
    return {"Event": "SparkListenerTaskEnd", "Stage ID": task["stage"], "Stage Attempt ID": 0, "Task Type": "ResultTask",
            "Task End Reason": {"Reason": "Success"}, "Task Info": info, "Task Metrics": metrics}


def schedule(count, chance):
    """Tasks, each on the core that is free first."""
    free = [[START_MS + 1000, f"{core // CORES}"] for core in range(EXECUTORS * CORES)]
    per_stage = max(1, count // STAGES)
    for number in range(count):
        core = free[number % len(free)]
        took = int(chance.expovariate(1 / 900)) + 20
        yield {"id": number, "stage": min(number // per_stage, STAGES - 1), "index": number % per_stage, "launch": core[0], "took": took, "executor": core[1]}
        core[0] += took + 5


def write_log(path, tasks):
    end = max(task["launch"] + task["took"] for task in tasks) + 1000
    with open(path, "w", encoding="utf-8") as out:
        def put(event):
            out.write(json.dumps(event, separators=(",", ":")) + "\n")
        put({"Event": "SparkListenerLogStart", "Spark Version": "4.0.1"})
        put({"Event": "SparkListenerApplicationStart", "App Name": "many tasks", "App ID": "app-1", "Timestamp": START_MS, "User": "u"})
        for number in range(EXECUTORS):
            put({"Event": "SparkListenerExecutorAdded", "Timestamp": START_MS, "Executor ID": str(number), "Executor Info": {"Host": "h", "Total Cores": CORES}})
        for stage in range(STAGES):
            own = [task for task in tasks if task["stage"] == stage]
            if own:
                info = {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": f"map at Job.scala:{stage}", "Number of Tasks": len(own), "RDD Info": [], "Parent IDs": [],
                        "Details": "", "Submission Time": own[0]["launch"], "Completion Time": max(task["launch"] + task["took"] for task in own)}
                put({"Event": "SparkListenerStageCompleted", "Stage Info": info})
        for task in tasks:
            put(task_end(task))
        put({"Event": "SparkListenerApplicationEnd", "Timestamp": end})


def samples_of(task, count, kind, thread, ends, chance):
    """The events of a task's samples, with times of four bytes: ten million of them have to be made."""
    parts, start, took, bits = [], task["launch"] - START_MS, task["took"], chance.getrandbits
    for i in range(count):
        time = start + took * i // count
        end = ends[bits(12)]
        parts.append(bytes((5 + len(kind) + len(thread) + len(end),)) + kind
                     + bytes((time & 127 | 128, time >> 7 & 127 | 128, time >> 14 & 127 | 128, time >> 21 & 127)) + thread + end)
    return b"".join(parts)


def write_recording(path, tasks, samples, chance):
    types = jfr_builder.standard_metadata()
    chunk = jfr_builder.Chunk(types, start_ns=START_MS * 1_000_000, start_ticks=0, ticks_per_second=1000)
    threads = {100 + number: (f"Executor task launch worker-{number}", 100 + number) for number in range(EXECUTORS * CORES)}
    chunk.standard_constants(symbols={1: "run", **{10 + i: f"org/example/part{i % 37}/Class{i}" for i in range(METHODS)}}, classes={10 + i: 10 + i for i in range(METHODS)},
                             methods={10 + i: (10 + i, 1) for i in range(METHODS)}, threads=threads)
    stacks, path_so_far = {}, []
    for number in range(STACKS):
        path_so_far = path_so_far[:chance.randrange(1, DEPTH)] if path_so_far else []
        path_so_far += [10 + int(METHODS * chance.random() ** 2) for _ in range(chance.randrange(1, DEPTH) + 1)]
        path_so_far = path_so_far[:DEPTH * 2]
        stacks[number + 1] = [(method, method % 90, 1) for method in reversed(path_so_far)]
    chunk.stacks(stacks)
    each = max(1, samples // len(tasks))
    kind = jfr_builder.varint(types.id("jdk.ExecutionSample"))
    ends = [jfr_builder.varint(1 + int(STACKS * (i / 4096) ** 3)) + b"\0" for i in range(4096)]
    done = 0
    for task in tasks:
        thread = 100 + int(task["executor"]) * CORES + task["id"] % CORES
        chunk.add("sparkflame.Labels", task["launch"] - START_MS, thread, jfr_builder.utf8(f"stage={task['stage']};stage_attempt=0;task={task['id']}"))
        chunk.events.append(samples_of(task, each, kind, jfr_builder.varint(thread), ends, chance))
        done += each
        if done >= samples:
            break
    pathlib.Path(path).write_bytes(chunk.bytes())


def main():
    folder, count, samples = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(1)
    tasks = list(schedule(count, chance))
    write_log(folder / "events", tasks)
    if samples > 0:
        write_recording(folder / "samples.jfr", tasks, samples, chance)


if __name__ == "__main__":
    main()
