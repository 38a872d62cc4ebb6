"""One thread collects garbage, one holds the lock or waits for it, one sleeps, one runs in another interpreter."""

import gc
import os
import sys
import threading
import time


def collects():
    keep = [[i] for i in range(300000)]
    gc.collect()
    os.write(begun[1], b"x")
    while True:
        gc.collect()
        keep.append([])


def sleeps():
    while True:
        time.sleep(1000)


def runs_elsewhere():
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    interpreters = __import__(name)
    interpreter = interpreters.create()
    run = interpreters.exec if sys.version_info >= (3, 13) else interpreters.run_string
    run(interpreter, f"import os, time\ndef in_another_interpreter():\n    os.write({begun[1]}, b'x')\n"
                     "    while True:\n        time.sleep(0.001)\nin_another_interpreter()")


# The collecting thread leaves little of the GIL to others, so it comes last.
begun = os.pipe()
for work in (sleeps, runs_elsewhere):
    threading.Thread(target=work, daemon=True).start()
os.read(begun[0], 1)
threading.Thread(target=collects, daemon=True).start()
os.read(begun[0], 1)
print("ready", flush=True)
sys.stdin.readline()
