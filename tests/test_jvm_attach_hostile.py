"""Attaching as root to hostile processes, and on machines with hostile users."""

import ast
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

import pytest

import jvm
from test_jvm_attach import classes, running  # noqa: F401

PROGRAM = jvm.TESTS / "python_programs" / "pretends_to_be_jvm.py"
NOBODY, DAEMON = 65534, 1
LIMIT_SECONDS = 120

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be harmed like this")


@contextlib.contextmanager
def pretending(folder, mode, *more):
    library = jvm.system_home() / "lib" / "server" / "libjvm.so"
    process = subprocess.Popen([sys.executable, "-E", PROGRAM, library, folder, str(NOBODY), mode, *map(str, more)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.terminate()
        process.wait(LIMIT_SECONDS)
        process.stdout.close()


@contextlib.contextmanager
def listening(path, user):
    """A socket of that user where a JVM would listen."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        os.chmod(path, 0o777)
        os.chown(path, user, user)
        listener.listen()
        try:
            yield listener
        finally:
            os.unlink(path)


def refused(sparkflame, pid):
    done = sparkflame("jcmd", pid, "VM.version", env={"SPARKFLAME_ATTACH_TIMEOUT": "5"})
    assert done.returncode == 1, done.stdout
    return done.stderr.decode()


def test_a_socket_of_another_user_is_not_spoken_to(sparkflame, classes):  # noqa: F811
    with running(jvm.system_home(), classes, user=NOBODY, group=NOBODY) as process:
        with listening(f"/tmp/.java_pid{process.pid}", DAEMON) as listener:
            assert "it was not created by that JVM" in refused(sparkflame, process.pid)
            listener.settimeout(0)
            with pytest.raises(BlockingIOError):
                listener.accept()
        assert sparkflame("jcmd", process.pid, "VM.version").returncode == 0


def test_a_socket_of_another_process_gets_no_command(sparkflame, classes):  # noqa: F811
    with running(jvm.system_home(), classes) as process:
        with listening(f"/tmp/.java_pid{process.pid}", os.geteuid()) as listener:
            assert f"not process {process.pid}, listens" in refused(sparkflame, process.pid)
            with listener.accept()[0] as connection:
                assert connection.recv(1) == b""


def test_a_process_that_never_answers_does_not_hold_up_the_command(sparkflame):
    with pretending("/", "silent") as process:
        done = sparkflame("jcmd", process.pid, "VM.version", env={"SPARKFLAME_ATTACH_TIMEOUT": "1"})
        assert done.returncode == 1
        assert b"did not answer for 1 s" in done.stderr


def test_a_process_that_answers_byte_by_byte_does_not_either(sparkflame):
    with pretending("/", "trickles") as process:
        done = sparkflame("jcmd", process.pid, "VM.version", env={"SPARKFLAME_ATTACH_TIMEOUT": "1"})
        assert done.returncode == 1
        assert b"did not answer for 1 s" in done.stderr


def next_request(process):
    """Waits until its command has removed the folder of the answer, too."""
    request = ast.literal_eval(process.stdout.readline().decode()).decode()
    folder = pathlib.Path(re.search(r",reply=(/tmp/[^/]+)/reply", request)[1])
    end = time.monotonic() + LIMIT_SECONDS
    while folder.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return request


@pytest.mark.parametrize("words, limit_s", [(["top", "-d", "1000"], 4602), (["record"], 86460), (["record", "-d", "1000"], 1060)])
@pytest.mark.parametrize("mode", ["tells", "records"])
def test_what_a_killed_command_leaves_in_the_jvm_has_a_limit(binary, tmp_path, mode, words, limit_s):
    """Its own recording, or its view of one that runs."""
    with pretending("/", mode) as process:
        command = subprocess.Popen([binary, *words, str(process.pid)], cwd=tmp_path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            requests = [next_request(process)]
            if mode == "records":
                requests.append(next_request(process))
                assert "view=" in requests[1]
        finally:
            command.kill()
            command.wait(LIMIT_SECONDS)
        for request in requests:
            assert f",timeout={limit_s}," in request, request


def test_a_link_in_the_place_of_the_answer_is_not_followed(sparkflame):
    """Absolute links below /proc/PID/root are resolved in the root of the command, not of the process."""
    with tempfile.TemporaryDirectory(prefix="sparkflame-") as name:
        jail, victim = pathlib.Path(name, "jail"), pathlib.Path(name, "victim")
        (jail / "tmp").mkdir(parents=True)
        os.chown(jail / "tmp", NOBODY, NOBODY)
        victim.mkdir(mode=0o700)
        (victim / "reply").write_text("a secret of root\n")
        before = os.stat(victim)
        with pretending(jail, "swaps", victim) as process:
            done = sparkflame("asprof", "status", process.pid)
            assert (jail / "tmp" / "moved").exists(), done.stderr  # else it did not attack
        assert b"a secret of root" not in done.stdout + done.stderr
        assert (victim / "reply").read_text() == "a secret of root\n"
        after = os.stat(victim)
        assert (after.st_uid, after.st_mode) == (before.st_uid, before.st_mode)


def test_root_creates_no_file_where_the_jvm_may_not(sparkflame, classes):  # noqa: F811
    """A process chooses its working folder, in which an attaching command creates a file for the JVM."""
    with tempfile.TemporaryDirectory(prefix="sparkflame-") as folder:
        os.chmod(folder, 0o755)
        with running(jvm.system_home(), classes, user=NOBODY, group=NOBODY, extra_groups=[], cwd=folder) as process:
            before = os.stat(folder).st_mtime_ns
            done = sparkflame("jcmd", process.pid, "VM.version")
            assert done.returncode == 0, done.stderr
            assert os.stat(folder).st_mtime_ns == before


def test_the_file_of_an_attaching_command_belongs_to_the_jvm(sparkflame, classes):  # noqa: F811
    with tempfile.TemporaryDirectory(prefix="sparkflame-") as folder:
        os.chown(folder, NOBODY, NOBODY)
        with running(jvm.system_home(), classes, user=NOBODY, group=NOBODY, extra_groups=[], cwd=folder) as process:
            before = os.stat(folder).st_mtime_ns
            done = sparkflame("jcmd", process.pid, "VM.version")
            assert done.returncode == 0, done.stderr
            assert os.stat(folder).st_mtime_ns > before
            assert os.listdir(folder) == []
