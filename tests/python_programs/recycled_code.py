"""Run functions of different names one after the other, each in the memory of the previous one: recycled_code.py COUNT.

Each uses 50 ms of CPU time: within 50 ms of wall-clock time it might not run at all on a busy machine.
"""

import sys
import time

SOURCE = """
def {name}(until):
    while clock() < until:
        pass
"""


def run_one(name):
    space = {"clock": time.process_time}
    exec(compile(SOURCE.format(name=name), "recycled.py", "exec"), space)
    space[name](time.process_time() + 0.05)


def main(count):
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(count):
        run_one(f"function_{i:04d}")
    print("done", flush=True)


main(int(sys.argv[1]))
