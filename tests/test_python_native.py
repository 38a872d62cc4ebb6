"""Native frames between Python frames, and threads that are paused while they are read."""

import pathlib
import re
import signal
import subprocess
import time

import pytest

from python_targets import MEASUREMENTS, PROGRAMS, VERSIONS, given_up, running, stacks
from test_python_record import is_possible_chain

IN_C = ("works_in_c", "module_work", "native_outer", "native_leaf")
KNOWN_STACKS = {
    ("<module>", "main", *IN_C),
    ("<module>", "main", "goes_through_c", "module_call", "native_calls_back", "called_by_c", *IN_C),
    ("<module>", "main", "sorts", "called_by_sort", *IN_C),
}


@pytest.fixture(scope="session")
def native_module(tmp_path_factory):
    """The folder of a C module that any CPython with a GIL can import."""
    folder = tmp_path_factory.mktemp("native")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "native_module.so", PROGRAMS / "native_module.c"],
                   check=True, stdin=subprocess.DEVNULL)
    return folder


def eventually(is_so):
    """True if the condition holds within a time that no working program exceeds."""
    for _ in range(3000):
        if is_so():
            return True
        time.sleep(0.01)
    return False


def catches(pid, number):
    """True if the process has a handler for the signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return bool(int(re.search(r"^SigCgt:\s*(\w+)", status, re.M)[1], 16) >> (number - 1) & 1)


def state_of(pid):
    """The state of the process in the kernel, and its tracer."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        text = file.read()
    return re.search(r"State:\s+(\S)", text)[1], int(re.search(r"TracerPid:\s+(\d+)", text)[1])


@pytest.mark.parametrize("version", VERSIONS)
def test_native_frames_are_where_python_calls_them(sparkflame, native_module, version):
    seen, wrong = set(), []
    for _ in range(MEASUREMENTS):
        with running(version, "native_calls.py", native_module) as target:
            done = sparkflame("record", target.pid, "--native", "--nolineno", "-d", "0.5", "--format", "folded")
            assert target.poll() is None
        assert done.returncode == 0, done.stderr.decode()
        for stack in stacks(done.stdout):
            # Without the interpreter's own functions, which only some builds have symbols for.
            known = [frame.split(" ")[0] for frame in stack if re.search(r"\((native_calls\.py|native_module\.so)\)", frame)]
            if "native_leaf" in known:
                seen.add(tuple(known))
        wrong = seen - KNOWN_STACKS
        if wrong or seen == KNOWN_STACKS:
            break
    assert not wrong
    assert seen == KNOWN_STACKS


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.14"])
def test_paused_threads_have_no_mixed_stacks(sparkflame, version):
    with running(version, "alternating_chains.py", 500) as target:
        done = sparkflame("record", target.pid, "--pause", "--nolineno", "-d", "1", "-r", "500", "--format", "folded")
        assert target.poll() is None
    assert done.returncode == 0, done.stderr.decode()
    mixed = [stack for stack in stacks(done.stdout) if not is_possible_chain([frame.split(" ")[0] for frame in stack])]
    assert mixed == []
    assert given_up(done.stderr)[0] == 0


@pytest.mark.parametrize("option", ["--pause", "--native"])
def test_nothing_stays_stopped_when_the_recorder_is_killed(binary, option):
    with running("3.13", "alternating_chains.py", 500) as target:
        for _ in range(3):
            recorder = subprocess.Popen([binary, "record", str(target.pid), option, "-r", "1000", "--format", "folded"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            recorder.kill()
            recorder.wait()
            assert target.poll() is None
            assert eventually(lambda: state_of(target.pid)[0] in "RS" and state_of(target.pid)[1] == 0)


def test_signals_reach_a_process_that_is_paused_over_and_over(binary):
    with running("3.13", "signal_echo.py") as target:
        recorder = subprocess.Popen([binary, "record", str(target.pid), "--pause", "-r", "2000", "--format", "folded"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert eventually(lambda: catches(recorder.pid, signal.SIGINT))
        for _ in range(100):
            target.send_signal(signal.SIGUSR1)
            assert target.stdout.readline() == f"got {signal.SIGUSR1.value}\n"
        assert recorder.poll() is None
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait() == 0
        assert target.poll() is None


def test_a_stopped_process_stays_stopped(sparkflame):
    with running("3.13", "alternating_chains.py", 500) as target:
        target.send_signal(signal.SIGSTOP)
        while state_of(target.pid)[0] != "T":
            time.sleep(0.01)
        for options in ((), ("--pause",), ("--native",)):
            done = sparkflame("record", target.pid, "--idle", "-d", "0.2", "--format", "folded", *options)
            assert done.returncode == 0, done.stderr.decode()
            assert b"main" in done.stdout
            # A detached thread runs for a moment before it stops again.
            assert eventually(lambda: state_of(target.pid)[0] == "T")
        target.send_signal(signal.SIGCONT)
        while state_of(target.pid)[0] == "T":
            time.sleep(0.01)
