"""Python programs to be recorded, in the interpreters that tools/fetch_pythons.py fetches."""

import contextlib
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS.parent / "tools"))

import fetch_pythons  # noqa: E402  (found by the line above)

VERSIONS = fetch_pythons.versions()
PROGRAMS = TESTS / "python_programs"
# For what depends on how often the machine lets us run: measured so many times, and once must do.
MEASUREMENTS = 6


@contextlib.contextmanager
def running(version, name, *arguments):
    """A program that has printed its first line, which is `first_line` of what is given."""
    command = [fetch_pythons.fetch(version), "-S", "-E", PROGRAMS / name, *arguments]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               encoding="utf-8", env={"PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"})
    try:
        process.first_line = process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def stacks(folded):
    """{(frame, …): count} of folded text."""
    found = {}
    for line in folded.decode().splitlines():
        text, count = line.rsplit(" ", 1)
        key = tuple(text.split(";"))
        found[key] = found.get(key, 0) + int(count)
    return found


def given_up(standard_error):
    """How many stacks the summary says were given up, and how many were kept."""
    text = standard_error.decode()
    kept = int(re.search(r"(\d+) stacks of", text)[1])
    lost = re.search(r"given up: (\d+) restless, (\d+) unreadable, (\d+) too deep", text)
    return sum(map(int, lost.groups())) if lost else 0, kept
