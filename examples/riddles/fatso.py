"""Fatso: keeps the texts of a whole table as objects, in lists without end, until the heap is full: fatso.py [ROWS]"""

import sys

from pyspark.sql import SparkSession
from riddle import riddle

KEYS = 90
ROWS_PER_TASK = 800_000


def main(context, rows):
    session = SparkSession(context)
    session.conf.set("spark.sql.shuffle.partitions", KEYS)
    session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    lists = session.range(0, rows, 1, max(1, rows // ROWS_PER_TASK)).selectExpr(f"id % {KEYS} as key", "repeat(cast(id as string), 3) as text") \
        .groupBy("key").agg({"text": "collect_list"}).toDF("key", "texts")
    print("texts", lists.selectExpr("sum(size(texts))").collect()[0][0])


riddle("Fatso", main, int(sys.argv[1]) if len(sys.argv) > 1 else 12 * ROWS_PER_TASK)
