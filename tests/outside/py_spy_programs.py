#!/usr/bin/env python3
"""Read py-spy's own test programs while they run: PY_SPY_DIR=a checkout of benfred/py-spy py_spy_programs.py."""

import re
import subprocess
import sys

from folded_outside import folder_from
from python_outside import check, run, run_all, started, threads_of, until

SCRIPTS = folder_from("PY_SPY_DIR") / "tests" / "scripts"


def one_thread(python, name, is_right):
    """The only thread's stack, once it is as expected."""
    with started([python, SCRIPTS / name], stdout=subprocess.DEVNULL) as process:
        def look():
            threads = threads_of(process.pid)
            return check(len(threads) == 1 and is_right(threads[0]), threads)
        until(look)


def longsleep(python, version, folder):
    one_thread(python, "longsleep.py", lambda thread: thread["stack"] == [("<module>", 9), ("longsleep", 5)]
               and thread["files"] == [str(SCRIPTS / "longsleep.py")] * 2 and not thread["has_gil"] and not thread["on_cpu"])


def longsleep_samples(python, version, folder):
    """No samples with the GIL, 95 of 100 in the sleep. Read once it sleeps: a busy machine may take its time to start it."""
    with started([python, SCRIPTS / "longsleep.py"], stdout=subprocess.DEVNULL) as process:
        until(lambda: [name for name, _ in threads_of(process.pid)[0]["stack"]] == ["<module>", "longsleep"])
        command = ["-d", "2", "-f", "raw", "-o", folder / "out", "-p", process.pid]
        run("py-spy", "record", "--gil", *command)
        lines = (folder / "out").read_text().splitlines() if (folder / "out").exists() else []
        check(sum(int(line.rsplit(" ", 1)[1]) for line in lines) <= 10, lines)
        run("py-spy", "record", "--idle", *command)
    counts = {}
    for line in (folder / "out").read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        counts[stack] = counts.get(stack, 0) + int(count)
    wanted = "<module> (longsleep.py:9);longsleep (longsleep.py:5)"
    check(counts.get(wanted, 0) >= 0.95 * sum(counts.values()), counts)


def busyloop(python, version, folder):
    one_thread(python, "busyloop.py", lambda thread: thread["on_cpu"] and thread["stack"][0][0] == "<module>")


def recursive(python, version, folder):
    with started([python, SCRIPTS / "recursive.py"], stdout=subprocess.DEVNULL) as process:
        until(lambda: len(threads_of(process.pid)) == 1 and threads_of(process.pid)[0]["stack"])
        for _ in range(100):
            stack = until(lambda: threads_of(process.pid))[0]["stack"]
            check(len(stack) <= 22 and stack[0][0] == "<module>" and stack[0][1] in (7, 8), stack)


def unicode(python, version, folder):
    one_thread(python, "unicode💩.py", lambda thread: thread["stack"] == [("<module>", 9), ("function1", 6)]
               and thread["files"][0].endswith("unicode💩.py") and not thread["has_gil"])


def cyrillic(python, version, folder):
    one_thread(python, "cyrillic.py", lambda thread: thread["stack"] == [("<module>", 7), ("кириллица", 4)])


def negative_line_offsets(python, version, folder):
    names = ["<module>", "f", "<listcomp>"] if version <= (3, 11) else ["<module>", "f"]
    one_thread(python, "negative_linenumber_offsets.py", lambda thread: [name for name, _ in thread["stack"]] == names
               and thread["stack"][0][1] == 13 and all(5 <= line <= 10 for _, line in thread["stack"][1:]))


def local_vars(python, version, folder):
    """Its variables are not our matter, and it needs numpy; only that it is read or said not to be there."""
    source = (SCRIPTS / "local_vars.py").read_text()
    program = folder / "local_vars.py"
    program.write_text("\n".join("" if "numpy" in line or "np." in line else line for line in source.split("\n")))
    with started([python, program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(lambda: check(len(threads_of(process.pid)[0]["stack"]) == 2, threads_of(process.pid)))


def thread_names(python, version, folder):
    with started([python, SCRIPTS / "thread_names.py"], stdout=subprocess.DEVNULL) as process:
        def look():
            names = sorted(thread["name"] for thread in threads_of(process.pid))
            return check(names == sorted(["MainThread", *(f"CustomThreadName-{i}" for i in range(10))]), names)
        until(look)


def thread_reuse(python, version, folder):
    """Threads that come and go: no failure in a hundred looks, and natively too."""
    with started([python, SCRIPTS / "thread_reuse.py"], stdout=subprocess.DEVNULL) as process:
        until(lambda: threads_of(process.pid))
        for _ in range(100):
            check(all(thread["stack"] for thread in threads_of(process.pid)), "a thread without frames")


def record_tree(process, folder):
    """Processes seen in a second, with all that they start."""
    done = run("record", "-s", "--idle", "--processes", "-d", "1", "-f", folder / "out.folded", process.pid)
    check(done.returncode == 0, done.stderr)
    return set(re.findall(r"^process (\d+)", (folder / "out.folded").read_text(), re.MULTILINE))


def subprocesses(python, version, folder):
    with started([python, SCRIPTS / "subprocesses.py"], stdout=subprocess.DEVNULL) as process:
        until(lambda: check(len(record_tree(process, folder)) >= 3, "fewer than three processes"))


def subprocesses_zombie_child(python, version, folder):
    with started([python, SCRIPTS / "subprocesses_zombie_child.py"], stdout=subprocess.DEVNULL) as process:
        until(lambda: check(str(process.pid) in record_tree(process, folder), "the parent is not seen"))


def delayed_launch(python, version, folder):
    (folder / "python").symlink_to(python)
    with started(["bash", SCRIPTS / "delayed_launch.sh"], env={"PATH": f"{folder}:/usr/bin:/bin"}) as process:
        seen = until(lambda: record_tree(process, folder))
        check(len(seen) == 1 and str(process.pid) not in seen, seen)


def dump_subprocesses(python, version, folder):
    with started([python, SCRIPTS / "dump_subprocesses_threads.py"], stdout=subprocess.PIPE, text=True) as process:
        pids = dict(line.strip().split("=") for line in iter(process.stdout.readline, "READY\n"))
        def look():
            text = run("py-spy", "dump", "-s", "-p", pids["PID_PARENT"]).stdout
            heads = re.findall(r"^Process (\d+):", text, re.MULTILINE)
            return check(sorted(heads) == sorted(pids.values()), text)
        until(look)


CHECKS = [longsleep, longsleep_samples, busyloop, recursive, unicode, cyrillic, negative_line_offsets, local_vars,
          thread_names, thread_reuse, subprocesses, subprocesses_zombie_child, delayed_launch, dump_subprocesses]

if __name__ == "__main__":
    sys.exit(run_all(CHECKS, sys.argv[1:]))
