"""sparkflame asprof: async-profiler's command line."""

import os
import pathlib
import subprocess

import pytest

import jvm


@pytest.fixture
def program(tmp_path):
    classes = jvm.compile_classes(tmp_path, "Waits")
    process = subprocess.Popen([jvm.home_of("17") / "bin" / "java", "-cp", str(classes), "Waits", "600000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def test_collect_start_stop(program, sparkflame, tmp_path):
    pid = program.pid
    done = sparkflame("asprof", "-d", 2, "-e", "ctimer", "-i", "1ms", "-o", "collapsed", pid)
    assert done.returncode == 0 and b"Waits.burns" in done.stdout, done.stderr
    assert b"Profiling for 2 seconds\nDone\n" in done.stderr
    done = sparkflame("asprof", "start", "-e", "wall", "-t", "-f", "out.jfr", pid)
    assert done.stdout == b"Profiling started\n", done.stderr
    assert sparkflame("asprof", "status", pid).stdout.startswith(b"Profiling is running for ")
    again = sparkflame("asprof", "start", pid)
    assert again.returncode == 1 and again.stderr == b"[ERROR] Profiler already started\n"
    done = sparkflame("asprof", "stop", "-o", "collapsed", pid)
    assert b"[sleeper tid=" in done.stdout
    assert (tmp_path / "out.jfr").read_bytes().startswith(b"FLR\0")
    assert program.poll() is None


def test_pictures(program, sparkflame, tmp_path):
    """Rendered by this command, outside of the JVM; or by the agent, if requested at the start."""
    pid = program.pid
    done = sparkflame("asprof", "start", "-e", "wall", "-i", "1ms", "-f", tmp_path / "agent.svg", pid)
    assert done.stdout == b"Profiling started\n", done.stderr
    assert sparkflame("control", pid, "stop").returncode == 0
    assert (tmp_path / "agent.svg").read_text().endswith("</svg>\n")
    done = sparkflame("asprof", "start", "-e", "wall", "-i", "1ms", pid)
    assert done.stdout == b"Profiling started\n", done.stderr
    while b"Waits.burns" not in sparkflame("asprof", "dump", "-o", "collapsed", pid).stdout:
        assert program.poll() is None
    for name in ("profile.pb.gz", "picture.svg", "page.html"):
        done = sparkflame("asprof", "dump", "-f", name, "--title", "Burns & waits", pid)
        assert done.returncode == 0 and done.stdout == b"", done.stderr
    assert b"Waits.burns" in sparkflame("convert", "profile.pb.gz").stdout
    picture = (tmp_path / "picture.svg").read_text()
    assert "Waits.burns" in picture and "Burns &amp; waits" in picture
    assert "Burns &amp; waits" in (tmp_path / "page.html").read_text()
    page = sparkflame("asprof", "stop", "-o", "flamegraph", "--title", "<Burns>", pid)
    assert page.returncode == 0 and page.stdout.startswith(b"<!DOCTYPE html>"), page.stderr
    assert b"<h1>&lt;Burns></h1>" in page.stdout
    (tmp_path / "agent.html").write_bytes(page.stdout)
    assert b"Waits.burns" in sparkflame("convert", "agent.html").stdout


def thread_names(pid):
    names = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        try:
            names.append(path.read_text())
        except OSError:
            pass
    return names


def test_a_jvm_that_is_still_starting(sparkflame, tmp_path):
    """As soon as the JVM accepts commands; JVMTI is available later."""
    classes = jvm.compile_classes(tmp_path, "Waits")
    process = subprocess.Popen([jvm.home_of("17") / "bin" / "java", "-cp", str(classes), "Waits", "600000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        # Before a JVM has installed its signal handlers, SIGQUIT ends it.
        while not any("Signal Dispatch" in name for name in thread_names(process.pid)):
            assert process.poll() is None
        done = sparkflame("asprof", "start", "-e", "ctimer", process.pid)
        assert done.returncode == 0 and done.stdout == b"Profiling started\n", done.stderr
    finally:
        process.kill()
        process.communicate()


def test_called_by_its_name(program, binary, tmp_path):
    link = tmp_path / "asprof"
    link.symlink_to(binary)
    environment = {**os.environ, "SPARKFLAME_AGENT": str(jvm.LIBRARY)}
    done = subprocess.run([link, "status", str(program.pid)], capture_output=True, stdin=subprocess.DEVNULL,
                          env=environment, timeout=jvm.LIMIT_SECONDS, check=False)
    assert done.stdout == b"Profiler is not active\n", done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--frobnicate", "1"], b"Unrecognized option: --frobnicate\n"),
    (["-d"], b"-d needs a value\n"),
    (["status", "NoSuchClassAnywhere"], b"no process \"NoSuchClassAnywhere\""),
])
def test_bad_use(arguments, message, sparkflame):
    done = sparkflame("asprof", *arguments)
    assert done.returncode == 1 and message in done.stderr
