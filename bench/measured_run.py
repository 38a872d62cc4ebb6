"""Run a command and say what it cost."""

import os
import subprocess
import sys
import tempfile
import time


def run(command):
    """(CPU seconds, resident MB, wall seconds)"""
    start = time.monotonic()
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            sys.exit(f"{' '.join(command)}: {complaints.read().decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - start
