"""sparkflame record on a JVM: through the agent, with the same options as for Python processes."""

import contextlib
import subprocess

import pytest

import jvm
import python_targets
from measuring import collect


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Waits")


@contextlib.contextmanager
def running(classes):
    program = subprocess.Popen([jvm.system_home() / "bin" / "java", "-cp", str(classes), "Waits", "600000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        yield program
        assert program.poll() is None
    finally:
        program.kill()
        program.communicate()


def test_a_jvm_is_recorded_to_what_the_ending_says(sparkflame, classes, tmp_path):
    with running(classes) as program:
        seen = []

        def measure():
            done = sparkflame("record", "-d", "1", "-r", "500", "-f", "out.jfr", program.pid)
            assert done.returncode == 0, done.stderr
            seen.append(sparkflame("convert", "-q", "out.jfr").stdout)

        # On a busy machine the spinning thread may not run at first.
        collect(measure, lambda: b"Waits.burns" in seen[-1])
        for name, begin in (("out.html", b"<!DOCTYPE html>"), ("out.svg", b"<?xml"), ("out.pb.gz", b"\x1f\x8b")):
            done = sparkflame("record", "-d", "1", "-f", name, program.pid)
            assert done.returncode == 0, done.stderr
            assert (tmp_path / name).read_bytes().lower().startswith(begin.lower())


@pytest.mark.parametrize("options, message", [
    (["--gil"], "are for Python"),
    (["-f", "out.xyz"], "out.xyz"),
])
def test_what_a_jvm_does_not_have_is_refused(sparkflame, classes, options, message):
    with running(classes) as program:
        done = sparkflame("record", "-d", "1", *options, program.pid)
        assert done.returncode == 2 and message in done.stderr.decode(), done.stderr


def test_jvms_and_pythons_make_one_profile(sparkflame, classes):
    with (running(classes) as first, running(classes) as second,
          python_targets.running("3.12", "alternating_chains.py", 5000) as python):
        expected = {f"process {process.pid}" for process in (first, second, python)}
        found = set()

        def measure():
            done = sparkflame("record", "-d", "1", "-r", "500", "-f", "all.pb.gz", first.pid, python.pid, second.pid)
            assert done.returncode == 0, done.stderr
            lines = sparkflame("convert", "-q", "--by", "process", "all.pb.gz").stdout.decode().splitlines()
            found.update(line.split(";")[0] for line in lines if "Waits.burns" in line or ";leaf" in line)
            assert found <= expected, lines

        collect(measure, lambda: found == expected)
        done = sparkflame("record", "-d", "1", "-e", "lock", first.pid, python.pid)
        assert done.returncode == 2 and b"--event lock is for JVMs" in done.stderr
