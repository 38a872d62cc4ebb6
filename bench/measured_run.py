"""Run a command and say what it cost.

The resident size cannot be seen below that of this program, about 14 MB: a process begins as a copy of its parent.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time

POLL_SECONDS = 0.005


class AnonymousMemory(threading.Thread):
    """Looks again and again how much memory a process has that no file stands behind; `peak_mb` is the most."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.peak_mb = 0.0
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(POLL_SECONDS):
            try:
                with open(self.path) as status:
                    for line in status:
                        if line.startswith("RssAnon:"):
                            self.peak_mb = max(self.peak_mb, int(line.split()[1]) / 1024)
            except OSError:
                return

    def stop(self):
        self.is_over.set()
        self.join()
        return self.peak_mb


def run_anonymous(command):
    """(CPU seconds, resident MB, wall seconds, anonymous MB)"""
    return measure(command, True)


def run(command, source=subprocess.DEVNULL, target=subprocess.DEVNULL):
    """(CPU seconds, resident MB, wall seconds)"""
    return measure(command, False, source, target)[:3]


def measure(command, with_anonymous, source=subprocess.DEVNULL, target=subprocess.DEVNULL):
    start = time.monotonic()
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, stdin=source, stdout=target, stderr=complaints)
        anonymous = AnonymousMemory(process.pid)
        if with_anonymous:
            anonymous.start()
        _, status, usage = os.wait4(process.pid, 0)
        anonymous_mb = anonymous.stop() if with_anonymous else 0.0
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            sys.exit(f"{' '.join(command)}: {complaints.read().decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - start, anonymous_mb


def run_pipe(first, second):
    """The same of two commands, one after the other; in a pipe both sizes would be there at once, so all are summed up."""
    with tempfile.TemporaryFile() as between:
        costs = run(first, target=between)
        between.seek(0)
        return tuple(map(sum, zip(costs, run(second, source=between))))
