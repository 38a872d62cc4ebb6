"""Ending an executor on this machine as the kernel does that is short of memory."""

import os
import pathlib
import signal


def find(application, executor):
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
        except OSError:
            continue
        if application.encode() in words and b"--executor-id" in words \
                and words[words.index(b"--executor-id") + 1] == executor.encode():
            return int(folder.name)
    raise SystemExit("no such executor")


def kill(application, executor):
    os.kill(find(application, executor), signal.SIGKILL)
