"""Rules of advice just beyond their limits and just below: made-up jobs whose figures are known exactly. Rules on plans have theirs in
recorded queries (test_advice.py)."""

import json
import pathlib
import re

import pytest

import pprof_message
from event_log_writer import START_MS, EventLog, operator

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


# ---- samples, metrics and logs beside the event log ----


def samples(*stacks, event=("cpu", "count")):
    """A profile of stage 0 in pprof's format; stacks: (value, frames from outermost as (name, file, line))."""
    profile = pprof_message.profile_class()()
    texts = profile.string_table
    texts.append("")

    def text(content):
        if content not in texts:
            texts.append(content)
        return list(texts).index(content)
    profile.sample_type.add(type=text(event[0]), unit=text(event[1]))
    for number, name in enumerate(("[compiled]", "[Python]"), 1):
        profile.mapping.add(id=number, filename=text(name))
    for value, frames in stacks:
        sample = profile.sample.add(value=[value])
        sample.label.add(key=text("stage"), str=text("0"))
        for name, file, line in reversed(frames):
            number = len(profile.location) + 1
            profile.function.add(id=number, name=text(name), filename=text(file))
            location = profile.location.add(id=number, mapping_id=2 if file.endswith(".py") else 1)
            location.line.add(function_id=number, line=line)
            sample.location_id.append(number)
    return profile.SerializeToString()


def method(name):
    return [("java/lang/Thread.run", "", 0), (name, "", 0)]


OTHER = method("org/example/Job.work")


def with_samples(*stacks, **options):
    return *one_task(10_000), {"samples.pb": samples(*stacks, **options)}


def code(name, hot, others):
    return with_samples((hot, method(name)), (others, OTHER))


def hot_line(hot):
    """Of 1,000 samples of Python workers, so many in one line, and no other has as many."""
    lines = [(hot, 7), *((100, 10 + number) for number in range((1000 - hot) // 100)), ((1000 - hot) % 100, 99)]
    return with_samples(*((count, [("main", "/opt/job.py", 1), ("judge", "/opt/job.py", line)]) for count, line in lines if count > 0))


def locked(milliseconds):
    return with_samples((milliseconds * 10**6, method("org.example.Shared")), event=("delay", "nanoseconds"))


def busy_hosts(load, cpu=5000):
    """Tasks that wait for half of their time."""
    record = {"epochMillis": START_MS + 5000, "name": "executor 0", "role": "executor", "systemCpuLoad": load}
    return *waiting(cpu), {"metrics.json": json.dumps(record).encode() + b"\n"}


def python_bytes(count):
    log = EventLog()
    log.executor(0, 1)
    info, tasks = log.stage(0, 0, 10_000, [(0, 0, 10_000)])
    info["Accumulables"] = [{"ID": 1, "Name": "data sent to Python workers", "Value": count, "Metadata": "sql"}]
    log.job(0, 0, 10_000, [(info, tasks)])
    return log, 10_000


def python_memory(grown):
    """A worker that grows to so many MiB, of 600."""
    records = [{"epochMillis": START_MS + 5000 * step, "name": "Python 7 of executor 0", "role": "python", "vmRSS": size * MIB}
               for step, size in enumerate((50, grown))]
    return *stage_of([(0, 0, 20_000)], {"spark.executor.memoryOverhead": "600m"}), {"metrics.json": "".join(
        json.dumps(record) + "\n" for record in records).encode()}


def logged(message, times):
    lines = "".join(f"23/11/14 22:13:{20 + number // 1000:02} INFO shop: {message} {number}\n" for number in range(times))
    return *one_task(10_000), {"driver.log": lines.encode()}


def again(attempt):
    """A stage that ran; its second attempt, or another stage."""
    log = EventLog()
    log.executor(0, 1)
    log.job(0, 0, 10_000, [log.stage(0, 0, 10_000, [(0, 0, 10_000)])])
    info, tasks = log.stage(0 if attempt else 1, 10_000, 20_000, [(0, 10_000, 20_000)])
    for one in (info, *tasks):
        one["Stage Attempt ID"] = attempt
    log.job(1, 10_000, 20_000, [(info, tasks)])
    return log, 20_000


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
    "regex": (lambda: code("java/util/regex/Pattern.match", 150, 850), lambda: code("java/util/regex/Pattern.match", 149, 851)),
    "regex, few samples": (lambda: code("java/util/regex/Pattern.match", 50, 50), lambda: code("java/util/regex/Pattern.match", 49, 51)),
    "date-parsing": (lambda: code("java/time/format/Parsed.resolve", 150, 850), lambda: code("java/time/format/Parsed.resolve", 149, 851)),
    "reflection": (lambda: code("java/lang/reflect/Method.invoke", 150, 850), lambda: code("java/lang/reflect/Method.invoke", 149, 851)),
    "logging": (lambda: code("org/slf4j/Logger.info", 150, 850), lambda: code("org/slf4j/Logger.info", 149, 851)),
    "udf-hot-line": (lambda: hot_line(300), lambda: hot_line(299)),
    "locks": (lambda: locked(1000), lambda: locked(999)),
    "busy-hosts": (lambda: busy_hosts(0.9), lambda: busy_hosts(0.89)),
    "busy-hosts, waiting": (lambda: busy_hosts(0.9), lambda: busy_hosts(0.9, 5010)),
    "python-serialisation": (lambda: python_bytes(64 * MIB), lambda: python_bytes(64 * MIB - 1)),
    "python-memory": (lambda: python_memory(480), lambda: python_memory(479)),
    "repeated-setup": (lambda: logged("Connecting to", 300), lambda: logged("Connecting to", 299)),
    "chatty-log": (lambda: logged("No discount for", 300), lambda: logged("No discount for", 299)),
    "stage-retries": (lambda: again(1), lambda: again(0)),
}


def rules_of(sparkflame, path, made):
    log, end, *files = made
    path.mkdir()
    log.write(path / "events", end)
    for name, content in files[0].items() if files else ():
        (path / name).write_bytes(content)
    run = sparkflame("report", "-f", "json", path)
    assert run.returncode == 0, run.stderr
    return {item["rule"] for item in json.loads(run.stdout)["advice"]}


@pytest.mark.parametrize("name", LIMITS)
def test_a_rule_fires_from_its_limit_on(sparkflame, tmp_path, name):
    beyond, below = LIMITS[name]
    rule = name.split(",")[0]
    assert rule in rules_of(sparkflame, tmp_path / "beyond", beyond())
    assert rule not in rules_of(sparkflame, tmp_path / "below", below())


def test_each_rule_has_a_limit():
    """Here, or in the recorded queries of which one almost triggers it."""
    root = pathlib.Path(__file__).resolve().parent
    queries = re.findall(r'"almost ([a-z-]+)"', (root / "spark_jobs" / "plans.py").read_text())
    rules = re.findall(r'^(?:STAGE|APPLICATION)_RULE\("([^"]+)"', (root.parent / "src" / "spark" / "advice" / "advice_rules.def").read_text(), re.MULTILINE)
    assert {name.split(",")[0] for name in LIMITS} | set(queries) == set(rules)


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
