#!/usr/bin/env python3
"""Compare reports with what Spark's own history server answers for the same event logs: SPARK_SOURCE=checkout history_server.py.

Reads spark-events, HistoryServerExpectations and HistoryServerSuite.scala, which says what each expectation is of.
"""

import calendar
import json
import os
import re
import subprocess
import sys
import time

from folded_outside import SPARKFLAME, folder_from

METRICS = {"executorDeserializeTime": "deserialize_ms", "executorDeserializeCpuTime": "deserialize_cpu_ns",
           "executorRunTime": "run_ms", "executorCpuTime": "cpu_ns", "resultSize": "result_bytes", "jvmGcTime": "gc_ms",
           "resultSerializationTime": "result_serialization_ms", "memoryBytesSpilled": "memory_spilled_bytes",
           "diskBytesSpilled": "disk_spilled_bytes"}
STAGE_METRICS = {**METRICS, "inputBytes": "input_bytes", "inputRecords": "input_records", "outputBytes": "output_bytes",
                 "outputRecords": "output_records", "shuffleRemoteBlocksFetched": "shuffle_remote_blocks",
                 "shuffleLocalBlocksFetched": "shuffle_local_blocks", "shuffleFetchWaitTime": "shuffle_fetch_wait_ms",
                 "shuffleRemoteBytesRead": "shuffle_remote_bytes", "shuffleLocalBytesRead": "shuffle_local_bytes",
                 "shuffleRemoteBytesReadToDisk": "shuffle_remote_disk_bytes",
                 "shuffleReadRecords": "shuffle_read_records", "shuffleWriteBytes": "shuffle_write_bytes",
                 "shuffleWriteTime": "shuffle_write_ns", "shuffleWriteRecords": "shuffle_write_records"}
TASK_METRICS = {("inputMetrics", "bytesRead"): "input_bytes", ("inputMetrics", "recordsRead"): "input_records",
                ("outputMetrics", "bytesWritten"): "output_bytes", ("outputMetrics", "recordsWritten"): "output_records",
                ("shuffleReadMetrics", "remoteBlocksFetched"): "shuffle_remote_blocks",
                ("shuffleReadMetrics", "localBlocksFetched"): "shuffle_local_blocks",
                ("shuffleReadMetrics", "fetchWaitTime"): "shuffle_fetch_wait_ms",
                ("shuffleReadMetrics", "remoteBytesRead"): "shuffle_remote_bytes",
                ("shuffleReadMetrics", "remoteBytesReadToDisk"): "shuffle_remote_disk_bytes",
                ("shuffleReadMetrics", "localBytesRead"): "shuffle_local_bytes",
                ("shuffleReadMetrics", "recordsRead"): "shuffle_read_records",
                ("shuffleWriteMetrics", "bytesWritten"): "shuffle_write_bytes",
                ("shuffleWriteMetrics", "writeTime"): "shuffle_write_ns",
                ("shuffleWriteMetrics", "recordsWritten"): "shuffle_write_records"}
JOB_STATUS = {"SUCCEEDED": "succeeded", "FAILED": "failed", "RUNNING": "running"}
TASK_STATUS = {"SUCCESS": "succeeded", "FAILED": "failed", "KILLED": "killed", "RUNNING": "running"}


def milliseconds(text):
    """"2015-02-03T16:43:07.191GMT"; None for nothing."""
    if text is None:
        return None
    whole = calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))
    return whole * 1000 + int(text[20:23])


def of_job(expected):
    return {"id": expected["jobId"], "status": JOB_STATUS[expected["status"]], "stages": sorted(expected["stageIds"]),
            "tasks": expected["numTasks"], "succeeded": expected["numCompletedTasks"],
            "failed": expected["numFailedTasks"], "killed": expected["numKilledTasks"],
            "skipped": expected["numSkippedTasks"], "active": expected["numActiveTasks"],
            "submitted_ms": milliseconds(expected.get("submissionTime")),
            "completed_ms": milliseconds(expected.get("completionTime"))}


def of_stage(expected):
    told = {"id": expected["stageId"], "attempt": expected["attemptId"], "status": expected["status"].lower(),
            "tasks": expected["numTasks"], "succeeded": expected["numCompleteTasks"],
            "failed": expected["numFailedTasks"], "killed": expected["numKilledTasks"],
            "active": expected["numActiveTasks"], "name": expected["name"],
            "submitted_ms": milliseconds(expected.get("submissionTime")),
            "completed_ms": milliseconds(expected.get("completionTime"))}
    return {**told, **{ours: expected[theirs] for theirs, ours in STAGE_METRICS.items()}}


def of_task(expected):
    told = {"id": expected["taskId"], "index": expected["index"], "attempt": expected["attempt"],
            "partition": expected["partitionId"], "executor": expected["executorId"],
            "status": TASK_STATUS[expected["status"]], "locality": expected["taskLocality"],
            "speculative": expected["speculative"], "launch_ms": milliseconds(expected["launchTime"])}
    if "duration" in expected:
        told["duration_ms"] = expected["duration"]
    metrics = expected.get("taskMetrics")
    if metrics:
        told.update({ours: metrics[theirs] for theirs, ours in METRICS.items()})
        told.update({ours: metrics[group][key] for (group, key), ours in TASK_METRICS.items()})
    return told


def of_executor(expected):
    told = {"id": expected["id"], "host": expected["hostPort"].split(":")[0], "cores": expected["totalCores"],
            "removed_ms": milliseconds(expected.get("removeTime")), "removed_reason": expected.get("removeReason")}
    if expected["id"] != "driver":
        told["added_ms"] = milliseconds(expected["addTime"])
    return told


def ours(kind, report, stage=None):
    """What the report says, by id."""
    if kind == "jobs":
        return {job["id"]: {**job, "stages": sorted(job["stages"])} for job in report["jobs"]}
    if kind == "stages":
        return {(one["id"], one["attempt"]): one for one in report["stages"]}
    if kind == "executors":
        return {one["id"]: one for one in report["executors"]}
    return {task["id"]: {**task, "duration_ms": task["finish_ms"] - task["launch_ms"]
                         if task["finish_ms"] is not None else None}
            for task in report["tasks"] if (task["stage"], task["stage_attempt"]) == stage}


def cases(suite):
    """(name, application, attempt, what, stage) of each expectation that is about jobs, stages, tasks or executors."""
    for name, address in re.findall(r'"([^"]+)" ->\s*"(applications/[^"]+)"', suite):
        match = re.fullmatch(r"applications/([\w-]+?)(?:/(\d))?/(jobs|stages|executors|allexecutors)(/.*?)?/?(?:\?.*)?", address)
        if not match:
            continue
        application, attempt, what, rest = match.groups()
        numbers = re.match(r"/(\d+)(?:/(\d+))?(/taskList)?$", rest or "")
        if what == "stages" and numbers and numbers[3]:
            yield name, application, attempt, "tasks", (int(numbers[1]), int(numbers[2]))
        elif what in ("jobs", "stages") and (not rest or numbers):
            yield name, application, attempt, what, None
        elif "executors" in what and not rest:
            yield name, application, attempt, "executors", None


def read_reports(folder):
    reports = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        run = subprocess.run([SPARKFLAME, "report", "-q", "-f", "json", path], capture_output=True, check=False)
        if run.stdout:
            report = json.loads(run.stdout)
            reports[report["application"]["id"], report["application"]["attempt"]] = report
            reports.setdefault((report["application"]["id"], None), report)
    return reports


def compare(expected, found, places):
    """Each thing that differs, as (what, key, expected, found)."""
    for one in expected:
        key = (one["id"], one["attempt"]) if places == "stages" else one["id"]
        if key not in found:
            yield key, "all of it", "there", "missing"
            continue
        for name, value in one.items():
            if found[key].get(name, 0 if name.endswith(("_ms", "_ns", "_bytes", "_records", "_blocks")) else None) != value:
                yield key, name, value, found[key].get(name)


def main():
    resources = folder_from("SPARK_SOURCE") / "core" / "src" / "test"
    suite = resources / "scala/org/apache/spark/deploy/history/HistoryServerSuite.scala"
    reports = read_reports(resources / "resources" / "spark-events")
    turn = {"jobs": of_job, "stages": of_stage, "tasks": of_task, "executors": of_executor}
    equal = differ = 0
    for name, application, attempt, what, stage in cases(suite.read_text()):
        path = resources / "resources/HistoryServerExpectations" / (re.sub(r"\W", "_", name) + "_expectation.json")
        if not path.exists():
            print(f"ABSENT  {name}")
            continue
        answer = json.loads(path.read_text())
        expected = [turn[what](one) for one in (answer if isinstance(answer, list) else [answer])]
        found = ours(what, reports[application, attempt], stage)
        problems = list(compare(expected, found, what))
        equal, differ = equal + (not problems), differ + bool(problems)
        print(f"{'DIFFERS' if problems else 'equal  '} {name}: {len(expected)} {what}")
        for key, member, want, got in problems[:int(os.environ.get("SHOWN", "6"))]:
            print(f"    {key} {member}: expected {want!r}, got {got!r}")
    print(f"{equal} equal, {differ} differ")
    return 1 if differ or not equal else 0


if __name__ == "__main__":
    sys.exit(main())
