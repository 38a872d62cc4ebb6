"""sparkflame report, on the event log of a known job (make_event_log.py)."""

import contextlib
import copy
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess

import pytest

import jfr_builder

TESTS = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def log(data):
    return data / "event_log" / "single"


def report(sparkflame, *arguments):
    run = sparkflame("report", "-f", "json", *arguments)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_application(sparkflame, log):
    application = report(sparkflame, log)["application"]
    assert application["name"] == "event log of a test"
    assert application["spark_version"] == "4.0.1"
    assert application["id"].startswith("local-")
    assert application["end_ms"] > application["start_ms"] > 1_700_000_000_000


def test_executors(sparkflame, log):
    (executor,) = report(sparkflame, log)["executors"]
    assert (executor["id"], executor["host"], executor["cores"]) == ("driver", "worker-1", 2)


def test_jobs(sparkflame, log):
    jobs = report(sparkflame, log)["jobs"]
    assert [job["id"] for job in jobs] == list(range(6))
    assert [job["status"] for job in jobs] == ["succeeded"] * 5 + ["failed"]
    assert [job["stages"] for job in jobs][:3] == [[0, 1], [2], [3]]
    assert all(job["completed_ms"] >= job["submitted_ms"] for job in jobs)
    assert "always bad" in jobs[5]["exception"]
    assert jobs[0]["sql_execution"] is None and jobs[3]["sql_execution"] == 0


def test_stages(sparkflame, log):
    stages = {stage["id"]: stage for stage in report(sparkflame, log)["stages"]}
    assert [stages[number]["tasks"] for number in (0, 1, 2, 3)] == [4, 3, 4, 2]
    assert stages[0]["shuffle_write_records"] == stages[1]["shuffle_read_records"] > 0
    assert stages[0]["shuffle_write_bytes"] == stages[1]["shuffle_local_bytes"] + stages[1]["shuffle_remote_bytes"]
    assert (stages[3]["succeeded"], stages[3]["failed"]) == (2, 1)
    assert stages[7]["status"] == "failed" and "always bad" in stages[7]["failure"]
    assert stages[5]["status"] == "skipped"
    assert stages[2]["status"] == "complete" and stages[2]["task_max_ms"] > stages[2]["task_median_ms"]


def test_tasks(sparkflame, log):
    whole = report(sparkflame, log)
    tasks = whole["tasks"]
    assert len(tasks) == 19 and len({task["id"] for task in tasks}) == 19
    slow = [task for task in tasks if task["stage"] == 2 and task["index"] == 3]
    assert slow[0]["finish_ms"] - slow[0]["launch_ms"] >= 6000
    retried = [(task["attempt"], task["status"]) for task in tasks if task["stage"] == 3 and task["index"] == 1]
    assert sorted(retried) == [(0, "failed"), (1, "succeeded")]
    for stage in whole["stages"]:
        own = [task for task in tasks if (task["stage"], task["stage_attempt"]) == (stage["id"], stage["attempt"])]
        for metric in ("run_ms", "cpu_ns", "gc_ms", "shuffle_write_bytes"):
            assert sum(task.get(metric, 0) for task in own) == stage[metric]


def test_sql(sparkflame, log):
    (sql,) = report(sparkflame, log)["sql"]
    assert sql["id"] == 0 and "HashAggregate" in sql["plan"] and sql["end_ms"] >= sql["start_ms"]


def test_text(sparkflame, log):
    text = sparkflame("report", log).stdout.decode()
    for part in ("event log of a test", "Where the executors' core time went", "reduceByKey at", "ValueError: bad record <b>&</b>",
                 "ValueError: always bad", "[failures] stage 7.0"):
        assert part in text, text


def test_a_rolling_log_is_one(sparkflame, log, tmp_path):
    folder = tmp_path / "eventlog_v2_local-1"
    folder.mkdir()
    lines = log.read_bytes().splitlines(keepends=True)
    (folder / "appstatus_local-1").write_bytes(b"")
    (folder / "events_10_local-1").write_bytes(b"".join(lines[50:]))
    (folder / "events_9_local-1").write_bytes(b"".join(lines[:50]))
    assert report(sparkflame, folder) == report(sparkflame, log)


def test_a_compact_part_stands_for_those_before(sparkflame, log, tmp_path):
    folder = tmp_path / "eventlog_v2_local-1"
    folder.mkdir()
    shutil.copy(log, folder / "events_2_local-1.compact")
    (folder / "events_1_local-1").write_bytes(b"broken\n")
    assert report(sparkflame, folder) == report(sparkflame, log)


def test_a_packed_log(sparkflame, log, tmp_path):
    (tmp_path / "log.gz").write_bytes(gzip.compress(log.read_bytes()))
    assert report(sparkflame, tmp_path / "log.gz") == report(sparkflame, log)


def test_an_incomplete_last_line_is_noted_and_not_an_error(sparkflame, log, tmp_path):
    whole = log.read_bytes()
    (tmp_path / "cut").write_bytes(whole[:whole.rindex(b"{\"Event\":\"SparkListenerTaskEnd\"") + 300])
    run = sparkflame("report", "-f", "json", tmp_path / "cut")
    assert run.returncode == 0 and b"last line of the log is incomplete" in run.stderr
    assert len(json.loads(run.stdout)["tasks"]) == 19


def test_a_bad_line_is_an_error_with_its_place(sparkflame, log, tmp_path):
    lines = log.read_bytes().splitlines(keepends=True)
    lines[20] = b"{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":,}\n"
    (tmp_path / "bad").write_bytes(b"".join(lines))
    run = sparkflame("report", "-f", "json", tmp_path / "bad")
    assert run.returncode == 1 and b"line 21" in run.stderr
    assert json.loads(run.stdout)["application"]["name"] == "event log of a test"


def test_lists_with_other_things_are_passed_over(sparkflame, log, tmp_path):
    lines = log.read_text().splitlines()
    odd = json.dumps({"Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates", "executionId": 0,
                      "accumUpdates": [1, "x", None, {"a": [2]}, [3], [228, "y", 1, 2]]}, separators=(",", ":"))
    (tmp_path / "odd").write_text("\n".join([*lines[:-1], odd, lines[-1]]) + "\n")
    assert sparkflame("report", "odd", "-f", "json").returncode == 0


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\xff" * 100, b"{\"Event\":12}\n", b"[1,2]\n"])
def test_what_is_no_event_log(sparkflame, tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    run = sparkflame("report", tmp_path / "other")
    assert run.returncode == 1 and run.stdout == b"" and run.stderr != b""


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_complaint_names_the_file(sparkflame, tmp_path, name):
    (tmp_path / "empty").touch()
    run = sparkflame("report", name)
    assert run.returncode == 1 and run.stderr.startswith(b"sparkflame report: " + name.encode() + b": "), run.stderr


def test_names_reach_no_terminal_raw(sparkflame, tmp_path):
    (tmp_path / "log").write_text(
        '{"Event":"SparkListenerLogStart","Spark Version":"4"}\n'
        '{"Event":"SparkListenerApplicationStart","App Name":"a\\u001b[31m\\u0007b","App ID":"x","Timestamp":1}\n')
    run = sparkflame("report", tmp_path / "log")
    assert b"\x1b" not in run.stdout and b"\x07" not in run.stdout


@pytest.mark.parametrize("ending", ["lz4", "snappy", "lzf"])
def test_packed_as_spark_packs(sparkflame, data, log, ending):
    """Made of the plain log by LZ4BlockOutputStream, SnappyOutputStream and LZFOutputStream of the libraries Spark uses."""
    packed = data / "event_log_packed" / f"single.{ending}"
    assert report(sparkflame, packed) == report(sparkflame, log)
    for damage in (packed.read_bytes()[:20000], packed.read_bytes()[:20000] + b"\xff" * 1000 + packed.read_bytes()[21000:]):
        run = sparkflame("report", "-f", "json", "-", stdin=damage)
        assert run.returncode == 1 and run.stderr
        assert json.loads(run.stdout)["application"]["name"] == "event log of a test"


@pytest.mark.parametrize("form", [{}, {"sort_keys": True}, {"separators": (" , ", " : "), "sort_keys": True}])
def test_logs_that_were_written_again(sparkflame, log, tmp_path, form):
    """By other software: with blanks, or with keys in another order."""
    (tmp_path / "again").write_text("".join(json.dumps(json.loads(line), **form) + "\n" for line in log.read_text().splitlines()))
    assert report(sparkflame, tmp_path / "again") == report(sparkflame, log)


def test_sql_plans_with_what_operators_counted(sparkflame, log):
    """1,000 numbers counted by their remainder of 3, in 2 tasks: 6 rows are shuffled. The plan is that which adaptive execution chose last."""
    (query,) = report(sparkflame, log)["sql"]
    operators = query["operators"]
    assert query["plan_updates"] == 3
    assert [(one["name"], one["parent"]) for one in operators] == [
        ("AdaptiveSparkPlan", None), ("ResultQueryStage", 0), ("WholeStageCodegen (2)", 1), ("HashAggregate", 2), ("InputAdapter", 3),
        ("AQEShuffleRead", 4), ("ShuffleQueryStage", 5), ("Exchange", 6), ("WholeStageCodegen (1)", 7), ("HashAggregate", 8), ("Project", 9),
        ("Range", 10)]
    counted = [{(metric["name"], metric["unit"]): metric["value"] for metric in one["metrics"]} for one in operators]
    rows = ("number of output rows", "count")
    assert (counted[3][rows], counted[9][rows], counted[11][rows]) == (3, 6, 1000)
    assert counted[7]["shuffle records written", "count"] == 6 and counted[7]["data size", "bytes"] == 144
    assert counted[5]["number of partitions", "count"] == 1 and counted[2]["duration", "ms"] > 0
    assert (operators[3]["stages"], operators[9]["stages"], operators[7]["stages"]) == ([6], [4], [4, 6])
    assert operators[9]["code"] == "GeneratedIteratorForCodegenStage1\\.(hashAgg|agg|hashaggregate)_"
    assert operators[2]["code"] == "GeneratedIteratorForCodegenStage2\\." and operators[5]["code"] is None
    text = sparkflame("report", log).stdout.decode()
    assert "query 0, took " in text and "(plan changed 3 times)" in text and "Range, number of output rows 1000\n" in text


def test_what_each_task_counted_for_an_operator(sparkflame, log):
    """Compared with the tasks' records: minimum, median as in Spark, maximum, and sum."""
    tasks, plans = {}, []
    for event in map(json.loads, log.read_text().splitlines()):
        for one in event["Task Info"]["Accumulables"] if event["Event"] == "SparkListenerTaskEnd" else []:
            if one.get("Metadata") == "sql" and event["Task End Reason"]["Reason"] == "Success":
                tasks.setdefault(one["ID"], []).append(int(one["Update"]))
        plans += [event["sparkPlanInfo"]] if "sparkPlanInfo" in event else []

    def counters(node):
        return [[(one["name"], one["accumulatorId"]) for one in node["metrics"]], *(found for child in node["children"] for found in counters(child))]
    (query,) = report(sparkflame, log)["sql"]
    seen = 0
    for operator, known in zip(query["operators"], counters(plans[-1]), strict=True):
        for metric in operator["metrics"]:
            values = sorted(tasks.get(dict(known)[metric["name"]], []))
            assert metric.get("tasks", 0) == len(values)
            if values:
                scale = 10 if metric["unit"] == "average" else 1
                assert [metric["least"] * scale, metric["median"] * scale, metric["most"] * scale] == [values[0], values[len(values) // 2], values[-1]]
                assert metric["value"] == (None if scale == 10 else sum(values))
                seen += 1
    assert seen == 18
    text = sparkflame("report", log).stdout.decode()
    assert "time in aggregation build 135 ms (least 65 ms, median 70 ms, most 70 ms in task 14)" in text


def test_counters_of_subqueries_that_were_planned_anew(sparkflame, log, tmp_path):
    lines = log.read_text().splitlines()
    counters = [{"name": "rows of the subquery", "accumulatorId": 99001, "metricType": "sum"},
                {"name": "never counted", "accumulatorId": 99002, "metricType": "size"}]
    more = [{"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveSQLMetricUpdates", "executionId": 0, "sqlPlanMetrics": counters},
            {"Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates", "executionId": 0, "accumUpdates": [[99001, 17]]}]
    (tmp_path / "more").write_text("\n".join([*lines[:-1], *map(json.dumps, more), lines[-1]]) + "\n")
    (query,) = report(sparkflame, tmp_path / "more")["sql"]
    assert query["subquery_metrics"] == [{"name": "rows of the subquery", "unit": "count", "value": 17}]


def test_where_the_time_went(sparkflame, log):
    """Compared with sums over the JSON's tasks and executors."""
    whole = report(sparkflame, log)
    spent = whole["time_spent"]
    parts = [value for key, value in spent.items() if key not in ("core_ms", "idle_ms", "reserved_ms", "lost_ms")
             and not key.startswith("idle_")]
    stages = {key: sum(stage[key] for stage in whole["stages"]) for key in ("run_ms", "cpu_ns", "gc_ms", "deserialize_ms", "shuffle_write_ns")}
    assert (spent["cpu_ms"], spent["gc_ms"], spent["deserialize_ms"]) == (stages["cpu_ns"] // 10**6, stages["gc_ms"], stages["deserialize_ms"])
    assert spent["shuffle_write_ms"] == stages["shuffle_write_ns"] // 10**6 and spent["python_ms"] == 0
    scheduling = sum(task["finish_ms"] - task["launch_ms"] - task["run_ms"] - task["deserialize_ms"] - task["result_serialization_ms"]
                     for task in whole["tasks"] if task["status"] == "succeeded")
    overlap = scheduling - spent["scheduling_ms"]
    assert spent["scheduling_ms"] > 0 and 0 <= overlap < 0.2 * scheduling
    assert sum(parts) == stages["run_ms"] + spent["deserialize_ms"] + spent["result_ms"] + spent["scheduling_ms"]
    (driver,) = whole["executors"]
    assert spent["core_ms"] == driver["cores"] * (whole["application"]["end_ms"] - driver["added_ms"])
    assert abs(spent["idle_ms"] - overlap - spent["core_ms"] + sum(task["finish_ms"] - task["launch_ms"] for task in whole["tasks"])) <= 1
    assert "% of the executors' cores were idle" in sparkflame("report", log).stdout.decode()


def recorded_jobs():
    return sorted([*(TESTS / "data" / "advice").iterdir(), TESTS / "data" / "event_log" / "single",
                   *(path for name in ("plans", "healthy", "what_if") for path in (TESTS / "data" / name).glob("*.gz"))])


@pytest.mark.parametrize("job", recorded_jobs(), ids=lambda job: job.name)
def test_the_parts_add_up_to_the_core_time(sparkflame, job):
    """Of every recorded job: tasks' parts, and idle cores by their cause."""
    add_up(report(sparkflame, job)["time_spent"])
    text = sparkflame("report", job).stdout.decode().split("Where the executors' core time went\n")[1].split("\n\n")[0]
    assert abs(sum(float(part) for part in re.findall(r" s +([\d.]+) %", text)) - 100) <= 1, text


def add_up(spent):
    core_ms, idle_ms = spent.pop("core_ms"), spent.pop("idle_ms")
    assert core_ms > 0
    assert abs(sum(spent.values()) - core_ms) <= 0.01 * core_ms, spent
    assert abs(sum(value for key, value in spent.items() if key.startswith("idle_")) - idle_ms) <= 2


def test_all_recorded_event_logs_are_among_those():
    """Compressed copies and logs of one folder count once."""
    logs = set()
    for path in (TESTS / "data").rglob("*"):
        if path.is_file() and path.parent.name != "event_log_packed":
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            logs |= {path.parent if path.parent.parent.name == "advice" else path} if data.startswith(b'{"Event":"SparkListener') else set()
    assert logs == set(recorded_jobs())


@pytest.mark.parametrize("part", range(2, 10))
def test_the_parts_add_up_while_it_runs(sparkflame, log, tmp_path, part):
    """Tasks that have not ended use cores, too."""
    lines = log.read_text().splitlines(keepends=True)
    (tmp_path / "cut.inprogress").write_text("".join(lines[:len(lines) * part // 10]))
    spent = report(sparkflame, tmp_path / "cut.inprogress")["time_spent"]
    assert part != 2 or spent["running_ms"] > 0.02 * spent["core_ms"]
    add_up(spent)


def changed_log(log, to, change):
    """A copy of the log with each event as `change` returns it."""
    to.write_text("".join(json.dumps(change(json.loads(line)), separators=(",", ":")) + "\n" for line in log.read_text().splitlines()))
    return to


def test_tasks_that_hold_several_cores(sparkflame, log, tmp_path):
    """Cores beyond a task's first are reserved; the others are what they were."""
    def change(event):
        if event["Event"].endswith("EnvironmentUpdate"):
            event["Spark Properties"] = {"spark.task.cpus": "2"}
        if event["Event"].endswith("ExecutorAdded"):
            event["Executor Info"]["Total Cores"] *= 2
        return event
    one, two = (report(sparkflame, path)["time_spent"] for path in (log, changed_log(log, tmp_path / "log", change)))
    assert (one["reserved_ms"], two["core_ms"], two["idle_ms"]) == (0, 2 * one["core_ms"], 2 * one["idle_ms"])
    assert two["reserved_ms"] == one["core_ms"] - one["idle_ms"] and two["cpu_ms"] == one["cpu_ms"]


def test_executors_that_come_and_go(sparkflame, log, tmp_path):
    """One more is there for a second: its cores count for that long."""
    added = {"Event": "SparkListenerExecutorAdded", "Timestamp": 0, "Executor ID": "9", "Executor Info": {"Host": "h", "Total Cores": 3}}
    lines = log.read_text().splitlines()
    start = json.loads(next(line for line in lines if '"SparkListenerJobStart"' in line))["Submission Time"]
    more = [{**added, "Timestamp": start}, {"Event": "SparkListenerExecutorRemoved", "Timestamp": start + 1000, "Executor ID": "9", "Removed Reason": "idle"}]
    (tmp_path / "log").write_text("\n".join([*lines[:-1], *map(json.dumps, more), lines[-1]]) + "\n")
    before, after = (report(sparkflame, path)["time_spent"] for path in (log, tmp_path / "log"))
    assert after["core_ms"] == before["core_ms"] + 3000 and after["idle_ms"] == before["idle_ms"] + 3000


def test_titles_of_stages(sparkflame, log, tmp_path):
    """Where Spark names a stage after its own code, the query or the job's description names it."""
    def change(event):
        for info in [event.get("Stage Info"), *event.get("Stage Infos", [])]:
            if info is not None and info["Stage ID"] in (4, 5, 6):
                info.update({"Stage Name": "$anonfun$withThreadLocalCaptured$2 at CompletableFuture.java:1768", "Details": ""})
        if event["Event"].endswith("JobStart") and 6 in event["Stage IDs"]:
            event.setdefault("Properties", {})["spark.job.description"] = "count by remainder"
        return event
    whole = report(sparkflame, changed_log(log, tmp_path / "log", change))
    titles = {stage["id"]: stage["title"] for stage in whole["stages"]}
    (query,) = whole["sql"]
    assert titles[4] == query["title"] == query["description"] and "make_event_log.py" in titles[4]
    assert titles[6] == "count by remainder" and titles[0] == whole["stages"][0]["name"]
    assert "withThreadLocalCaptured" not in sparkflame("report", tmp_path / "log").stdout.decode()


def test_time_of_python_workers(sparkflame, log, tmp_path):
    """Two workers that used half a core for ten seconds; it is subtracted from waiting."""
    for pid in (7, 8):
        (tmp_path / f"s_1_{pid}_cpumem.json").write_text("".join(
            json.dumps({"pid": pid, "epochMillis": 1794782970000 + second * 1000, "pmem_rss": 1, "pmem_vms": 1, "pmem_pfaults": 1,
                        "cpu_percent": 50.0}) + "\n" for second in range(11)))
    spent, before = (report(sparkflame, *paths)["time_spent"] for paths in ([log, tmp_path / "s_1_7_cpumem.json", tmp_path / "s_1_8_cpumem.json"], [log]))
    assert spent["python_ms"] == 10_000 and spent["other_ms"] == before["other_ms"] - 10_000


def python_recording(pid, cores):
    """Of an executor whose worker uses that many cores for ten seconds."""
    types = jfr_builder.Metadata()
    types.add("sparkflame.PythonMetrics", [("startTime", "long"), ("pid", "int"), ("cpuLoad", "float")], True)
    chunk = jfr_builder.Chunk(types, start_ns=1794782970000 * 1_000_000, start_ticks=0)
    for second in range(11):
        chunk.add("sparkflame.PythonMetrics", second * 10**9, pid, struct.pack(">f", cores))
    return chunk.bytes()


def test_workers_of_several_containers_may_have_one_pid(sparkflame, log, tmp_path):
    """Two executors' workers count both; the one that PySpark's profiler also watched counts once."""
    paths = [log]
    for name, cores in (("exec-1.jfr", 0.5), ("profile-exec-2.jfr", 0.3)):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(python_recording(7, cores))
    assert report(sparkflame, *paths)["time_spent"]["python_ms"] == 8000
    (tmp_path / "s_1_7_cpumem.json").write_text("".join(
        json.dumps({"pid": 7, "epochMillis": 1794782970000 + second * 1000, "pmem_rss": 1, "pmem_vms": 1, "pmem_pfaults": 1,
                    "cpu_percent": 50.0}) + "\n" for second in range(11)))
    assert report(sparkflame, *paths, tmp_path / "s_1_7_cpumem.json")["time_spent"]["python_ms"] == 8000


def test_recordings_of_several_applications_are_not_mixed(sparkflame, log, tmp_path):
    """They are listed; --application selects those of one, with its own event log or another's."""
    for application, cores in (("app-20261116073000-0001", 0.5), ("app-20261116073000-0002_1", 0.3)):
        (tmp_path / application).mkdir()
        (tmp_path / application / "exec-1.jfr").write_bytes(python_recording(7, cores))
    run = sparkflame("report", "-f", "json", tmp_path)
    assert run.returncode == 2 and run.stdout == b""
    assert b"choose one with --application, or compare two with --against" in run.stderr
    assert b"  app-20261116073000-0001" in run.stderr and b"  app-20261116073000-0002" in run.stderr
    run = sparkflame("report", log, tmp_path / "app-20261116073000-0001")
    assert run.returncode == 2 and b"app-20261116073000-0001" in run.stderr and b"  local-" in run.stderr
    for application, value in (("app-20261116073000-0001", 0.5), ("app-20261116073000-0002_1", 0.3)):
        chosen = report(sparkflame, "-a", application, tmp_path)
        (curve,) = [one for one in chosen["curves"] if one["curve"] == "cpu"]
        assert all(abs(point[1] - value) < 1e-6 for point in curve["points"]), curve


def test_recordings_without_an_application_in_their_names(sparkflame, log, tmp_path):
    """Their labels tell; as many samples of stage 2 as the application's number, and that many seconds of a Python worker."""
    ours = json.loads(next(line for line in log.read_text().splitlines() if "ApplicationStart" in line))["App ID"]
    other = "app-20261116073000-0002"
    for number, application in enumerate((ours, other), 1):
        types = jfr_builder.standard_metadata()
        types.add("sparkflame.PythonMetrics", [("startTime", "long"), ("pid", "int"), ("cpuLoad", "float")], True)
        chunk = jfr_builder.small_chunk(types)
        chunk.events.clear()
        chunk.add("sparkflame.Labels", 2000, 101, jfr_builder.utf8(f"application={application};stage=2"))
        for index in range(number):
            chunk.add("jdk.ExecutionSample", 3000 + index, 101, 1, 0)
        for second in range(11):
            chunk.add("sparkflame.PythonMetrics", second * 10**9, number, struct.pack(">f", 0.5))
        (tmp_path / f"driver.{number}.jfr").write_bytes(chunk.bytes())
    run = sparkflame("report", log, tmp_path)
    assert run.returncode == 2 and f"  {ours}" in run.stderr.decode() and f"  {other}" in run.stderr.decode(), run
    for order in ([log, tmp_path], [tmp_path, log]):
        found = report(sparkflame, "-a", ours, *order)
        assert [one["samples"] for one in found["methods"]] == [1] and {one["process"] for one in found["metrics"]} == {"Python 1 of driver"}
    assert [one["samples"] for one in report(sparkflame, "-a", other, tmp_path)["methods"]] == [2]


def many_tasks(log, count):
    """The log's lines with `count` more tasks, which end in another order than they began."""
    lines = log.read_text().splitlines()
    ends = [json.loads(line) for line in lines if '"Event":"SparkListenerTaskEnd"' in line]
    good, bad = (next(end for end in ends if (end["Task End Reason"]["Reason"] == "Success") is one) for one in (True, False))
    more = []
    for number in range(count):
        end = copy.deepcopy(bad if number % 100 == 99 else good)
        end["Task Info"].update({"Task ID": 5000 + number, "Index": number, "Executor ID": str(number % 7)})
        end.setdefault("Task Metrics", {})["Executor Run Time"] = number
        start = {"Event": "SparkListenerTaskStart", "Stage ID": end["Stage ID"], "Stage Attempt ID": end["Stage Attempt ID"],
                 "Task Info": {**end["Task Info"], "Finish Time": 0}}
        more.insert(max(0, len(more) - 3), json.dumps(start, separators=(",", ":")))
        more.append(json.dumps(end, separators=(",", ":")))
    return [*lines[:-1], *more, lines[-1]]


def test_many_tasks_are_read_by_several_threads(sparkflame, log, tmp_path):
    """More than one piece of lines; compressed files are read in another way."""
    lines = many_tasks(log, 2000)
    text = ("\n".join(lines) + "\n").encode()
    assert len(text) > 4 << 20
    (tmp_path / "events").write_bytes(text)
    (tmp_path / "events.gz").write_bytes(gzip.compress(text, 1))
    found = report(sparkflame, tmp_path / "events")
    tasks = {task["id"]: task for task in found["tasks"] if task["id"] >= 5000}
    assert len(tasks) == 2000
    for number in range(2000):
        task = tasks[5000 + number]
        assert (task["index"], task["executor"], task["run_ms"]) == (number, str(number % 7), number)
        assert task["status"] == ("failed" if number % 100 == 99 else "succeeded") and ("reason" in task) == (number % 100 == 99)
    assert report(sparkflame, tmp_path / "events.gz") == found
    lines[3000] = lines[3000][:-10]
    (tmp_path / "broken").write_text("\n".join(lines) + "\n")
    run = sparkflame("report", "broken")
    assert run.returncode == 1 and b"broken: line 3001: " in run.stderr, run.stderr


def named(lines, application, attempt):
    event = {"Event": "SparkListenerApplicationStart", "App Name": f"the {application}", "App ID": application, "Timestamp": 1,
             "User": "u", **({"App Attempt ID": attempt} if attempt else {})}
    return "\n".join(json.dumps(event, separators=(",", ":")) if "SparkListenerApplicationStart" in line else line for line in lines)


def test_applications_are_not_mixed(sparkflame, log, tmp_path):
    lines = log.read_text().splitlines()
    folder = tmp_path / "history"
    (folder / "eventlog_v2_app-3").mkdir(parents=True)
    for path, application, attempt in (("a", "app-1", None), ("b_1", "app-2", "1"), ("b_2", "app-2", "2"),
                                       ("eventlog_v2_app-3/events_1_app-3", "app-3", None)):
        (folder / path).write_text(named(lines, application, attempt))
    run = sparkflame("report", folder)
    assert run.returncode == 2 and run.stdout == b""
    assert sorted(line.split(b":", 1)[1] for line in run.stderr.splitlines()[1:]) == [
        b"   app-1  the app-1", b"   app-2_1  the app-2", b"   app-2_2  the app-2", b"   app-3  the app-3"]
    assert sparkflame("report", folder / "a", folder / "b_1").returncode == 2
    assert sparkflame("report", folder, "-a", "app-2").returncode == 2
    for wanted, name, attempt in (("app-1", "the app-1", None), ("app-2_2", "the app-2", "2"), ("app-3", "the app-3", None)):
        found = report(sparkflame, folder, "-a", wanted)
        assert (found["application"]["name"], found["application"]["attempt"]) == (name, attempt)
        assert len(found["jobs"]) == len(report(sparkflame, log)["jobs"])
    run = sparkflame("report", folder, "-a", "app-9")
    assert run.returncode == 1 and b"app-9" in run.stderr


def test_a_terminal_shows_progress(binary, log):
    """On a terminal only, and cleared at the end."""
    for quiet in ((), ("-q",)):
        ours, theirs = pty.openpty()
        subprocess.run([binary, "report", *quiet, log], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                shown += part
        os.close(ours)
        assert (b"MB read" in shown) is not bool(quiet) and shown.endswith(b"\r\x1b[K" if not quiet else b""), shown


def test_secrets_are_hidden_unless_asked_for(sparkflame, log, tmp_path):
    lines = log.read_text().splitlines()
    for number, line in enumerate(lines):
        event = json.loads(line)
        if event["Event"].endswith("EnvironmentUpdate"):
            event["Spark Properties"] = {"spark.db.password": "hunter2", "spark.x": "y", "spark.jars": "token=hunter2"}
            lines[number] = json.dumps(event, separators=(",", ":"))
        elif event["Event"].endswith("JobStart") and event["Job ID"] == 5:
            event.setdefault("Properties", {})["spark.job.description"] = "copy --secret-key hunter2 to b"
            lines[number] = json.dumps(event, separators=(",", ":"))
    events, driver = tmp_path / "events", tmp_path / "driver.log"
    events.write_text("\n".join(lines) + "\n")
    driver.write_text("26/11/16 04:28:14 ERROR Job: cannot open https://me:hunter2@host\nBecause: password=hunter2\n" * 3)
    for form in ("text", "json", "html"):
        hidden = sparkflame("report", "-f", form, events, driver)
        assert hidden.returncode == 0 and b"hunter2" not in hidden.stdout, (form, hidden.stderr)
    properties = {one["key"]: one["value"] for one in report(sparkflame, events, driver)["properties"]}
    assert properties == {"spark.db.password": "*********(redacted)", "spark.x": "y",
                          "spark.jars": "token=*********(redacted)"}
    shown = sparkflame("report", "-f", "json", "--show-secrets", events, driver).stdout
    assert shown.count(b"hunter2") >= 5
    assert b"hunter2" not in sparkflame("logs", driver).stdout + sparkflame("logs", "-f", "json", driver).stdout
    assert b"hunter2" in sparkflame("logs", "--show-secrets", driver).stdout
