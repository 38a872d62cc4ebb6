"""What a test step found, and running programs the way a test step must: no input, a time limit, no stray children."""

import os
import pathlib
import re
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN_LINES = 15
# Failures beyond these are only named: the end of a long log must stay readable.
SHOWN_FAILURES = 12
# Only against a program that hangs: several times what the slowest takes on a busy machine.
LIMIT_SECONDS = 1500


class Results:
    """Counts tests and keeps the output of those that failed."""

    def __init__(self):
        self.passed = 0
        self.skipped = 0
        self.failures = []

    def add(self, name, good, output=""):
        if good:
            self.passed += 1
        else:
            self.failures.append((name, output))
            print(f"FAILED {name}", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skipped {name}: {why}", flush=True)

    def closing(self):
        """The text that ends the run: why tests failed, then one line of counts."""
        lines = []
        for number, (name, output) in enumerate(self.failures):
            lines.append(f"FAILED {name}")
            if number < SHOWN_FAILURES:
                lines += ["    " + line for line in shorten(output)]
        counts = f"{self.passed} passed, {len(self.failures)} failed"
        if self.skipped:
            counts += f", {self.skipped} skipped"
        return "\n".join(lines + [counts])


def shorten(output):
    """The lines that say why: the first ones, or those from the first error on when it comes late."""
    lines = [line.rstrip()[:300] for line in output.splitlines() if line.strip()]
    if len(lines) <= SHOWN_LINES:
        return lines
    telling = re.compile(r"\berror\b|ERROR|FAILED|Traceback|runtime error|not ok|^# |AssertionError", re.IGNORECASE)
    first = next((i for i, line in enumerate(lines) if telling.search(line)), 0)
    return lines[first:first + SHOWN_LINES]


def environment(**more):
    """The caller's environment, in English and UTF-8, with a home even where none is set."""
    variables = dict(os.environ, LC_ALL="C.UTF-8", CI="true", **more)
    variables.setdefault("HOME", str(ROOT / "build"))
    return variables


def run(command, cwd=ROOT, env=None, limit_seconds=LIMIT_SECONDS, quiet=False):
    """Run to the end; give (exit status, output of both streams), shown when it fails. Ends the whole process group at the limit."""
    process = subprocess.Popen([str(part) for part in command], cwd=cwd, env=env or environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit_seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        output, _ = process.communicate()
        output += f"\nerror: ended after {limit_seconds} s".encode()
        status = 124
    except BaseException:
        end_group(process)
        raise
    text = output.decode("utf-8", "replace")
    if status != 0 and not quiet:
        print(text, flush=True)
    return status, text


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def add_tap(results, name, status, output):
    """Count the tests of one TAP program; the comment lines before a `not ok` say why."""
    comments, seen, failed = [], 0, 0
    planned = None
    for line in output.splitlines():
        match = re.match(r"(not )?ok \d+ - (\S+)", line)
        plan = re.match(r"1\.\.(\d+)", line)
        if match:
            seen += 1
            failed += bool(match[1])
            results.add(f"{name}: {match[2]}", not match[1], "\n".join(comments))
            comments = []
        elif plan:
            planned = int(plan[1])
        else:
            comments.append(line)
    if planned != seen or (status != 0 and failed == 0):
        results.add(f"{name} (exit status {status}, {seen} of {planned} tests)", False, output[-4000:])
