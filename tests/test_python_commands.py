"""top, dump and py-spy's command line on real CPython processes."""

import json
import re

import pytest

from measuring import mostly
from python_targets import LEFT_OUT, PROGRAMS, VERSIONS, interpreter, running, stacks


@pytest.mark.parametrize("version", [*LEFT_OUT, *VERSIONS])
def test_interpreter_is_there(version):
    """Prints in the summary which versions the other tests leave out."""
    if version in LEFT_OUT:
        pytest.skip(LEFT_OUT[version])
    assert interpreter(version).exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_dump_shows_every_thread(sparkflame, version):
    with running(version, "named_threads.py") as target:
        text = sparkflame("py-spy", "dump", "--pid", target.pid)
        as_json = sparkflame("py-spy", "dump", "-p", target.pid, "--json")
    assert text.returncode == 0, text.stderr.decode()
    assert f"Process {target.pid}: ".encode() in text.stdout
    assert f"Python v{version} (".encode() in text.stdout
    names = set(re.findall(r'^Thread \d+ \(\S+\): "(.*)"$', text.stdout.decode(), re.MULTILINE))
    assert names == {"MainThread", "worker one", "größe", "名前"}
    threads = json.loads(as_json.stdout)
    assert {thread["thread_name"] for thread in threads} == names
    main = next(thread for thread in threads if thread["thread_name"] == "MainThread")
    assert (main["pid"], main["os_thread_id"]) == (target.pid, target.pid)
    assert main["frames"][-1]["name"] == "<module>"
    assert main["frames"][-1]["short_filename"] == "named_threads.py"
    assert main["frames"][-1]["line"] == 9


def test_top_prints_one_table_without_a_terminal(sparkflame):
    def check():
        with running("3.13", "alternating_chains.py", 5000) as target:
            done = sparkflame("top", target.pid, "-d", "1", "--sort", "total")
        assert done.returncode == 0, done.stderr.decode()
        lines = done.stdout.decode().splitlines()
        assert lines[0].startswith("1 Python process at 100 Hz: ")
        assert "*total" in lines[3]
        row = next((line for line in lines if line.endswith("leaf (alternating_chains.py)")), "0%")
        shares = [float(line.split("%")[1]) for line in lines[4:]]
        assert len(shares) > 5
        assert shares == sorted(shares, reverse=True)
        return None if float(row.split("%")[0]) > 50 else f"leaf: {row}"

    mostly(check)


@pytest.mark.parametrize("form, begin", [("flamegraph", b"<?xml"), ("speedscope", b'{"$schema":"https://www.speedscope.app/'),
                                         ("chrometrace", b'{"displayTimeUnit":"ms","traceEvents":[')])
def test_py_spy_formats(sparkflame, tmp_path, form, begin):
    with running("3.12", "alternating_chains.py", 5000) as target:
        done = sparkflame("py-spy", "record", "-p", target.pid, "-d", "1", "-f", form, "-o", "out", "--nonblocking")
    assert done.returncode == 0, done.stderr.decode()
    written = (tmp_path / "out").read_bytes()
    assert written.startswith(begin)
    assert b"leaf" in written


def test_py_spy_raw_is_folded_text(sparkflame, tmp_path):
    with running("3.12", "alternating_chains.py", 5000) as target:
        done = sparkflame("py-spy", "record", "-d", "1", "-p", hex(target.pid), "-F", "-f", "raw", "-o", "out.txt", "-t")
    assert done.returncode == 0, done.stderr.decode()
    found = stacks((tmp_path / "out.txt").read_bytes())
    assert {stack[0] for stack in found} == {f"thread ({target.pid}): MainThread"}
    assert {stack[1] for stack in found} == {"<module> (alternating_chains.py:1)"}


@pytest.mark.parametrize("arguments, message", [
    (("watch",), 'no subcommand "watch"; there are record, top and dump'),
    (("record",), "no process given: use --pid PID or a program"),
    (("dump", "--native", "-p", "1"), "--native is for record only"),
    (("record", "--native", "--nonblocking", "-p", "1"), "--native stops threads, so it does not go with --nonblocking"),
    (("dump", "--", "python3"), "dump needs --pid PID"),
    (("dump", "-c", "core"), "--core is not supported"),
])
def test_py_spy_wrong_use(sparkflame, arguments, message):
    done = sparkflame("py-spy", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()


# All options that `py-spy record|top|dump --help` of 0.4.3 names, except those that the next test rejects.
PY_SPY_OPTIONS = {
    "record": ["--full-filenames", "-o FILE", "--output FILE", "-f raw", "--format raw", "-d 1", "--duration 1", "-r 50",
               "--rate 50", "-s", "--subprocesses", "-F", "--function", "--nolineno", "-t", "--threads", "-g", "--gil", "-i",
               "--idle", "--nonblocking"],
    "top": ["-r 50", "--rate 50", "-s", "--subprocesses", "--full-filenames", "-g", "--gil", "-i", "--idle", "--delay 1.0",
            "--nonblocking"],
    "dump": ["--full-filenames", "-j", "--json", "-s", "--subprocesses", "--nonblocking"],
}


@pytest.mark.parametrize("command", sorted(PY_SPY_OPTIONS))
def test_every_option_of_py_spy_is_taken(sparkflame, tmp_path, command):
    """All short options together, all long options together: unknown ones would be rejected."""
    with running("3.12", "alternating_chains.py", 5000) as target:
        for is_long, pid in ((False, "-p"), (True, "--pid")):
            options = [option for option in PY_SPY_OPTIONS[command] if option.startswith("--") == is_long]
            needed = [] if command != "record" or is_long else ["--nolineno"]
            done = sparkflame("py-spy", command, *" ".join(options).split(), *needed, pid, target.pid)
            assert done.returncode == 0, done.stderr.decode()
            written = (tmp_path / "FILE").read_text() if command == "record" else done.stdout.decode()
            assert "alternating_chains.py" in written
            (tmp_path / "FILE").unlink(missing_ok=True)


def test_py_spy_tells_its_version(sparkflame):
    for option in ("-V", "--version"):
        assert b"py-spy 0.4" in sparkflame("py-spy", option).stdout


def test_py_spy_ends_the_program_that_it_started(sparkflame, tmp_path):
    """Like py-spy when its duration ends first."""
    program = [interpreter("3.12"), "-S", "-E", PROGRAMS / "alternating_chains.py", "5000"]
    done = sparkflame("py-spy", "record", "-d", "1", "-f", "raw", "-o", "out.txt", "--", *program)
    assert done.returncode == 0, done.stderr.decode()
    assert "leaf" in (tmp_path / "out.txt").read_text()
