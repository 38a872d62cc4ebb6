"""Hermit: asks the cluster for a little, and works on the answer alone in the driver: hermit.py [SIZE]"""

import hashlib
import sys

from pyspark.sql import SparkSession
from riddle import riddle

ROUNDS = 6


def ponder(value, size):
    for _ in range(size):
        value = hashlib.sha256(value).digest()
    return value


def main(context, size):
    session = SparkSession(context)
    value = b""
    for number in range(ROUNDS):
        total = session.range(0, 30_000_000, 1, 6).selectExpr(f"sum(hash(id) % {number + 2})").collect()[0][0]
        value = ponder(value + str(total).encode(), size)
    print("answer", value.hex())


riddle("Hermit", main, int(sys.argv[1]) if len(sys.argv) > 1 else 12_000_000)
