"""Idler: three cores, and one query after the other that has work for one of them: idler.py [ROWS]"""

import sys

from pyspark.sql import SparkSession
from riddle import riddle

ROUNDS = 20


def main(context, rows):
    session = SparkSession(context)
    for number in range(ROUNDS):
        print("sum", session.range(0, rows, 1, 1).selectExpr(f"max(sha1(cast(id + {number} as string)))").collect()[0][0])


riddle("Idler", main, int(sys.argv[1]) if len(sys.argv) > 1 else 6_000_000)
