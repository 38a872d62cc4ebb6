"""sparkflame report of an application that has not ended, and --watch, which follows it."""

import json
import re
import subprocess
import time

import pytest

WAIT_S = 60


@pytest.fixture
def running(data, tmp_path):
    """The log of an application up to the middle of its first stage, and the lines after it."""
    lines = (data / "event_log" / "single").read_bytes().splitlines(keepends=True)
    first_end = next(i for i, line in enumerate(lines) if b'"SparkListenerTaskEnd"' in line)
    log = tmp_path / "app-1.inprogress"
    log.write_bytes(b"".join(lines[:first_end + 1]))
    return log, b"".join(lines[first_end + 1:])


def eventually(probe, program):
    """What `probe` gives once it is true."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        assert program.poll() is None or probe(), f"it ended with {program.returncode}"
        time.sleep(0.05)
    raise AssertionError("nothing came")


def test_progress_in_the_text(sparkflame, running):
    text = sparkflame("report", running[0]).stdout.decode()
    assert re.search(r"\nNot ended; last event 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\n", text)
    assert re.search(r"\n  job 0: 1 of 7 tasks \(14 %\)\n  stage 0\.0: 1 of 4 tasks \(25 %\), \d running, about \S+ \S+ left at this pace\n", text)


def test_an_application_that_ended_has_no_progress(sparkflame, data):
    assert b"Not ended" not in sparkflame("report", data / "event_log" / "single").stdout


def test_watch_follows_a_log_to_its_end(binary, running, tmp_path):
    log, rest = running
    out = tmp_path / "out.json"
    program = subprocess.Popen([binary, "report", "-q", "--watch", "1", log, "-o", out], stdin=subprocess.DEVNULL)
    try:
        tasks = eventually(lambda: out.exists() and json.loads(out.read_text())["tasks"], program)
        assert sum(task["status"] == "succeeded" for task in tasks) == 1
        with log.open("ab") as more:
            more.write(rest)
        log.rename(tmp_path / "app-1")
        assert program.wait(WAIT_S) == 0
    finally:
        program.kill()
        program.wait()
    found = json.loads(out.read_text())
    assert len(found["tasks"]) == 19 and found["application"]["end_ms"]


def test_the_report_may_be_in_the_folder_that_is_watched(binary, running, tmp_path):
    """It does not count as news: without other changes it is written once."""
    log, rest = running
    out = tmp_path / "out.json"
    program = subprocess.Popen([binary, "report", "-q", "--watch", "1", tmp_path, "-o", out], stdin=subprocess.DEVNULL)
    try:
        eventually(out.exists, program)
        written = out.stat()
        time.sleep(3)
        assert (out.stat().st_ino, out.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns) and program.poll() is None
        with log.open("ab") as more:
            more.write(rest)
        assert program.wait(WAIT_S) == 0
    finally:
        program.kill()
        program.wait()
    assert json.loads(out.read_text())["application"]["end_ms"]


def test_watch_follows_a_log_that_was_renamed_before_it_was_opened(sparkflame, running, tmp_path):
    log, rest = running
    (tmp_path / "app-1").write_bytes(log.read_bytes() + rest)
    log.unlink()
    run = sparkflame("report", "--watch", "1", "-f", "json", log)
    assert run.returncode == 0 and len(json.loads(run.stdout)["tasks"]) == 19


def test_watch_ends_with_what_cannot_be_read(sparkflame, tmp_path):
    assert sparkflame("report", "--watch", "1", tmp_path / "none").returncode == 1


def test_watch_has_a_limit(sparkflame, data):
    run = sparkflame("report", "--watch", "86401", data / "event_log" / "single")
    assert run.returncode == 2 and b"at most 86400 seconds" in run.stderr
