"""Python programs to be recorded, in the interpreters that tools/fetch_pythons.py fetches."""

import contextlib
import functools
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS.parent / "tools"))

import fetch_pythons  # noqa: E402  (found by the line above)



def leave_out():
    """{version: reason} of those that no registry has: {} where the machine or a mirror has 3.8."""
    try:
        fetch_pythons.fetch(fetch_pythons.PACKAGED)
    except SystemExit as error:
        return {fetch_pythons.PACKAGED: str(error).splitlines()[0]}
    return {}


LEFT_OUT = leave_out()
VERSIONS = [version for version in fetch_pythons.versions() if version not in LEFT_OUT]
PROGRAMS = TESTS / "python_programs"
# For what depends on how often the machine lets us run: measured so many times, and once must do.
MEASUREMENTS = 6


@functools.cache
def fetch_together():
    """Quicker than one by one; what cannot be had fails where it is asked for."""
    with contextlib.suppress(SystemExit):
        fetch_pythons.fetch_all(VERSIONS)


def interpreter(version):
    """The interpreter's program."""
    fetch_together()
    return fetch_pythons.fetch(version)


@contextlib.contextmanager
def started(version, name, *arguments):
    command = [interpreter(version), "-S", "-E", PROGRAMS / name, *arguments]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               encoding="utf-8", env={"PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"})
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@contextlib.contextmanager
def running_all(versions, name, *arguments):
    """{version: program} that have printed their first lines, which are `first_line` of each."""
    with contextlib.ExitStack() as stack:
        processes = {version: stack.enter_context(started(version, name, *arguments)) for version in versions}
        for process in processes.values():
            process.first_line = process.stdout.readline()
        yield processes


@contextlib.contextmanager
def running(version, name, *arguments):
    with running_all([version], name, *arguments) as processes:
        yield processes[version]


def pids(processes):
    return [process.pid for process in processes.values()]


def go(processes):
    """Tell programs that wait for a line."""
    for process in processes.values():
        process.stdin.write("go\n")
        process.stdin.flush()


def stacks(folded):
    """{(frame, …): count} of folded text."""
    found = {}
    for line in folded.decode().splitlines():
        text, count = line.rsplit(" ", 1)
        key = tuple(text.split(";"))
        found[key] = found.get(key, 0) + int(count)
    return found


def stacks_by_process(folded):
    """{process number: {(frame, …): count}} of what was recorded with --processes."""
    found = {}
    for (process, *frames), count in stacks(folded).items():
        found.setdefault(int(process.split(" ")[1]), {})[tuple(frames)] = count
    return found


def given_up(standard_error):
    """Numbers of skipped and kept stacks, from the summary."""
    text = standard_error.decode()
    kept = int(re.search(r"(\d+) stacks of", text)[1])
    lost = re.search(r"skipped: (\d+) changed while read, (\d+) unreadable, (\d+) too deep", text)
    return sum(map(int, lost.groups())) if lost else 0, kept
