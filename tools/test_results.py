"""What a test step found, and running programs the way a test step must: no input, a time limit, no stray children."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN_LINES = 15
# Failures beyond these are only named: the end of a long log must stay readable.
SHOWN_FAILURES = 12
# Only against a program that hangs: several times what the slowest takes on a busy machine.
LIMIT_SECONDS = 3600
GDB_SECONDS = 60
TIDY = "clang-tidy "
# What this process has started: it ends with it.
STARTED = set()


class Results:
    """Counts checks and keeps the output of those that failed."""

    def __init__(self):
        self.passed = []
        self.skipped = []
        self.failures = []
        self.reruns = 0

    def add(self, name, good, output=""):
        if good:
            self.passed.append(name)
        else:
            self.failures.append((name, output))
            print(f"FAILED {name}", flush=True)

    def skip(self, name, why):
        self.skipped.append((name, why))
        print(f"skipped {name}: {why}", flush=True)

    def count(self):
        return len(self.passed) + len(self.failures)

    def save(self, path):
        path.write_text(json.dumps(vars(self)), encoding="utf-8")

    def merge(self, path):
        """Add what save() has written."""
        for name, value in json.loads(path.read_text(encoding="utf-8")).items():
            setattr(self, name, getattr(self, name) + value)

    def distinct(self):
        """One line: checks that ran in several builds are counted once, files that clang-tidy read apart."""
        names = self.passed + [name for name, _ in self.failures]
        checks = {re.sub(r"^build(-\w+)? ", "", name) for name in names if not name.startswith(TIDY)}
        files = sum(name.startswith(TIDY) for name in names)
        return f"{len(checks)} distinct checks, and {files} files read by clang-tidy; reruns: {self.reruns}"

    def closing(self):
        """The text that ends the run: what was left out, why tests failed, then two lines of counts."""
        lines = [f"left out: {name}: {why}" for name, why in self.skipped]
        for number, (name, output) in enumerate(self.failures):
            lines.append(f"FAILED {name}")
            if number < SHOWN_FAILURES:
                lines += ["    " + line for line in shorten(output)]
        counts = f"{len(self.passed)} passed, {len(self.failures)} failed"
        if self.skipped:
            counts += f", {len(self.skipped)} skipped"
        return "\n".join(lines + [self.distinct(), counts])


def shorten(output):
    """The relevant lines: the first ones, or those from the first error on if it comes late."""
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


def run(command, cwd=ROOT, env=None, limit_seconds=LIMIT_SECONDS, quiet=False, stacks=False):
    """Run to the end; give (exit status, output of both streams), shown when it fails. Ends the whole process group at the limit;
    with `stacks` the output then has the stacks of its processes."""
    process = subprocess.Popen([str(part) for part in command], cwd=cwd, env=env or environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    STARTED.add(process)
    try:
        output, _ = process.communicate(timeout=limit_seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        seen = stacks_of_group(process.pid) if stacks else ""
        end_group(process)
        output, _ = process.communicate()
        output += f"\nerror: ended after {limit_seconds} s\n{seen}".encode()
        status = 124
    except BaseException:
        end_group(process)
        raise
    finally:
        STARTED.discard(process)
    text = output.decode("utf-8", "replace")
    if status != 0 and not quiet:
        print(text, flush=True)
    return status, text


def processes_of_group(group):
    """The processes of a group, as /proc lists them."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            found.append(int(path.parent.name))
    return sorted(found)


def stacks_of_group(group):
    """The stacks of all threads of a group's processes, where gdb is installed; equal stacks are shown once."""
    if shutil.which("gdb") is None:
        return "install gdb to see the stacks of a test that hangs\n"
    text = ""
    for pid in processes_of_group(group):
        status, output = run(["gdb", "-p", pid, "-batch", "-nx", "-ex", "set pagination off", "-ex", "thread apply all -s bt 30"],
                             limit_seconds=GDB_SECONDS, quiet=True)
        text += f"stacks of process {pid} (gdb's exit status {status}):\n{distinct_stacks(output)}\n"
    return text


def distinct_stacks(output):
    """gdb's listing without the threads whose functions are those of a thread before them."""
    seen, kept = set(), []
    for part in re.split(r"^(?=Thread \d+ )", output, flags=re.MULTILINE):
        functions = tuple(re.findall(r"^#\d+ +(?:0x\w+ in )?(\S+)", part, re.MULTILINE))
        if functions and functions not in seen:
            kept.append(part.strip())
        seen.add(functions)
    return "\n".join(kept)


def end_with_all(_number=None, _frame=None):
    """For a signal that ends this process: with all that it has started."""
    for process in list(STARTED):
        end_group(process)
    os._exit(1)


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
    running = re.match(r"# running (\S+)", comments[0]) if comments and planned is None else None
    if running:
        results.add(f"{name}: {running[1]} (exit status {status})", False, "\n".join(comments))
    elif planned != seen or (status != 0 and failed == 0):
        results.add(f"{name} (exit status {status}, {seen} of {planned} tests)", False, output[-4000:])
