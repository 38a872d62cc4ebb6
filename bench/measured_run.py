"""Run a command and say what it cost.

The resident size cannot be seen below that of this program, about 14 MB: a process begins as a copy of its parent.
"""

import os
import subprocess
import sys
import tempfile
import time


def run(command, source=subprocess.DEVNULL, target=subprocess.DEVNULL):
    """(CPU seconds, resident MB, wall seconds)"""
    start = time.monotonic()
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, stdin=source, stdout=target, stderr=complaints)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            sys.exit(f"{' '.join(command)}: {complaints.read().decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - start


def run_pipe(first, second):
    """The same of two commands, one after the other; in a pipe both sizes would be there at once, so all are summed up."""
    with tempfile.TemporaryFile() as between:
        costs = run(first, target=between)
        between.seek(0)
        return tuple(map(sum, zip(costs, run(second, source=between))))
