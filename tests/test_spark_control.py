"""Profiling that is turned off and on, and changed, while an application runs."""

import collections
import threading
import time

import pytest

import spark

LIMIT_SECONDS = 600
STEP_SECONDS = 0.5


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5")


def wait_for(condition):
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(STEP_SECONDS)
    raise AssertionError("it never came")


def shipped(folder):
    """How many recordings each JVM has shipped."""
    return collections.Counter(path.parent.name for path in folder.glob("*/*.jfr"))


def rest_of(folder):
    """Waits until nothing has arrived for some intervals; returns what is there."""
    seen = []

    def is_quiet():
        seen.append(shipped(folder))
        return len(seen) > 16 and all(counts == seen[-1] for counts in seen[-16:])

    wait_for(is_quiet)
    return seen[-1]


def check_control(sparkflame, out):
    """The driver is profiled, executors are not: one is turned on, then all are turned off, then reset."""
    application = wait_for(lambda: list(out.glob("app-*")))[0]
    wait_for(lambda: shipped(application)["driver"] > 0)
    assert sparkflame("control", application, "on", "executor=1", "for=900s", "event=wall", "interval=20ms").returncode == 0
    wait_for(lambda: shipped(application)["exec-1"] >= 3)
    assert shipped(application)["exec-0"] == 0, shipped(application)
    taken = application / "exec-1" / "000002.jfr"
    assert sparkflame("convert", "-q", "-e", "wall", "-f", "folded", taken).returncode == 0
    assert b"no samples" in sparkflame("convert", "-q", "-e", "alloc", "-f", "folded", taken).stderr
    assert sparkflame("control", application, "off").returncode == 0
    before = rest_of(application)
    assert sparkflame("control", application, "reset").returncode == 0
    wait_for(lambda: shipped(application)["driver"] > before["driver"])
    assert shipped(application)["exec-1"] == before["exec-1"], (before, shipped(application))


def test_an_application_is_told_while_it_runs(sparkflame, tmp_path):
    done = []
    told = tmp_path / "told"
    conf = {"spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.sparkflame.interval": "1s",
            "spark.sparkflame.control": "1s", "spark.sparkflame.executor.first": "0"}
    job = threading.Thread(target=lambda: done.append(spark.submit(
        "3.5", tmp_path / "run", "until_told.py", told, master="local-cluster[2,1,1024]", conf=conf)))
    job.start()
    try:
        check_control(sparkflame, tmp_path / "out")
    finally:
        told.touch()
        job.join()
    assert done[0].returncode == 0, done[0].log[-5000:]
    assert any("the driver is no longer profiled" in line for line in spark.said(done[0].log)), spark.said(done[0].log)


def test_what_cannot_be_is_refused(sparkflame, tmp_path):
    assert sparkflame("control", tmp_path, "perhaps").returncode == 2
    assert sparkflame("control", tmp_path, "on", "for=soon").returncode == 2
    for word in ("slowest=0", "slowest=some", "fraction=2", "fraction=half", "fraction=0."):
        assert sparkflame("control", tmp_path, "on", word).returncode == 2, word
    run = sparkflame("control", "-", "on", "slowest=3", "fraction=0.25", "straggling", "event=cpu")
    assert run.stdout.decode().splitlines() == ["profile=on", "slowest=3", "fraction=0.25", "straggling=true", "args=event=cpu"]
    run = sparkflame("control", "-", "off", "executor=3,driver")
    assert run.returncode == 0 and run.stdout.decode().splitlines() == ["profile=off", "executors=3,driver"]
