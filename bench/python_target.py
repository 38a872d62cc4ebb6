"""Work 33 calls deep in several threads and processes until standard input ends: python_target.py THREADS PROCESSES."""

import os
import sys
import threading


def work():
    for _ in range(30000):
        pass


def descend(depth):
    if depth == 0:
        work()
    else:
        descend(depth - 1)


def run():
    while True:
        descend(28)


def start(threads):
    for _ in range(threads):
        threading.Thread(target=run, daemon=True).start()


def main(threads, processes):
    children = []
    for _ in range(processes if processes > 1 else 0):
        pid = os.fork()
        if pid == 0:
            start(threads)
            threading.Event().wait()
        children.append(pid)
    if not children:
        start(threads)
    print("ready", flush=True)
    sys.stdin.read()
    for pid in children:
        os.kill(pid, 9)


main(int(sys.argv[1]), int(sys.argv[2]))
