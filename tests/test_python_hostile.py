"""Programs that look like CPython, with invalid data: a clear message or samples, never a crash, never a hang."""

import contextlib
import os
import re
import subprocess
import time

import pytest

from python_targets import PROGRAMS

# Words of the description at the start of 3.13's _PyRuntime, and the fields that they describe.
FIELDS = {5: "runtime.interpreters_head", 8: "interpreter.next", 9: "interpreter.threads_head", 21: "thread.next",
          22: "thread.interpreter", 23: "thread.current_frame", 24: "thread.thread_id", 25: "thread.native_thread_id",
          29: "frame.previous", 30: "frame.executable", 31: "frame.instruction", 32: "frame.locals", 33: "frame.owner",
          35: "code.file_name", 36: "code.name", 37: "code.qualified_name", 38: "code.line_table", 39: "code.first_line",
          45: "object.type", 47: "type.name", 49: "type.flags", 57: "dict.keys", 63: "long.digits", 65: "bytes.size",
          66: "bytes.data", 68: "string.state", 69: "string.length", 70: "string.ascii"}
# Structures of any size may have these.
WIDE = ("runtime.", "interpreter.")
CASES = ["cyclic_threads", "cyclic_interpreters", "cyclic_frames", "long_strings", "wide_strings", "long_line_table",
         "endless_line_table", "huge_dicts", "long_dicts", "far_objects", "foreign_thread"]
MOST_SECONDS = 20


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    # "dump" finds Python processes by the names of their programs.
    path = tmp_path_factory.mktemp("hostile") / "python3"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", path, PROGRAMS / "hostile_python.c"], check=True)
    return path


@contextlib.contextmanager
def hostile(program, *arguments):
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def commands(pid):
    return [("record", pid, "--idle", "-d", "0.1", "-r", "100", "--format", "folded"), ("dump", pid),
            ("top", pid, "--idle", "-d", "0.1")]


def run(sparkflame, *arguments):
    """It ends in time, and prints the reason if it fails."""
    begin = time.monotonic()
    done = sparkflame(*arguments)
    assert time.monotonic() - begin < MOST_SECONDS
    assert done.returncode in (0, 1), (arguments, done.returncode, done.stderr.decode())
    assert done.returncode == 0 or done.stderr.startswith(b"sparkflame " + arguments[0].encode()), done.stderr
    return done


def test_the_forgery_is_taken_for_a_python(sparkflame, program):
    with hostile(program) as target:
        record, dump, top = [run(sparkflame, *command) for command in commands(target.pid)]
    assert b"forged (forged.py:2);forged (forged.py:2);forged (forged.py:2)" in record.stdout
    assert b"forged thread" in dump.stdout
    assert b"forged" in top.stdout


@pytest.mark.parametrize("power", [14, 15, 17, 20])
def test_offsets_are_checked(sparkflame, program, power):
    for word, field in FIELDS.items():
        for value in (1 << power, (1 << power) - 8):
            with hostile(program, f"{word}={value}") as target:
                done = run(sparkflame, *commands(target.pid)[0])
            if not field.startswith(WIDE) or value >= 1 << 20:
                assert done.returncode == 1
                assert b"Python 3.13 has an invalid debug offset (" in done.stderr, (field, value)


def test_every_command_refuses_impossible_offsets(sparkflame, program):
    for value in (16900, 2 ** 63, 2 ** 64 - 1):
        with hostile(program, f"70={value}") as target:
            for command in commands(target.pid):
                done = run(sparkflame, *command)
                assert b"invalid debug offset (string.ascii)" in done.stderr


@pytest.mark.parametrize("version,message", [(0x030F00F0, b""), (0x036300F0, b"Python 3.99 is not supported"),
                                             (0x040000F0, b"Python 4.0 is not supported"),
                                             (2 ** 64 - 1, b"is not supported"), (0, b"Python 0.0 is not supported")])
def test_future_versions(sparkflame, program, version, message):
    with hostile(program, f"1={version}") as target:
        for command in commands(target.pid):
            done = run(sparkflame, *command)
            assert message in done.stderr
            assert not message or done.returncode == 1


@pytest.mark.parametrize("case", CASES)
def test_lies_do_no_harm(sparkflame, program, case):
    with hostile(program, case) as target:
        for command in commands(target.pid):
            run(sparkflame, *command)
        assert target.poll() is None


def switches(pid):
    """Number of voluntary context switches: one more each time that it is paused."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.MULTILINE)[1])


def test_nobody_elses_thread_is_stopped(sparkflame, program, monkeypatch):
    """The id of a thread comes from the target."""
    with subprocess.Popen(["sleep", "1000"]) as other:
        time.sleep(0.3)
        monkeypatch.setenv("FOREIGN_THREAD", str(other.pid))
        before = switches(other.pid)
        with hostile(program, "foreign_thread") as target:
            done = run(sparkflame, *commands(target.pid)[0], "--native")
        after = switches(other.pid)
        other.kill()
    assert b"forged" in done.stdout, done.stderr.decode()
    assert after == before


def test_work_is_limited(binary, program, tmp_path):
    """4000 threads of 4095 frames each, with names that are searched among 65536 keys."""
    command = [binary, "record", "--idle", "-d", "1", "--format", "folded", "-o", tmp_path / "out"]
    with hostile(program, "much_work") as target, open(tmp_path / "said", "wb") as said:
        begin = time.monotonic()
        recorder = subprocess.Popen([*command, str(target.pid)], stdin=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(recorder.pid, 0)
        recorder.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
    said = (tmp_path / "said").read_bytes()
    assert recorder.returncode == 0, said.decode()
    assert b"forged" in (tmp_path / "out").read_bytes() and b"skipped" in said
    assert seconds < 5, seconds
    assert usage.ru_maxrss < 400_000, usage.ru_maxrss
