#!/usr/bin/env python3
"""Read pystack's own test programs while they wait: PYSTACK_DIR=a checkout of bloomberg/pystack pystack_programs.py."""

import contextlib
import json
import os
import subprocess
import sys

from folded_outside import folder_from
from python_outside import check, run, run_all, started, threads_of, until

PROGRAMS = folder_from("PYSTACK_DIR") / "tests" / "integration"
FIRST_THREE = ["<module>", "first_func", "second_func"]


@contextlib.contextmanager
def ready(python, folder, name):
    """A program that has said through a pipe with a name that it waits from now on."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    with started([python, "-S", PROGRAMS / name, pipe], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                 cwd=PROGRAMS, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}) as process:
        with open(pipe, encoding="ascii") as file:
            check(file.read() == "ready", "the program is not ready")
        yield process


def main_stack(threads, pid):
    return next(thread["stack"] for thread in threads if thread["os_id"] == pid)


def single_thread(python, version, folder):
    with ready(python, folder, "single_thread_program.py") as process:
        def look():
            threads = threads_of(process.pid)
            stack = threads[0]["stack"]
            return check(len(threads) == 1 and stack[:3] == list(zip(FIRST_THREE, [19, 6, 10]))
                         and stack[3:] in ([("third_func", 16)], [("third_func", 17)])
                         and set(threads[0]["files"]) == {str(PROGRAMS / "single_thread_program.py")}, threads)
        until(look)


def multiple_threads(python, version, folder):
    with ready(python, folder, "multiple_thread_program.py") as process:
        def look():
            threads = threads_of(process.pid)
            stack = main_stack(threads, process.pid)
            check(len(threads) == 4 and stack[:3] == list(zip(FIRST_THREE, [41, 23, 27])), threads)
            check(stack[3:] in ([("third_func", 38)], [("third_func", 39)]), stack)
            check(not any(thread["has_gil"] for thread in threads), threads)
            for thread in threads:
                if thread["os_id"] != process.pid:
                    own = [frame for frame, file in zip(thread["stack"], thread["files"]) if "threading" not in file]
                    check(own[:2] == [("thread_func_1", 9), ("thread_func_2", 13)], own)
                    check(own[2:] in ([("thread_func_3", 18)], [("thread_func_3", 19)]), own)
            return True
        until(look)


def inline_calls(python, version, folder):
    with ready(python, folder, "inline_calls_program.py") as process:
        until(lambda: check([name for name, _ in threads_of(process.pid)[0]["stack"]] ==
                            ["<module>", "ham", "spam", "foo", "bar", "baz"], threads_of(process.pid)))


def position_information(python, version, folder):
    """Lines; columns are not our matter."""
    expected = [("<module>", 32), ("first_func", 14), ("__getitem__", 9), ("second_func", 20), ("third_func", 29)]
    with ready(python, folder, "position_information_program.py") as process:
        until(lambda: check(threads_of(process.pid)[0]["stack"] == expected, threads_of(process.pid)))


def no_frames_at_shutdown(python, version, folder):
    with ready(python, folder, "no_frames_at_shutdown_program.py") as process:
        until(lambda: check(not any(thread["stack"] for thread in threads_of(process.pid)), threads_of(process.pid)))


def shutdown(python, version, folder):
    """Python is half gone: a stack or a message, no more is promised."""
    with ready(python, folder, "shutdown_program.py") as process:
        done = run("dump", "--json", process.pid)
        check(done.returncode in (0, 1) and (done.returncode == 0 or done.stderr), done)


def gil(name, count):
    def test(python, version, folder):
        with ready(python, folder, name) as process:
            def look():
                threads = threads_of(process.pid)
                return check(len(threads) == count and sum(thread["has_gil"] for thread in threads) == 1, threads)
            until(look)
    test.__name__ = name
    return test


def gc_freeze(python, version, folder):
    with ready(python, folder, "gc_freeze_program.py") as process:
        def look():
            threads = threads_of(process.pid)
            names = [name for name, _ in main_stack(threads, process.pid)]
            return check(len(threads) == 2 and names == ["<module>", "__del__"], threads)
        until(look)


def ctypes(python, version, folder):
    """The interpreter's file is mapped a second time."""
    done = subprocess.run([python, "-S", "-c", "import ctypes"], capture_output=True, check=False)
    if done.returncode != 0:
        return False
    with ready(python, folder, "ctypes_program.py") as process:
        return until(lambda: check([name for name, _ in threads_of(process.pid)[0]["stack"]] ==
                                   [*FIRST_THREE, "third_func"], threads_of(process.pid)))


def interpreters(name, count):
    """Threads whose outermost code is that of another interpreter."""
    def test(python, version, folder):
        done = subprocess.run([python, "-S", "-c", "from subinterpreters_shim import run_in_new_interpreter"],
                              capture_output=True, cwd=PROGRAMS, check=False,
                              env={**os.environ, "PYTHONPATH": str(PROGRAMS), "PYTHONDONTWRITEBYTECODE": "1"})
        if done.returncode != 0 or version < (3, 10):
            return False
        with ready(python, folder, name) as process:
            def look():
                threads = threads_of(process.pid)
                inner = [thread for thread in threads if thread["files"][0].startswith("<")]
                return check(len(inner) >= count, json.dumps([thread["stack"] for thread in threads]))
            return until(look)
    test.__name__ = name
    return test


CHECKS = [single_thread, multiple_threads, inline_calls, position_information, no_frames_at_shutdown, shutdown,
          gil("single_thread_program_gil.py", 1), gil("multiple_thread_program_gil.py", 4), gc_freeze, ctypes,
          interpreters("subinterpreters_program.py", 3), interpreters("subinterpreters_nested_same_thread_program.py", 2),
          interpreters("subinterpreters_two_chains_program.py", 2), interpreters("subinterpreters_with_threads_program.py", 2)]

if __name__ == "__main__":
    sys.exit(run_all(CHECKS, sys.argv[1:]))
