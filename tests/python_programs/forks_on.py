"""Fork children that exit immediately, one after the other, until standard input ends it."""

import os
import select
import sys


def fork_once():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    fork_once()
print("done", flush=True)
