"""Straggler: three tasks, and one of 25 numbers takes sixty times as long to work off as each other: straggler.py [SIZE]"""

import sys

from riddle import riddle


def squares(count):
    total = 0
    for number in range(count):
        total += number * number
    return total


def main(context, size):
    context.parallelize(range(3), 3).map(squares).sum()  # so that the workers are there already
    counts = [size] * 24 + [size * 60]
    print("total", context.parallelize(counts, 3).map(squares).sum())


riddle("Straggler", main, int(sys.argv[1]) if len(sys.argv) > 1 else 6_000_000)
