"""Missing permissions are reported, with a remedy. Run by root or not: the reader is never root."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
# A process that changed its user, or requested it, is readable by root only.
HIDING = """
import ctypes, os, sys
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
else:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print("ready", flush=True)
sys.stdin.read()
"""
PLAIN = "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n"
CONTAINER_FIX = "docker run --cap-add SYS_PTRACE (Kubernetes: securityContext: {capabilities: {add: [SYS_PTRACE]}})"


@pytest.fixture(scope="module")
def weak(binary):
    """Run the command as an unprivileged user, from where that user can access it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    shutil.copy(binary, folder / "sparkflame")
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if IS_ROOT else {}

    def call(*arguments):
        return subprocess.run([folder / "sparkflame", *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd="/", check=False, **user)
    yield call
    shutil.rmtree(folder)


@contextlib.contextmanager
def python(source):
    process = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def check_explained(weak, pid, reason):
    for arguments in (["record", pid, "-d", "0.1"], ["top", pid, "-d", "0.1"], ["dump", pid],
                      ["py-spy", "dump", "--pid", pid]):
        done = weak(*arguments)
        assert done.returncode == 1, arguments
        assert f": process {pid} may not be read: {reason}" in done.stderr, done.stderr
        assert done.stderr.count(f"process {pid}") == 1 and done.stdout == ""
        assert "Run it with sudo" in done.stderr
        assert CONTAINER_FIX in done.stderr
    done = weak("doctor", pid)
    assert done.returncode == 1
    assert f"process {pid} may not be read: {reason}" in done.stdout, done.stdout
    assert CONTAINER_FIX in done.stdout


@pytest.mark.skipif(not IS_ROOT, reason="only root can start a process of another user")
def test_another_users_python(weak):
    with python(PLAIN) as pid:
        check_explained(weak, pid, f"it belongs to user 0, this command runs as user {NOBODY} without CAP_SYS_PTRACE")


def test_a_python_that_hides_its_memory(weak):
    yama = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    scope = yama.read_text().strip() if yama.exists() else "0"
    with python(HIDING) as pid:
        reason = (f"kernel.yama.ptrace_scope is {scope}" if scope in ("1", "2")
                  else "it has capabilities that this command lacks, or protects its memory")
        check_explained(weak, pid, reason)
