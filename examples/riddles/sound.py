"""Sound: nothing is wrong with it: sound.py [ROWS]"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from riddle import riddle


def main(context, rows):
    session = SparkSession(context)
    session.conf.set("spark.sql.shuffle.partitions", 6)
    facts = session.range(0, rows, 1, 12).select((F.col("id") % 1000).alias("key"), (F.hash("id") % 1000).alias("value"))
    names = session.range(0, 1000, 1, 1).select(F.col("id").alias("key"), F.concat(F.lit("name "), "id").alias("name"))
    for number in range(3):
        large = facts.where(f"value > {number}").groupBy("key").agg(F.sum("value").alias("total"), F.max("value").alias("largest"))
        print("names", large.join(names, "key").where("total > 0").groupBy((F.col("key") % 10).alias("digit")).agg(F.max("name")).count())


riddle("Sound", main, int(sys.argv[1]) if len(sys.argv) > 1 else 60_000_000)
