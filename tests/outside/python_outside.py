"""What the runs of other projects' Python programs share: each is run in every interpreter, and read while it waits."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from folded_outside import ROOT, SPARKFLAME

sys.path.insert(0, str(ROOT / "tools"))

import fetch_pythons  # noqa: E402  (found by the line above)

PATIENCE_SECONDS = 60


@contextlib.contextmanager
def started(command, **more):
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, start_new_session=True, **more)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def run(*arguments):
    return subprocess.run([SPARKFLAME, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          check=False)


def threads_of(pid):
    """Threads with frames outermost first as (function without its class, line), file names apart."""
    done = run("dump", "--json", pid)
    if done.returncode != 0:
        raise AssertionError(done.stderr.strip())
    threads = json.loads(done.stdout)["threads"]
    for thread in threads:
        frames = thread["frames"][::-1]
        thread["files"] = [frame["file"] for frame in frames]
        thread["stack"] = [(frame["function"].rsplit(".", 1)[-1], frame["line"]) for frame in frames]
    return threads


def until(question):
    """The first answer that is not false: programs need time until they wait where they shall."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            answer = question()
        except (AssertionError, LookupError):
            if time.monotonic() > end:
                raise
            answer = None
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.1)


def check(condition, what):
    if not condition:
        raise AssertionError(str(what))
    return True


def run_all(checks, versions=None):
    """Each check with each interpreter; the exit status. A check that says False has nothing to say of this one."""
    good = bad = left_out = 0
    for version in versions or fetch_pythons.versions():
        python = fetch_pythons.fetch(version)
        for test in checks:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    said = test(python, tuple(map(int, version.rstrip("t").split("."))), pathlib.Path(folder))
                    left_out += said is False
                    good += said is not False
                except (AssertionError, LookupError) as error:
                    bad += 1
                    print(f"DIFFERS {test.__name__} on {version}: {error}", flush=True)
    print(f"{good} right, {bad} wrong, {left_out} not for this Python")
    return 1 if bad else 0
