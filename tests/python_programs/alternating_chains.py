"""Alternate between two call chains that share only their ends: alternating_chains.py LEAF_LOOPS [THREADS [c]].

No stack has functions of both chains. With "c" each call goes through C.
"""

import sys
import threading

DEPTH = 30


def leaf(loops):
    for _ in range(loops):
        pass


def make_chain(letter):
    lines = []
    for i in range(DEPTH):
        callee = f"{letter}{i + 1}" if i + 1 < DEPTH else "leaf"
        call = f"next(map({callee}, (loops,)))" if "c" in sys.argv[3:] else f"{callee}(loops)"
        lines.append(f"def {letter}{i}(loops):\n    return {call}\n")
    return "".join(lines)


exec(compile(make_chain("a") + make_chain("b"), "chains.py", "exec"))


def main(loops, greets):
    if greets:
        print("ready", flush=True)
    while True:
        a0(loops)  # noqa: F821
        b0(loops)  # noqa: F821


for _ in range(int(sys.argv[2]) - 1 if len(sys.argv) > 2 else 0):
    threading.Thread(target=main, args=(int(sys.argv[1]), False), daemon=True).start()
main(int(sys.argv[1]), True)
