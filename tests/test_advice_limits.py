"""Rules of advice that event logs alone decide, just beyond their limits and just below: made-up jobs whose figures are known exactly."""

import json

import pytest

from event_log_writer import EventLog, operator

MIB = 1 << 20


def stage_of(tasks, properties=None, cores=2, end=None, extra=()):
    """A log of one stage of these tasks."""
    log = EventLog(properties=properties)
    log.executor(0, cores)
    last = max(end_ms for _, _, end_ms, *_ in tasks)
    log.job(0, 0, last, [log.stage(0, 0, last, tasks)])
    log.events += extra
    return log, end or last


def one_task(took, **metrics):
    return stage_of([(0, 0, took, metrics)], cores=1)


def skewed(slowest):
    return stage_of([(0, 0, 2000)] * 4 + [(0, 0, slowest)], cores=5)


def spilled(spilled_bytes, read):
    return one_task(60_000, **{"Disk Bytes Spilled": spilled_bytes, "Input Metrics": {"Bytes Read": read, "Records Read": 1}})


def tiny(count, run):
    return stage_of([(0, 90 * index, 90 * index + 90, {"Executor Run Time": run, "Executor CPU Time": run * 10**6}) for index in range(count)], cores=1)


def waiting(cpu):
    return one_task(10_000, **{"Executor CPU Time": cpu * 10**6})


def ended_badly(reason, killed=False, took=6000):
    """A task of 50 s, and an attempt that ended so."""
    log = EventLog()
    log.executor(0, 2)
    info, tasks = log.stage(0, 0, 50_000, [(0, 0, 50_000)])
    bad = log.task(0, 0, 0, 0, took, reason="TaskKilled" if killed else reason)
    if killed:
        bad["Task End Reason"] = {"Reason": "TaskKilled", "Kill Reason": reason}
        bad["Task Info"].update({"Killed": True, "Failed": False, "Speculative": True})
    log.job(0, 0, 50_000, [(info, [*tasks, bad])])
    return log, 50_000


def files(kind, count, size):
    names = {"read": ("number of files read", "size of files read"), "written": ("number of written files", "written output")}[kind]
    log, end = stage_of([(0, 0, 20_000)])
    log.query(0, 0, 20_000, operator("Scan parquet ", counters=[(names[0], 1), (names[1], 2)]), [(1, count), (2, count * size)])
    return log, end


def heap(used, gc=0):
    """An executor of 2 GiB; `gc` of its ten seconds were collection."""
    peaks = {"Event": "SparkListenerStageExecutorMetrics", "Executor ID": "0", "Stage ID": 0, "Stage Attempt ID": 0,
             "Executor Metrics": {"JVMHeapMemory": used}}
    return stage_of([(0, 0, 10_000, {"JVM GC Time": gc})], {"spark.executor.memory": "2g"}, 1, extra=[peaks])


def removed(reason, at=10_000):
    log, end = stage_of([(0, 0, 20_000)], end=20_000)
    log.executor(7, 1)
    log.executor_removed(7, at, reason)
    return log, end


def idle(busy):
    """Four cores for a minute."""
    return stage_of([(0, 0, 30_000), (0, 30_000, 60_000), (0, 0, 60_000), *([(0, 0, busy)] if busy else [])], cores=4)


def pausing(gap):
    """Two jobs, and between them the driver alone; 100 s in all."""
    log = EventLog()
    log.executor(0, 1)
    log.job(0, 0, 50_000, [log.stage(0, 0, 50_000, [(0, 0, 50_000)])])
    log.job(1, 50_000 + gap, 100_000, [log.stage(1, 50_000 + gap, 100_000, [(0, 50_000 + gap, 100_000)])])
    return log, 100_000


# Rule: what triggers it, and what almost does.
LIMITS = {
    "skew": (lambda: skewed(8000), lambda: skewed(7900)),
    "spill": (lambda: spilled(64 * MIB, 640 * MIB), lambda: spilled(64 * MIB, 641 * MIB)),
    "gc": (lambda: one_task(10_000, **{"JVM GC Time": 1000}), lambda: one_task(10_000, **{"JVM GC Time": 990})),
    "tiny-tasks": (lambda: tiny(500, 71), lambda: tiny(500, 72)),
    "few-partitions": (lambda: stage_of([(0, 0, 10_000)]), lambda: stage_of([(0, 0, 9990)])),
    "waiting": (lambda: waiting(2990), lambda: waiting(3010)),
    "speculation": (lambda: ended_badly("another attempt succeeded", True), lambda: ended_badly("another attempt succeeded", True, 4990)),
    "failures": (lambda: ended_badly("ExceptionFailure"), lambda: ended_badly("another attempt succeeded", True)),
    "large-results": (lambda: one_task(1000, **{"Result Size": 32 * MIB}), lambda: one_task(1000, **{"Result Size": 32 * MIB - 1})),
    "small-files": (lambda: files("written", 100, MIB - 1), lambda: files("written", 99, MIB - 1)),
    "small-files, many": (lambda: files("read", 1000, 16 * MIB - 1), lambda: files("read", 1000, 16 * MIB)),
    "memory-oversized": (lambda: heap(716 * MIB), lambda: heap(718 * MIB)),
    "memory-undersized": (lambda: heap(1640 * MIB, 1010), lambda: heap(1640 * MIB, 1000)),
    "executor-lost": (lambda: removed("Command exited with code 137"), lambda: removed("Executor decommission: spot instance")),
    "idle-cores": (lambda: idle(0), lambda: idle(1000)),
    "driver-bound": (lambda: pausing(30_000), lambda: pausing(29_900)),
}


def rules_of(sparkflame, path, made):
    log, end = made
    run = sparkflame("report", "-f", "json", log.write(path, end))
    assert run.returncode == 0, run.stderr
    return {item["rule"] for item in json.loads(run.stdout)["advice"]}


@pytest.mark.parametrize("name", LIMITS)
def test_a_rule_fires_from_its_limit_on(sparkflame, tmp_path, name):
    beyond, below = LIMITS[name]
    rule = name.split(",")[0]
    assert rule in rules_of(sparkflame, tmp_path / "beyond", beyond())
    assert rule not in rules_of(sparkflame, tmp_path / "below", below())


def healthy(application_seconds=120):
    """Four stages whose tasks keep eight cores busy and work; half a second of the driver between them."""
    log, at = EventLog(properties={"spark.executor.memory": "4g"}), 3000
    for number in (0, 1):
        log.executor(number, 4, 1000)
    metrics = {"JVM GC Time": 200, "Input Metrics": {"Bytes Read": 128 * MIB, "Records Read": 1_000_000}, "Result Size": 2000,
               "Shuffle Write Metrics": {"Shuffle Bytes Written": 10 * MIB, "Shuffle Write Time": 10**8, "Shuffle Records Written": 10_000}}
    for number in range(application_seconds // 30):
        tasks = [(index % 2, at + index // 8 * 9000, at + index // 8 * 9000 + 8700 + index % 8 * 40, metrics) for index in range(24)]
        log.job(number, at, at + 28_000, [log.stage(number, at, at + 28_000, tasks)])
        at += 28_500
    log.events.append({"Event": "SparkListenerStageExecutorMetrics", "Executor ID": "0", "Stage ID": 0, "Stage Attempt ID": 0,
                       "Executor Metrics": {"JVMHeapMemory": 2500 * MIB}})
    return log, at


def test_a_healthy_job_gets_no_advice(sparkflame, tmp_path):
    log, end = healthy()
    path = log.write(tmp_path / "healthy", end)
    assert json.loads(sparkflame("report", "-f", "json", path).stdout)["advice"] == []
    assert "Do this first: nothing; no rule found anything that would save a second" in sparkflame("report", path).stdout.decode()


def test_waiting_for_executors_is_not_idle_time_to_save(sparkflame, tmp_path):
    """Two minutes of four cores before the first job; then a minute with work for one."""
    log = EventLog()
    log.executor(0, 4)
    log.job(0, 120_000, 180_000, [log.stage(0, 120_000, 180_000, [(0, 120_000, 180_000)])])
    run = sparkflame("report", "-f", "json", log.write(tmp_path / "late", 180_000))
    (item,) = [item for item in json.loads(run.stdout)["advice"] if item["rule"] == "idle-cores"]
    assert (item["saved_core_ms"], item["certainty"]) == (180_000 - 15_000, "medium")
