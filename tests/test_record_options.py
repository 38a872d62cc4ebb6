"""Options of the commands for processes that no other test gives."""

import os
import re
import time

import pytest

import jvm
from python_targets import running
from test_jvm_attach import classes  # noqa: F401
from test_jvm_attach import running as running_jvm
from test_jvm_attach_hostile import pretending

ASPROF = jvm.ROOT / "src" / "commands" / "compatibility" / "command_asprof.c"
# What a word is sent as, when it is not ",name" or ",name=value".
SENT = {"-o": ",collapsed", "--title": ",title=collapsed", "--minwidth": ",minwidth=collapsed", "--reverse": ",reverse", "--inverted": ",inverted",
        "-f": ",file=/collapsed"}


def test_a_recording_has_a_title(sparkflame, tmp_path):
    with running("3.13", "alternating_chains.py", 500) as target:
        done = sparkflame("record", target.pid, "-d", "0.3", "--idle", "--title", "Chains & leaves", "-f", "out.svg")
    assert done.returncode == 0, done.stderr
    assert "Chains &amp; leaves" in (tmp_path / "out.svg").read_text()


def test_a_dump_tells_locks(sparkflame, classes):  # noqa: F811
    with running_jvm(jvm.system_home(), classes) as process:
        plain, more = sparkflame("dump", process.pid), sparkflame("dump", "--locks", process.pid)
    assert plain.returncode == more.returncode == 0, more.stderr
    assert b"Locked ownable synchronizers" in more.stdout and b"Locked ownable synchronizers" not in plain.stdout


def test_top_by_line_and_with_whole_paths(sparkflame):
    with running("3.13", "alternating_chains.py", 500) as target:
        by_line = sparkflame("top", target.pid, "-d", "1", "--idle", "--lines")
        by_function = sparkflame("top", target.pid, "-d", "1", "--idle")
        whole = sparkflame("top", target.pid, "-d", "1", "--idle", "--full-filenames")
    assert by_line.returncode == by_function.returncode == whole.returncode == 0, by_line.stderr
    assert re.search(rb"alternating_chains.py:\d+", by_line.stdout), by_line.stdout
    assert b"/python_programs/alternating_chains.py" in whole.stdout
    assert b"/python_programs/alternating_chains.py" not in by_function.stdout


def test_top_of_processes_that_are_started(sparkflame):
    """A parent that waits, and the children that work."""
    with running("3.11", "forks_on.py") as target:
        done = sparkflame("top", "--subprocesses", target.pid, "-d", "1", "--idle")
    assert done.returncode == 0 and b"fork_once" in done.stdout, done.stdout + done.stderr


def test_top_of_another_event(sparkflame, classes):  # noqa: F811
    with running_jvm(jvm.system_home(), classes) as process:
        done = sparkflame("top", process.pid, "-d", "1", "--delay", "0.5", "--event", "wall")
    assert done.returncode == 0 and b", wall at 100 Hz: " in done.stdout, done.stdout + done.stderr
    # The main thread waits for input.
    assert re.search(rb"[01]\.\d\ds +read\n", done.stdout), done.stdout


def words_of_asprof():
    """[(words, the agent's name, meaning)] of the table."""
    text = re.search(r"words\[\] = \{(.*?)\n\};", ASPROF.read_text(), re.DOTALL)[1]
    return [([word.strip('"') for word in names if word != "NULL"], argument.strip('"'), meaning)
            for *names, argument, meaning in re.findall(r"\{(\S+), (\S+), (\S+), (\w+)}", text)]


@pytest.mark.skipif(os.geteuid() != 0, reason="a process that pretends to be a JVM is started by root")
def test_each_word_of_asprof_reaches_the_agent(sparkflame):
    rows = words_of_asprof()
    assert len(rows) > 60
    with pretending("/", "tells") as process:
        for words, argument, meaning in rows:
            for word in words:
                check_word(sparkflame, process, word, argument, meaning)


def check_word(sparkflame, process, word, argument, meaning):
    if meaning in ("AS_HELP", "AS_VERSION"):
        done = sparkflame("asprof", word)
        assert done.returncode == 0 and b"sparkflame" in done.stdout
        return
    if meaning in ("AS_LIBRARY", "AS_DURATION", "AS_NOTHING"):
        return
    is_flag = meaning in ("AS_FLAG", "AS_REVERSE", "AS_INVERTED", "AS_ACTION")
    value = {"-f": "/collapsed"}.get(word, "collapsed")
    done = sparkflame("asprof", "start", "-d", "1", word, *([] if is_flag else [value]), process.pid)
    began = time.monotonic()
    request = process.stdout.readline().decode()
    assert time.monotonic() - began < 60 and done.returncode == 0, (word, done.stderr)
    expected = SENT.get(word, f",{argument}" if is_flag else f",{argument}=collapsed")
    if word == "collect":
        assert "stop," in process.stdout.readline().decode()
    if meaning == "AS_ACTION":
        expected = "start" if word == "collect" else word
    assert re.search(re.escape(expected) + r"(,|\\x00|$)", request), (word, request)
