#!/usr/bin/env python3
"""Run the tests, steps side by side; end with seconds per step, why tests failed, and one line `N passed, N failed`."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from test_results import ROOT, Results, end_with_all
from test_steps import JOBS, STEPS

# Against a hang only: above the limits of what a step runs.
STEP_LIMIT_SECONDS = 5400


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="STEP", action="append", help="run this step (may be repeated)")
    parser.add_argument("--list", action="store_true", help="name the steps and end")
    parser.add_argument("--save", metavar="FILE", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    unknown = set(chosen.only or []) - {step.name for step in STEPS}
    if unknown:
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    return chosen


def run_step(step, path):
    """In the process of this step: do it and write what it found to the file."""
    signal.signal(signal.SIGTERM, end_with_all)
    results = Results()
    try:
        if step.ready():
            step.run(results)
        else:
            print("nothing there yet", flush=True)
    except Exception:
        results.add(f"step {step.name}", False, traceback.format_exc())
    results.save(path)


class Running:
    """A step whose process runs; its output is kept until it ends."""

    def __init__(self, step, folder):
        self.step = step
        self.report = folder / f"{step.name}.json"
        self.began = time.monotonic()
        self.output = tempfile.TemporaryFile()
        command = [sys.executable, str(ROOT / "tools" / "run_tests.py"), "--only", step.name, "--save", str(self.report)]
        self.process = subprocess.Popen(["nice", "-n", str(step.nice), *command], stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.seconds = self.processor_seconds = 0.0

    def has_ended(self):
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        self.seconds = time.monotonic() - self.began
        if pid == 0 and self.seconds > STEP_LIMIT_SECONDS:
            self.process.send_signal(signal.SIGTERM)
            pid, status, usage = os.wait4(self.process.pid, 0)
        if pid != 0:
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.processor_seconds = usage.ru_utime + usage.ru_stime
        return pid != 0

    def collect(self, results):
        """Add what the step found to the results, print its whole output."""
        before = results.count()
        if self.report.exists():
            results.merge(self.report)
        else:
            results.add(f"step {self.step.name} (exit status {self.process.returncode}, {self.seconds:.0f} s)", False)
        self.output.seek(0)
        text = self.output.read().decode("utf-8", "replace")
        print(f"== {self.step.name}\n{text}== {self.step.name}: {results.count() - before} checks, {self.seconds:.0f} s "
              f"({self.processor_seconds:.0f} s of processors)", flush=True)
        return self.step.name, results.count() - before, self.seconds, self.processor_seconds


def may_start(step, waiting, running):
    """Whether what it needs has ended and there is room. The first that waits for room to be alone holds up those behind it."""
    unfinished = {other.name for other in waiting} | {other.step.name for other in running}
    if set(step.after) & unfinished:
        return False
    if step.quiet:
        return not running
    used = sum(other.step.processors for other in running)
    return not running or (used + step.processors <= JOBS and not any(other.step.quiet for other in running))


def run_steps(steps, folder, results):
    """All steps, as many at a time as fit; a table row for each."""
    waiting, running, rows = list(steps), [], []
    try:
        while waiting or running:
            for step in list(waiting):
                if may_start(step, waiting, running):
                    waiting.remove(step)
                    running.append(Running(step, folder))
                elif step.quiet and not set(step.after) & {other.name for other in waiting}:
                    break
            for one in [one for one in running if one.has_ended()]:
                running.remove(one)
                rows.append(one.collect(results))
            time.sleep(0.05)
    finally:
        for one in running:
            one.process.terminate()
    return rows


def table(rows, seconds):
    lines = [f"{'step':<18}{'checks':>8}{'seconds':>9}{'CPU s':>8}"]
    lines += [f"{name:<18}{count:>8}{wall:>9.0f}{cpu:>8.0f}" for name, count, wall, cpu in rows]
    lines.append(f"{'all':<18}{sum(row[1] for row in rows):>8}{seconds:>9.0f}{sum(row[3] for row in rows):>8.0f}")
    return "\n".join(lines)


def main():
    chosen = arguments()
    if chosen.list:
        print("\n".join(step.name for step in STEPS))
        return 0
    os.chdir(ROOT)
    # So that the steps, each in a session of its own, end with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    steps = [step for step in STEPS if not chosen.only or step.name in chosen.only]
    if chosen.save:
        run_step(steps[0], ROOT / chosen.save)
        return 0
    results, began = Results(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rows = run_steps(steps, ROOT / folder, results)
    print("\n" + table(rows, time.monotonic() - began) + "\n\n" + results.closing(), flush=True)
    return 1 if results.failures or not results.passed else 0


if __name__ == "__main__":
    sys.exit(main())
