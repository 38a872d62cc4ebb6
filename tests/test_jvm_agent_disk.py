"""Recordings on full disks and of killed processes: the JDK's jfr can read the file at any moment."""

import datetime
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

import jvm
from test_jvm_agent_jfr import events, summary

UNIT_TEST = jvm.ROOT / "build" / "test_jvm_agent_jfr_disk_test"
WRITERS = ["a_wide_recording_is_whole_after_each_write", "a_compact_recording_is_whole_after_each_write",
           "a_full_disk_delays_samples_but_loses_none"]
LIMIT_SECONDS = 60


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "ReadRecordings", "Shares")


@pytest.fixture(scope="module")
def moments(tmp_path_factory):
    """The file after each page of each write of a recording."""
    folder = tmp_path_factory.mktemp("moments")
    for name in WRITERS:
        subprocess.run([UNIT_TEST, name], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=LIMIT_SECONDS,
                       env={**os.environ, "SPARKFLAME_SNAPSHOTS": str(folder)})
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("version", ["17", "25"])
def test_a_recording_can_be_read_after_each_write(version, classes, moments):
    done = jvm.run_java(jvm.home_of(version), classes, None, "ReadRecordings", moments,
                        options=["--add-opens", "jdk.jfr/jdk.jfr.internal.tool=ALL-UNNAMED"])
    lines = done.stdout.splitlines()
    assert len(lines) == len(list(moments.iterdir())) > 300
    assert [line for line in lines if "failed" in line] == []
    for shape in ["wide", "compact", "full"]:
        samples = [int(line.split()[1]) for line in lines if line.startswith(shape)]
        assert samples == sorted(samples) and samples[0] > 0 and samples[-1] > 600, samples


class Recorded:
    """A busy JVM with a recording; a file size limit acts like a full disk."""

    def __init__(self, classes, folder, options=""):
        self.path, self.log = folder / "out.jfr", folder / "log"
        agent = f"start,event=ctimer,interval=1ms,jfr,file={self.path},log={self.log}{options}"
        self.process = subprocess.Popen([jvm.home_of("17") / "bin" / "java", f"-agentpath:{jvm.LIBRARY}={agent}", "-cp",
                                         classes, "Shares", "60000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.await_samples(100)

    def limit(self, size_bytes):
        hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size_bytes, hard))

    def await_log(self, pattern):
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            found = re.search(pattern, self.log.read_text() if self.log.exists() else "")
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{pattern} is not in the log:\n{self.log.read_text()}")

    def await_samples(self, count):
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            if self.path.exists() and self.samples() >= count:
                return
            time.sleep(0.1)
        raise AssertionError("no samples come")

    def samples(self):
        """Of a copy, since the file may grow while it is read."""
        copy = self.path.with_suffix(".copy.jfr")
        shutil.copyfile(self.path, copy)
        return summary(copy)[1].get("jdk.ExecutionSample", 0)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(LIMIT_SECONDS)


@pytest.fixture
def recorded(classes, tmp_path):
    started = []

    def start(options=""):
        started.append(Recorded(classes, tmp_path, options))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


def test_recording_resumes_when_there_is_space(recorded):
    target = recorded()
    target.limit(target.path.stat().st_size)
    full = target.await_log(r"\[ERROR\] cannot write .*out.jfr: File too large: samples are kept in memory")
    before = target.samples()
    time.sleep(1.5)
    assert target.samples() == before, full
    freed = datetime.datetime.now().astimezone()
    target.limit(resource.RLIM_INFINITY)
    target.await_log(r"out.jfr: writing resumed, 0 samples were lost")
    target.await_samples(target.samples() + 1000)
    target.end()
    times = sorted(datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d*", r"\1", event["startTime"]))
                   for event in events(target.path, "jdk.ExecutionSample"))
    assert sum(each > freed for each in times) > 500, (freed, times[-1])
    gaps = sorted(((b - a).total_seconds() for a, b in zip(times, times[1:])), reverse=True)
    assert gaps[0] < 0.8, gaps[:5]  # samples of that time are present, too
    assert target.log.read_text().count("samples are kept in memory") == 1


def test_a_killed_process_leaves_a_recording(recorded):
    target = recorded()
    target.end(signal.SIGKILL)
    assert summary(target.path)[1]["jdk.ExecutionSample"] >= 100
    assert [path.name for path in target.path.parent.iterdir() if ".part" in path.name] == []


def limited(binary, *arguments):
    """Run the command with a file size limit of 4 kB."""
    return subprocess.run(["prlimit", "--fsize=4096", str(binary), *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))


@pytest.fixture(scope="module")
def folded(tmp_path_factory):
    path = tmp_path_factory.mktemp("folded") / "in.folded"
    path.write_text("".join(f"main;work{number};leaf{number} {number + 1}\n" for number in range(3000)))
    return path


@pytest.mark.parametrize("output", ["out.html", "out.svg", "out.folded", "out.jfr"])
def test_convert_leaves_no_partial_file(binary, folded, tmp_path, output):
    done = limited(binary, "convert", folded, "-o", tmp_path / output)
    assert done.returncode == 1 and re.search(f"cannot write .*{output}: File too large", done.stderr), done
    assert list(tmp_path.iterdir()) == []


def test_convert_to_a_full_device(binary, folded):
    done = subprocess.run([str(binary), "convert", folded, "-f", "folded", "-o", "/dev/full"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 1 and "cannot write /dev/full: No space left on device" in done.stderr, done


def test_record_leaves_no_partial_file(binary, tmp_path):
    sleeper = subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
    try:
        done = limited(binary, "record", "-d", "1", "-f", tmp_path / "out.html", sleeper.pid)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert done.returncode == 1 and re.search("cannot write .*out.html: File too large", done.stderr), done
    assert list(tmp_path.iterdir()) == []
