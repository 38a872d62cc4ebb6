"""Execute another program with the same interpreter after some time, repeatedly: becomes_another.py ROUND."""

import os
import sys
import time


def first_program():
    spend(0.3)


def second_program():
    while True:
        spend(0.3)


def spend(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


if sys.argv[1] == "2":
    second_program()
print("ready", flush=True)
sys.stdin.readline()
first_program()
os.execv(sys.executable, [sys.executable, "-S", "-E", __file__, "2"])
