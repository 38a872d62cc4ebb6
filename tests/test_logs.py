"""sparkflame logs, on the log of a known job (make_spark_log.py)."""

import gzip
import json
import re
import resource
import struct

import pytest

DRIVER = [
    "24/06/01 10:00:00 INFO SparkContext: Running Spark version 3.5.1",
    "24/06/01 10:00:00 INFO SparkContext: Submitted application: two jobs at once",
    "24/06/01 10:00:01 INFO YarnSchedulerBackend$YarnDriverEndpoint: Registered executor NettyRpcEndpointRef(x) "
    "(10.0.0.1:5000) with ID 1,  ResourceProfileId 0",
    "24/06/01 10:00:02 INFO DAGScheduler: Got job 0 (count at a.py:1) with 2 output partitions",
    "24/06/01 10:00:02 INFO DAGScheduler: Final stage: ResultStage 0 (count at a.py:1)",
    "24/06/01 10:00:02 INFO DAGScheduler: Submitting ResultStage 0 (PythonRDD[1] at count at a.py:1), which has no "
    "missing parents",
    "24/06/01 10:00:02 INFO DAGScheduler: Got map stage job 1 (save at b.py:2) with 1 output partitions",
    "24/06/01 10:00:02 INFO DAGScheduler: Final stage: ShuffleMapStage 1 (save at b.py:2)",
    "24/06/01 10:00:02 INFO DAGScheduler: Submitting ShuffleMapStage 1 (MapPartitionsRDD[3] at save at b.py:2), which "
    "has no missing parents",
    "24/06/01 10:00:02 INFO TaskSchedulerImpl: Adding task set 0.0 with 2 tasks resource profile 0",
    "24/06/01 10:00:02 INFO TaskSchedulerImpl: Adding task set 1.0 with 1 tasks resource profile 0",
    "24/06/01 10:00:03 INFO TaskSetManager: Starting task 0.0 in stage 0.0 (TID 0) (10.0.0.1, executor 1, partition "
    "0, PROCESS_LOCAL, 7000 bytes) ",
    "24/06/01 10:00:03 INFO TaskSetManager: Starting task 1.0 in stage 0.0 (TID 1) (10.0.0.1, executor 1, partition "
    "1, PROCESS_LOCAL, 7000 bytes) ",
    "24/06/01 10:00:03 INFO TaskSetManager: Starting task 0.0 in stage 1.0 (TID 2) (10.0.0.1, executor 1, partition "
    "0, NODE_LOCAL, 7000 bytes) ",
    "24/06/01 10:00:04 INFO TaskSetManager: Finished task 0.0 in stage 0.0 (TID 0) in 1000 ms on 10.0.0.1 (executor "
    "1) (1/2)",
    "24/06/01 10:00:05 WARN TaskSetManager: Lost task 1.0 in stage 0.0 (TID 1) (10.0.0.1 executor 1): "
    "java.lang.IllegalStateException: no <b>luck</b>",
    "\tat a.B.c(B.java:7)",
    "Caused by: java.io.IOException: disk 17 full",
    "\tat d.E.f(E.java:9)",
    "\t... 3 more",
    "24/06/01 10:00:06 INFO DAGScheduler: Job 0 failed: count at a.py:1, took 4.0 s",
    "24/06/01 10:00:09 INFO TaskSetManager: Finished task 0.0 in stage 1.0 (TID 2) in 6000 ms on 10.0.0.1 (executor "
    "1) (1/1)",
    "24/06/01 10:00:09 INFO DAGScheduler: ShuffleMapStage 1 (save at b.py:2) finished in 7.0 s",
    "24/06/01 10:00:09 INFO DAGScheduler: Job 1 finished: save at b.py:2, took 7.0 s",
]
EXECUTOR = [
    "24/06/01 10:00:01 INFO Executor: Starting executor ID 1 on host node-1",
    "24/06/01 10:00:03 INFO Executor: Running task 1.0 in stage 0.0 (TID 1)",
    "24/06/01 10:00:05 ERROR Executor: Exception in task 1.0 in stage 0.0 (TID 1)",
    "java.lang.IllegalStateException: no <b>luck</b>",
    "\tat a.B.c(B.java:7)",
    "Caused by: java.io.IOException: disk 17 full",
    "\tat d.E.f(E.java:9)",
    "24/06/01 10:00:07 FATAL Executor: Exception in task 5.0 in stage 0.0 (TID 9)",
]


def logs(sparkflame, *arguments, **more):
    run = sparkflame("logs", "-f", "json", *arguments, **more)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def cluster(tmp_path):
    """The logs of an application in YARN's layout, next to another's."""
    folder = tmp_path / "logs"
    application = folder / "application_1700000000000_0001"
    write(application / "container_1700000000000_0001_01_000001" / "stderr", DRIVER)
    packed = application / "container_1700000000000_0001_01_000002" / "stderr.gz"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress("\n".join(EXECUTOR).encode()))
    write(application / "container_1700000000000_0001_01_000002" / "stdout",
          ["loading", "Traceback (most recent call last):", '  File "job.py", line 3, in f', "KeyError: 'x'"])
    write(folder / "application_1700000000000_0002" / "container_1700000000000_0002_01_000001" / "stderr", DRIVER[:2])
    return folder


@pytest.mark.parametrize("name", ["driver.log", "driver.json"])
def test_a_real_log(sparkflame, data, name):
    told = logs(sparkflame, data / "spark_log" / name)
    assert told["application"]["name"] == "event log of a test"
    assert [job["id"] for job in told["jobs"]] == list(range(6))
    assert [job["status"] for job in told["jobs"]] == ["succeeded"] * 5 + ["failed"]
    assert len(told["tasks"]) == 19
    assert sorted(task["status"] for task in told["tasks"]) == ["failed"] * 3 + ["succeeded"] * 16
    stages = {stage["id"]: stage for stage in told["stages"]}
    assert [stages[number]["tasks"] for number in (0, 1, 2, 3)] == [4, 3, 4, 2]
    assert stages[7]["status"] == "failed" and stages[7]["job"] == 5
    slow = [task for task in told["tasks"] if task["stage"] == 2 and task["index"] == 3]
    assert slow[0]["finish_ms"] - slow[0]["launch_ms"] >= 6000
    causes = [error["cause"] for error in told["errors"]]
    assert "ValueError: always bad" in " ".join(filter(None, causes)), causes
    assert all(error["count"] >= 1 and error["line"] >= 1 for error in told["errors"])


def test_jobs_at_once_and_a_task_that_ends_after_its_job(sparkflame, tmp_path):
    told = logs(sparkflame, write(tmp_path / "driver.log", DRIVER))
    assert [(job["id"], job["status"], job["stages"]) for job in told["jobs"]] == \
        [(0, "failed", [0]), (1, "succeeded", [1])]
    assert [(task["id"], task["status"], task["executor"]) for task in told["tasks"]] == \
        [(0, "succeeded", "1"), (1, "failed", "1"), (2, "succeeded", "1")]
    assert [stage["name"] for stage in told["stages"]] == ["count at a.py:1", "save at b.py:2"]
    assert told["tasks"][2]["finish_ms"] - told["tasks"][2]["launch_ms"] == 6000


def test_a_folder_of_one_application(sparkflame, cluster):
    told = logs(sparkflame, cluster / "application_1700000000000_0001")
    assert told["application"]["id"] == "application_1700000000000_0001"
    assert [log["is_driver"] for log in told["logs"]] == [True, False, False]
    assert [log["executor"] for log in told["logs"]] == [None, "1", None]
    causes = {error["cause"] for error in told["errors"]}
    assert causes == {"java.io.IOException: disk 17 full", "KeyError: 'x'", None}
    (executor_error,) = [error for error in told["errors"] if error["level"] == "ERROR"]
    assert (executor_error["stage"], executor_error["task"], executor_error["line"]) == (0, 1, 3)
    assert executor_error["container"] == "container_1700000000000_0001_01_000002"


def test_a_folder_of_several_applications(sparkflame, cluster):
    run = sparkflame("logs", cluster)
    assert run.returncode == 2
    assert b"--application" in run.stderr and b"application_1700000000000_0002" in run.stderr
    told = logs(sparkflame, "--application", "application_1700000000000_0002", cluster)
    assert told["application"]["name"] == "two jobs at once" and told["jobs"] == []


def test_what_yarn_logs_prints(sparkflame):
    text = "\n".join(["Container: container_1_2_01_000001 on node-1_8041_1700000000000", "LogType:stderr",
                      "Log Contents:", *DRIVER, "End of LogType:stderr",
                      "Container: container_1_2_01_000002 on node-2_8041", *EXECUTOR])
    told = logs(sparkflame, "-", stdin=text.encode())
    assert [(log["container"], log["is_driver"]) for log in told["logs"] if log["container"]] == \
        [("container_1_2_01_000001", True), ("container_1_2_01_000002", False)]


def test_repeated_chunks_are_summed(sparkflame, tmp_path):
    lines = ["24/06/01 10:00:00 INFO Main: begin"]
    for number in range(500):
        lines += [f"24/06/01 10:00:01 INFO Model: loading model {number}",
                  f"24/06/01 10:00:01 INFO Model: checked set-up 0x{number:08x}",
                  f"24/06/01 10:00:02 WARN Scorer: scored record {number} in {number / 7:.3f} s"]
    told = logs(sparkflame, "--top-chunks", write(tmp_path / "log", lines))
    assert list(told) == ["chunks"]
    first = told["chunks"][0]
    assert (first["count"], len(first["lines"])) == (500, 3)
    assert first["lines"][0] == "INFO Model: loading model #"
    assert sum(chunk["count"] * len(chunk["lines"]) for chunk in told["chunks"]) == len(lines)


def processor_seconds(action):
    """CPU time of the processes that the action starts, without those that run beside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_interleaved_lines_take_linear_time(sparkflame, tmp_path):
    """Eight times the lines take eight times the CPU time, give or take what a busy machine adds: 64 times if it were quadratic."""
    def seconds(count):
        lines = [f"24/06/01 10:00:0{number % 10} INFO Main: line {chr(97 + number * number % 23)}{number % 7 * 'x'}"
                 for number in range(count)]
        path = write(tmp_path / "log", lines)
        return processor_seconds(lambda: told.append(logs(sparkflame, "-c", "-j", "1", path)))

    told = []
    few, many = sorted(seconds(50_000) for _ in range(3))[1], sorted(seconds(400_000) for _ in range(3))[1]
    assert all(one["chunks"] for one in told)
    assert many < 25 * few, f"50,000 lines take {few:.3f} s, 400,000 take {many:.3f} s"


@pytest.mark.parametrize("line, ms", [
    ("24/06/01 10:00:00 INFO Main: text", 1717236000000),
    ("2024/06/01 10:00:00 INFO Main: text", 1717236000000),
    ("24-06-01 10:00:00 INFO Main: text", 1717236000000),
    ("2024-06-01 10:00:00,125 INFO  Main:62 - text", 1717236000125),
    ("2024-06-01 10:00:00.125 [main] INFO Main - text", 1717236000125),
    ("2024-06-01T10:00:00.125Z INFO [Executor task launch worker for task 0.0 in stage 0.0 (TID 0)] Main: text",
     1717236000125),
    ("2024-06-01T10:00:00.125+0200 [INFO] [main] Main: text", 1717228800125),
    ('{"ts":"2024-06-01T10:00:00.125Z","level":"INFO","msg":"text","logger":"a.b.Main"}', 1717236000125),
])
def test_layouts(sparkflame, line, ms):
    told = logs(sparkflame, "-", stdin=line.encode())
    assert told["application"]["start_ms"] == ms
    assert told["chunks"][0]["lines"] == ["INFO Main: text"]


def test_time_zone(sparkflame):
    line = b"24/06/01 10:00:00 INFO Main: text\n"
    assert logs(sparkflame, "-z", "+02:00", "-", stdin=line)["application"]["start_ms"] == 1717228800000
    assert logs(sparkflame, "-z", "CEST", "-", stdin=line)["application"]["start_ms"] == 1717228800000
    for unknown in ("Mars", "Mars/Olympus", "../etc/passwd", "/etc/passwd", ""):
        assert sparkflame("logs", "-z", unknown, "-", stdin=line).returncode == 2


def zone_file(rule):
    """A file of a time zone, version 2 of the format: one change in 1970, then the rule."""
    def header(changes):
        return b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, changes, 1, 4)
    zone = struct.pack(">lbb", 3600, 0, 0) + b"XST\0"
    return header(0) + zone + header(1) + struct.pack(">qb", 0, 0) + zone + b"\n" + rule + b"\n"


def test_time_zone_of_a_region(sparkflame, tmp_path):
    """Summer and winter differ; the rule is that of Berlin."""
    (tmp_path / "Area").mkdir()
    (tmp_path / "Area" / "Town").write_bytes(zone_file(b"CET-1CEST,M3.5.0,M10.5.0/3"))
    lines = b"24/06/01 10:00:00 INFO Main: summer\n24/12/01 10:00:00 ERROR Main: winter\n"
    run = sparkflame("logs", "-f", "json", "-z", "Area/Town", "-", stdin=lines, env={"TZDIR": str(tmp_path)})
    told = json.loads(run.stdout)
    assert (told["application"]["start_ms"], told["errors"][0]["last_ms"]) == (1717228800000, 1733043600000)


PATTERN = "%X{id} | %d{dd.MM.yyyy HH:mm:ss.SSS zzz} | %-5p | %t | %c{1}: %m%n%ex"


def test_a_pattern_of_ones_own(sparkflame, tmp_path):
    """The lines of a driver in another layout give the same result."""
    own = []
    for line in DRIVER:
        head = re.match(r"(\d\d)/(\d\d)/(\d\d) (\S+) (\w+) (.*)", line)
        own.append("my id | {2}.{1}.20{0} {3}.000 UTC | {4:5} | the thread | {5}".format(*head.groups()) if head else line)
    assert own != list(DRIVER)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "driver.txt").write_text("\n".join(own) + "\n")
    assert sparkflame("logs", tmp_path / "logs" / "driver.txt").returncode == 1
    known = logs(sparkflame, "-", stdin="\n".join(DRIVER).encode())
    for command, place in (("logs", "driver.txt"), ("logs", "."), ("report", "driver.txt"), ("report", ".")):
        run = sparkflame(command, "-f", "json", "--log-pattern", PATTERN, tmp_path / "logs" / place)
        assert run.returncode == 0, run.stderr
        told = json.loads(run.stdout)
        assert (told["jobs"], told["stages"], told["tasks"]) == (known["jobs"], known["stages"], known["tasks"]), command
        assert [one["lines"] for one in told["chunks"]] == [one["lines"] for one in known["chunks"]]
    for bad in ("%m", "%d %p", "%d{HH:mm} %p %m", "%"):
        run = sparkflame("report", "--log-pattern", bad, tmp_path / "logs")
        assert run.returncode == 2 and b"--log-pattern: " in run.stderr, run.stderr


def test_console_progress_bars(sparkflame, tmp_path):
    """Spark draws them on the stream that has the log, in front of the next line."""
    bar = "\r[Stage 15:==>                          (3 + 2) / 6]"
    (tmp_path / "driver.log").write_text(
        "26/11/16 17:34:47 WARN Scheduler: one\n" + bar + bar + "\r" + " " * 60 + "\r"
        "26/11/16 17:36:07 ERROR TaskSetManager: two\nbecause of this\n" + bar + "\n" + bar +
        "[Stage 16:>     (0 + 1) / 2]26/11/16 17:36:08 ERROR Other: three\n")
    run = sparkflame("logs", "--errors", "-f", "json", "--level", "warn", tmp_path / "driver.log")
    assert run.returncode == 0, run.stderr
    errors = {error["message"]: error for error in json.loads(run.stdout)["errors"]}
    assert list(errors) == ["three", "two", "one"]
    assert errors["two"]["more"] == "because of this" and errors["one"]["more"] in (None, "")
    assert [error["line"] for error in errors.values()] == [5, 2, 1]


def test_warnings_on_wish(sparkflame):
    line = b"24/06/01 10:00:00 WARN Main: INFO is a word\n24/06/01 10:00:01 INFO Main: saw a warning here\n"
    assert logs(sparkflame, "-", stdin=line)["errors"] == []
    (error,) = logs(sparkflame, "--level", "warn", "-", stdin=line)["errors"]
    assert (error["level"], error["message"]) == ("WARN", "INFO is a word")


def test_hostile_and_broken_text(sparkflame):
    hostile = b"24/06/01 10:00:00 ERROR Main: \x1b[31mred\xff</script>\n" + b"x" * 3_000_000 + b"\n\0\0\n" \
              + b"24/06/01 10:00:01 ERROR Main: after"
    told = logs(sparkflame, "-", stdin=hostile)
    assert [error["message"] for error in told["errors"]][0] == "after"
    run = sparkflame("logs", "-", stdin=hostile)
    assert b"\x1b" not in run.stdout and run.returncode == 0
    assert b"</script>" not in sparkflame("logs", "-f", "json", "-", stdin=hostile).stdout


@pytest.mark.parametrize("stdin", [b"", b"no log at all\n", b"\x00\x01\x02" * 1000])
def test_what_is_no_log(sparkflame, stdin):
    run = sparkflame("logs", "-", stdin=stdin)
    assert run.returncode == 1 and b"not a Spark log" in run.stderr


def test_a_cut_gzip_keeps_what_came_before(sparkflame, tmp_path):
    packed = gzip.compress("\n".join(DRIVER * 2000).encode())
    path = tmp_path / "driver.log.gz"
    path.write_bytes(packed[:len(packed) // 2])
    run = sparkflame("logs", "-f", "json", path)
    assert run.returncode == 1 and b"driver.log.gz" in run.stderr
    assert len(json.loads(run.stdout)["jobs"]) == 2


def test_what_is_over_the_limit_is_reported(sparkflame):
    long = b"24/06/01 10:00:00 ERROR Main: long\n" + b"x" * 300_000 + b"\n"
    assert b"300001 bytes of entries longer than 262144 were skipped" in sparkflame("logs", "-", stdin=long).stderr
    assert sparkflame("logs", "-q", "-", stdin=long).stderr == b""


# Entries of one line and of many, of the text layouts and of JSON, two containers, and lines without a head; more
# than a thread takes at once.
ROUNDS = 3000
ROUND = [
    "Container: container_1_2_3_00000{odd} on host_{odd}",
    "24/06/01 10:00:05 INFO Executor: Running task {n}.0 in stage 7.0 (TID {n})",
    "24/06/01 10:00:06 ERROR Executor: Exception in task {n}.0 in stage 7.0 (TID {n})",
    "java.lang.IllegalStateException: no luck",
    *(f"\tat a.B.c{frame}(B.java:{frame})" for frame in range(20)),
    '{{"ts":"2024-06-01T10:00:07.000Z","level":"INFO","msg":"Finished task {n}.0 in stage 7.0 (TID {n}). 5 bytes",'
    '"logger":"org.apache.spark.executor.Executor"}}',
    "Traceback (most recent call last):", '  File "job.py", line 3, in f', "KeyError: 'x'",
]


@pytest.fixture(scope="module")
def long_log(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.log"
    path.write_text("".join(line.format(n=number, odd=number % 2 + 1) + "\n" for number in range(ROUNDS) for line in ROUND) +
                    "24/06/01 11:00:00 FATAL Late: it is over\n" + "24/06/01 11:00:01 INFO Late: good bye\n" * 2)
    return path


def test_entries_that_several_threads_read(sparkflame, long_log):
    whole = logs(sparkflame, "-j", 3, long_log)
    assert [(source["container"], source["records"]) for source in whole["logs"][1:]] == \
        [("container_1_2_3_000001", 4 * ROUNDS // 2), ("container_1_2_3_000002", 4 * ROUNDS // 2 + 3)]
    errors = {error["cause"]: error for error in whole["errors"]}
    for cause, line in (("java.lang.IllegalStateException: no luck", 3), ("KeyError: 'x'", len(ROUND) - 2)):
        assert (errors[cause]["count"], errors[cause]["log_count"], errors[cause]["line"]) == (ROUNDS, 2, line)
    assert errors["java.lang.IllegalStateException: no luck"]["more"].count("\tat ") == 20
    assert whole["errors"][0]["message"] == "it is over" and whole["errors"][0]["line"] == ROUNDS * len(ROUND) + 1
    assert sorted(task["id"] for task in whole["tasks"]) == list(range(ROUNDS))
    assert {task["status"] for task in whole["tasks"]} == {"succeeded"}
    assert {chunk["count"] for chunk in whole["chunks"]} == {ROUNDS, 2, 1}


def test_the_number_of_threads_changes_nothing(sparkflame, long_log, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    text = long_log.read_bytes()
    (folder / "stderr1.gz").write_bytes(gzip.compress(text, 1))
    (folder / "stderr2").write_bytes(text[:len(text) // 3])
    (folder / "stderr3").write_bytes(b"")
    (folder / "stderr4.gz").write_bytes(gzip.compress(text, 1)[:-1000])
    (folder / "stderr5").write_bytes(text[len(text) // 3:])
    runs = [sparkflame("logs", "-f", "json", "-j", threads, folder) for threads in (1, 2, 8)]
    assert {run.returncode for run in runs} == {1} and {run.stderr.count(b"stderr4.gz: after line") for run in runs} == {1}
    assert len({run.stdout for run in runs}) == 1 and len({run.stderr for run in runs}) == 1
    assert sum(source["records"] for source in json.loads(runs[0].stdout)["logs"]) > 11 * ROUNDS
