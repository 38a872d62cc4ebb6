"""Run functions of different names one after the other, each in the memory of the one before: recycled_code.py COUNT."""

import sys
import time

SOURCE = """
def {name}(until):
    while clock() < until:
        pass
"""


def run_one(name):
    space = {"clock": time.perf_counter}
    exec(compile(SOURCE.format(name=name), "recycled.py", "exec"), space)
    space[name](time.perf_counter() + 0.05)


def main(count):
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(count):
        run_one(f"function_{i:04d}")
    print("done", flush=True)


main(int(sys.argv[1]))
