"""Fork COUNT children one after the other, each busy for SECONDS: short_children.py COUNT SECONDS."""

import os
import sys
import time


def child_work(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def main(count, seconds):
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            child_work(seconds)
            os._exit(0)
        os.waitpid(pid, 0)
        print(pid, flush=True)
    print("done", flush=True)


main(int(sys.argv[1]), float(sys.argv[2]))
