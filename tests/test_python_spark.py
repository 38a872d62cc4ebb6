"""Live PySpark: the task of each worker is checked against Spark's event log."""

import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

import jvm
import spark
from python_targets import MEASUREMENTS, PROGRAMS, given_up, stacks

import fetch_spark  # found by python_targets

VERSIONS = ["3.5", "4"]
LIMIT_SECONDS = 900
PRELOADED = PROGRAMS / "spark_job" / "preloaded"
# Stack, task and time of a sample are read one after the other; on a busy machine a task may end in between.
STRAY_SHARE = 0.03


@pytest.fixture(scope="module", autouse=True)
def fetched():
    """Downloading and unpacking take time: done in parallel."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        coming = [*(pool.submit(fetch_spark.fetch, version) for version in VERSIONS), pool.submit(fetch_spark.fetch_pandas)]
    for one in coming:
        one.result()


def spark_environment(version, folder):
    home = fetch_spark.fetch(version)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    return {**inherited, "SPARK_HOME": str(home), "JAVA_HOME": str(jvm.home_of("17")),
            "PYTHONPATH": os.pathsep.join([fetch_spark.python_path(home), str(fetch_spark.fetch_pandas()), str(PRELOADED)]),
            "SPARK_SUBMIT_OPTS": spark.java_options(version, env={"JAVA_HOME": str(jvm.home_of("17"))}),
            "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def wait_for(what, process):
    end = time.monotonic() + LIMIT_SECONDS
    while not what():
        assert process.poll() is None and time.monotonic() < end, "it ended, or takes too long"
        time.sleep(0.02)


def open_files(pid):
    """The open files of a process; it may close them meanwhile."""
    folder = pathlib.Path(f"/proc/{pid}/fd")
    found = set()
    for entry in folder.iterdir():
        try:
            found.add(os.readlink(entry))
        except OSError:
            pass
    return found


def record_session(binary, driver, target, path):
    """Record while the jobs run; returns the output of the tasks and of the recorder."""
    recorder = subprocess.Popen([binary, "record", "--spark", str(target), "--idle", "-r", "100", "-f", path],
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: f"/proc/{driver.pid}/task/{driver.pid}/children" in open_files(recorder.pid), recorder)
        driver.stdin.write("go\n")
        driver.stdin.flush()
        said = json.loads(driver.stdout.readline())
        recorder.send_signal(signal.SIGINT)
        _, summary = recorder.communicate(timeout=LIMIT_SECONDS)
    finally:
        recorder.kill()
        recorder.wait()
    assert recorder.returncode == 0, summary.decode()
    return said, summary


def read_log(path):
    """{task id: (stage, partition, attempt, launch in ms, finish in ms)}"""
    tasks = {}
    for line in path.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd":
            info = event["Task Info"]
            tasks[info["Task ID"]] = (event["Stage ID"], info["Partition ID"], info["Attempt"], info["Launch Time"],
                                      info["Finish Time"])
    return tasks


def labelled(sparkflame, path, *arguments):
    """[(labels as {name: value}, frames, count)] of a recording."""
    done = sparkflame("convert", path, "--by", "process,stage,partition,attempt,task,state", "--weight", "count",
                      "--bare-names", "-f", "folded", *arguments)
    assert done.returncode == 0, done.stderr.decode()
    found = []
    for stack, count in stacks(done.stdout).items():
        labels = {name: int(value) for name, value in re.findall(r"(process|stage|partition|attempt|task) (\d+)(?:;|$)",
                                                                 ";".join(stack[:5]))}
        found.append(({**labels, "state": stack[5]}, stack[6:], count))
    return found


def when(milliseconds):
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def busy_kind(frames):
    """The job's function that a stack is in."""
    return next((frame[5:] for frame in frames if frame.startswith("busy_")), None)


def check_labels(samples, log, said):
    """The labels of every sample are those of one task in the log, and functions run in the tasks that report them."""
    spoke = {task: (kind, process) for kind, _, _, _, task, process in said}
    seen = {}
    wrong = unlabelled = total = 0
    for labels, frames, count in samples:
        kind = busy_kind(frames)
        total += count if kind else 0
        if "task" not in labels:
            unlabelled += count if kind else 0
            continue
        stage, partition, attempt, _, _ = log[labels["task"]]
        assert (labels["stage"], labels["partition"], labels["attempt"]) == (stage, partition, attempt)
        if kind and labels["task"] in spoke and spoke[labels["task"]] != (kind, labels["process"]):
            wrong += count
        elif kind:
            seen.setdefault(labels["task"], set()).add(labels["process"])
    assert total > 0
    assert wrong <= STRAY_SHARE * total
    assert unlabelled <= STRAY_SHARE * total
    # All tasks, all workers.
    assert set(seen) == set(log)
    assert {process for _, _, _, _, _, process in said} <= set().union(*seen.values())


def check_times(sparkflame, path, log):
    """Samples of a task are between its launch and its finish."""
    inside = total = 0
    for task, (_, _, _, launch, finish) in log.items():
        total += sum(count for _, _, count in labelled(sparkflame, path, "--task", task))
        inside += sum(count for _, _, count in labelled(sparkflame, path, "--task", task, "--from", when(launch),
                                                        "--to", when(finish + 1)))
    assert inside >= (1 - STRAY_SHARE) * total


def split_json(text):
    """Several objects, one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        value, size = decoder.raw_decode(text[at:].lstrip())
        at = len(text) - len(text[at:].lstrip()) + size
        yield value


def living(pids):
    """Those that have not ended: Spark ends workers that were idle for a minute."""
    return {pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")}


def check_idle_workers(sparkflame, driver, target, workers):
    """dump and top find the same processes, and no other Python process of this machine."""
    for _ in range(MEASUREMENTS):
        done = sparkflame("dump", "--json", "--spark", target)
        if done.returncode == 0:  # none of them ended while it was read
            break
    assert done.returncode == 0, done.stderr.decode()
    dumped = {process["pid"]: process for process in split_json(done.stdout.decode())}
    assert living(workers) | {driver.pid} <= set(dumped)
    assert os.getpid() not in dumped
    # A waiting worker no longer has its previous task.
    assert not any("task" in thread for worker in workers & set(dumped) for thread in dumped[worker]["threads"])
    done = sparkflame("top", "--spark", target, "--idle", "-d", "0.5")
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout.split()[0]) > len(living(workers))


@pytest.mark.parametrize("version", VERSIONS)
def test_tasks_are_those_of_the_event_log(binary, sparkflame, tmp_path, version):
    logs = tmp_path / "logs"
    logs.mkdir()
    with open(tmp_path / "driver.txt", "wb") as errors:
        driver = subprocess.Popen([sys.executable, PROGRAMS / "spark_job" / "four_kinds.py", logs], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=tmp_path,
                                  env=spark_environment(version, tmp_path))
    sessions = []
    try:
        for number in range(2):
            line = driver.stdout.readline()
            assert line, (tmp_path / "driver.txt").read_text()[-4000:]
            session = json.loads(line)
            # A driver without executors does not expose its application id; it is identified by its pid.
            target = session["application"] if "cluster" in session["spark.master"] else driver.pid
            path = tmp_path / f"session{number}.jfr"
            sessions.append((session, path, *record_session(binary, driver, target, path)))
            if session["spark.python.worker.reuse"] == "true":
                check_idle_workers(sparkflame, driver, target, {said[5] for said in sessions[-1][2]})
            driver.stdin.write("go\n")
            driver.stdin.flush()
        driver.communicate(timeout=LIMIT_SECONDS)
    finally:
        driver.kill()
        driver.wait()
        for session, *_ in sessions:
            shutil.rmtree(fetch_spark.fetch(version) / "work" / session["application"], ignore_errors=True)
    assert driver.returncode == 0, (tmp_path / "driver.txt").read_text()[-4000:]
    for session, path, said, summary in sessions:
        log = read_log(logs / session["application"])
        assert len(said) == 16 and len(log) == 17
        lost, kept = given_up(summary)
        assert lost <= 0.01 * (lost + kept)
        workers = {process for _, _, _, _, _, process in said}
        assert len(workers) == 16 if session["spark.python.worker.reuse"] == "false" else len(workers) < 16
        check_labels(labelled(sparkflame, path), log, said)
        check_times(sparkflame, path, log)
