"""Targets that end, execute other programs, fork endlessly or hold garbage: a message or a counted drop, no crash."""

import contextlib
import signal
import struct
import subprocess
import time

import pytest

from measuring import collect
from python_targets import given_up, running, stacks


@pytest.mark.parametrize("options", [(), ("--pause",), ("--native",)])
def test_a_process_may_be_killed_at_any_time(binary, options):
    for _ in range(3):
        with running("3.13", "alternating_chains.py", 500) as target:
            recorder = subprocess.Popen([binary, "record", str(target.pid), "-r", "5000", "--format", "folded", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.3)
            target.kill()
            target.wait()
            told, said = recorder.communicate(timeout=60)
        # On a busy machine it may have been too late for any sample.
        assert recorder.returncode in (0, 1), said.decode()
        assert b"stacks of" in said or b"there is no process" in said or b"has ended" in said
        assert recorder.returncode == 1 or b"main" in told


@pytest.mark.parametrize("version", ["3.9", "3.14"])
def test_a_program_that_becomes_another_is_followed(sparkflame, version):
    names = set()

    def measure():
        with running(version, "becomes_another.py", 1) as target:
            target.stdin.write("go\n")
            target.stdin.flush()
            done = sparkflame("record", target.pid, "-d", "1.2", "-r", "100", "--nolineno", "--format", "folded")
            assert target.poll() is None
        assert done.returncode == 0, done.stderr.decode()
        found = {frame.split(" ")[0] for stack in stacks(done.stdout) for frame in stack}
        names.update(["both"] if {"first_program", "second_program"} <= found else [])

    # Both in one recording, sooner or later.
    collect(measure, lambda: "both" in names, most=6)


def test_forks_without_end_do_no_harm(sparkflame):
    with running("3.11", "forks_on.py") as target:
        done = sparkflame("record", "--subprocesses", target.pid, "-d", "1", "-r", "500", "--idle", "--format", "folded")
        assert target.poll() is None
        target.stdin.write("end\n")
        target.stdin.flush()
        assert target.stdout.readline() == "done\n"
    assert done.returncode == 0, done.stderr.decode()
    assert b"fork_once" in done.stdout


class State:
    """The state of a stopped 3.13, to be corrupted."""

    def __init__(self, memory, runtime):
        self.memory = memory
        self.runtime = runtime
        self.interpreters_head = runtime + self.offset(5)
        interpreter = self.read(self.interpreters_head)
        self.threads_head = interpreter + self.offset(9)
        thread = self.read(self.threads_head)
        self.current_frame = thread + self.offset(23)
        self.thread_interpreter = thread + self.offset(22)
        self.frame = self.read(self.current_frame)
        self.previous = self.frame + self.offset(29)
        self.code = self.frame + self.offset(30)

    def offset(self, word):
        return self.read(self.runtime + 8 * word)

    def read(self, address):
        self.memory.seek(address)
        return struct.unpack("<Q", self.memory.read(8))[0]

    @contextlib.contextmanager
    def holding(self, address, value):
        before = self.read(address)
        self.write(address, value)
        yield
        self.write(address, before)

    def write(self, address, value):
        self.memory.seek(address)
        self.memory.write(struct.pack("<Q", value))


def test_a_spoilt_interpreter_is_told_or_counted(sparkflame):
    with running("3.13", "where_it_is.py") as target, open(f"/proc/{target.pid}/mem", "r+b", buffering=0) as memory:
        def record():
            return sparkflame("record", target.pid, "--idle", "-d", "0.1", "-r", "50", "--format", "folded")

        seen = []
        collect(lambda: seen.append(record().stdout), lambda: b"outer" in seen[-1], most=100)
        target.send_signal(signal.SIGSTOP)
        state = State(memory, int(target.first_line))
        assert b"outer" in record().stdout
        for place in (state.interpreters_head, state.threads_head, state.thread_interpreter):
            for value in (0, 1, 0x7FFF_FFFF_0000, 2 ** 64 - 8, state.runtime):
                with state.holding(place, value):
                    done = record()
                    assert done.returncode == 1
                    assert b"its Python has not started or has ended" in done.stderr or b"no Python process ran" in done.stderr
        with state.holding(state.previous, state.frame):
            assert b"too deep" in record().stderr
        for place in (state.previous, state.current_frame, state.code):
            for value in (1, 0x7FFF_FFFF_0000, 2 ** 64 - 8, state.runtime):
                with state.holding(place, value):
                    done = record()
                    assert done.returncode == 1, (place, value, done.stdout)
                    assert given_up(done.stderr)[0] > 0
        assert b"outer" in record().stdout
        target.send_signal(signal.SIGCONT)
