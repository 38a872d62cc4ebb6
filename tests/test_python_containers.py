"""Python processes in containers: other roots, other pids; the static command inside and outside of them.

A container here is a directory with Python, the C library and the static sparkflame only. If the machine permits it, it has
its own pid namespace and /proc, otherwise only a changed root. If neither is permitted, the tests are skipped.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from python_targets import PROGRAMS, interpreter, stacks

VERSION = "3.13"
# A separate mount, as in containers: outside, the paths of its files do not exist.
OWN_MOUNT = ["sh", "-c", 'mount -t tmpfs none /mnt && mkdir /mnt/inside && mount --rbind "$0" /mnt/inside && exec chroot /mnt/inside "$@"',
             "{root}"]
WAYS = {
    "namespaces": ["unshare", "--pid", "--mount", "--fork", "--mount-proc={root}/proc", *OWN_MOUNT],
    "user namespaces": ["unshare", "--user", "--map-root-user", "--pid", "--mount", "--fork", "--mount-proc={root}/proc", *OWN_MOUNT],
    "chroot": ["chroot", "{root}"],
    "user's chroot": ["unshare", "--user", "--map-root-user", "chroot", "{root}"],
}


@pytest.fixture(scope="module")
def static_binary(binary):
    """The static command, built beside the other."""
    done = subprocess.run(["ninja", "-C", binary.parent, "sparkflame-static"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return binary.parent / "sparkflame-static"


def copy_into(root, path):
    target = root / str(path).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, target)


@pytest.fixture(scope="module")
def container(static_binary, tmp_path_factory):
    """A root with /sparkflame, /python and /programs."""
    root = tmp_path_factory.mktemp("container")
    root.chmod(0o755)
    program = pathlib.Path(interpreter(VERSION))
    home = program.parent.parent
    shutil.copytree(home, root / "python", symlinks=True,
                    ignore=shutil.ignore_patterns("test", "idlelib", "ensurepip", "tkinter", "lib2to3", "__pycache__"))
    for path in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True,
                                                          check=True).stdout):
        if not path.startswith(str(home)):
            copy_into(root, path)
    shutil.copy(static_binary, root / "sparkflame")
    shutil.copytree(PROGRAMS, root / "programs")
    (root / "proc").mkdir()
    return root


def prefix_of(way, root):
    return [part.format(root=root) for part in WAYS[way]]


def works(way, root):
    return subprocess.run([*prefix_of(way, root), "/sparkflame", "version"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def best_way(root, *wanted):
    """The first that this machine permits."""
    prefix = next((prefix_of(way, root) for way in wanted if works(way, root)), None)
    if prefix is None:
        pytest.skip(f"this machine allows none of: {', '.join(wanted)}")
    return prefix


def python_in(prefix, *arguments):
    return [*prefix, f"/python/bin/python{VERSION}", "-S", "-E", f"/programs/{arguments[0]}", *arguments[1:]]


def last_descendant(pid):
    """The last process of a chain of starters, by its pid outside."""
    while True:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            return pid
        pid = int(children[0])


@contextlib.contextmanager
def contained(prefix, *arguments):
    """Without /proc the loader cannot find the program's folder, so the library path is set."""
    command = list(map(str, python_in(prefix, *arguments)))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                               env={"PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"],
                                    "LD_LIBRARY_PATH": "/python:/python/lib"})
    try:
        first_line = process.stdout.readline()
        yield last_descendant(process.pid), first_line
    finally:
        process.stdin.close()
        with contextlib.suppress(OSError):
            os.kill(last_descendant(process.pid), 9)
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_static_command_needs_no_library(static_binary):
    data = static_binary.read_bytes()
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = {struct.unpack_from("<I", data, offset + i * size)[0] for i in range(count)}
    loadable, dynamic, interpreter = 1, 2, 3
    assert loadable in kinds
    assert not kinds & {dynamic, interpreter}


def expected_stacks(first_line):
    return {tuple(f"{name} ({file}:{line})" for name, file, line in stack) for stack in json.loads(first_line)}


@pytest.mark.parametrize("command", ["binary", "static_binary"])
def test_a_python_in_a_container_is_read_from_outside(request, container, command):
    program = request.getfixturevalue(command)
    prefix = best_way(container, *WAYS)
    with contained(prefix, "known_stacks.py") as (pid, first_line):
        record = subprocess.run([program, "record", str(pid), "--idle", "--full-filenames", "-d", "0.3", "--format", "folded"],
                                capture_output=True, stdin=subprocess.DEVNULL, check=False)
        dump = subprocess.run([program, "dump", "--json", str(pid)], capture_output=True, stdin=subprocess.DEVNULL,
                              check=False)
        listed = subprocess.run([program, "list", "--json", str(pid)], capture_output=True, stdin=subprocess.DEVNULL,
                                check=False)
        doctor = subprocess.run([program, "doctor", str(pid)], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert record.returncode == 0, record.stderr.decode()
    # The line may be read before the main thread has returned from writing it.
    recorded = {stack for stack in stacks(record.stdout) if not any(frame.startswith("tell (") for frame in stack)}
    assert recorded == expected_stacks(first_line)
    assert dump.returncode == 0, dump.stderr.decode()
    # Threads have the ids of the outside, whatever they are inside.
    assert pid in {thread["os_id"] for thread in json.loads(dump.stdout)["threads"]}
    assert json.loads(listed.stdout)["language"] == "python"
    assert b"its stacks can be read" in doctor.stdout
    assert doctor.returncode == 0, doctor.stdout.decode()


def test_the_static_command_works_in_a_container(container):
    prefix = best_way(container, "namespaces", "user namespaces")
    python = [f"/python/bin/python{VERSION}", "-S", "-E", "-c",
              "import time\ndef spin():\n    while time.process_time() < 1: pass\nspin()"]
    done = subprocess.run([*prefix, "/sparkflame", "record", "--format", "folded", "--", *python],
                          capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"<module> (<string>:4);spin (<string>:3) " in done.stdout
    for arguments in (["list"], ["doctor"], ["dump", "--help"], ["version"]):
        done = subprocess.run([*prefix, "/sparkflame", *arguments], capture_output=True, stdin=subprocess.DEVNULL,
                              check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout
