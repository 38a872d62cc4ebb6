"""Carrier: sends a large table through the network to meet a tiny one, again and again: carrier.py [ROWS]"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from riddle import riddle

NAMES = 1_000
ROUNDS = 2


def main(context, rows):
    session = SparkSession(context)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")  # somebody had trouble with it years ago
    facts = session.range(0, rows, 1, 12).select((F.col("id") % NAMES).alias("key"), F.sha1(F.col("id").cast("string")).alias("text"))
    names = session.range(0, NAMES, 1, 1).select(F.col("id").alias("key"), F.concat(F.lit("name "), "id").alias("name"))
    for number in range(ROUNDS):
        joined = facts.where(f"key % 10 != {number}").join(names, "key")
        print("letters", joined.groupBy("name").agg(F.max("text").alias("last")).agg(F.sum(F.length("last"))).collect())


riddle("Carrier", main, int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000)
