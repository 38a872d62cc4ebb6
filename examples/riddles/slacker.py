"""Slacker: tasks that wait six hundred times each, and work hardly at all: slacker.py [MILLISECONDS]"""

import sys
import time

from riddle import riddle

TIMES = 600


def ask(milliseconds):
    for _ in range(TIMES):
        time.sleep(milliseconds / 1000)
    return TIMES


def main(context, milliseconds):
    print("answers", context.parallelize([milliseconds] * 3, 3).map(ask).sum())


riddle("Slacker", main, int(sys.argv[1]) if len(sys.argv) > 1 else 15)
