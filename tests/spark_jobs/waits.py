"""Tasks that wait for a known time, so that any number of them runs side by side on any machine without slowing each other down: what the
report predicts for other numbers of cores is compared with runs that had them. waits.py

A skewed task, two stages at once, a stage that reads both, and pauses of the driver between jobs."""

import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = None


def waiting(frame, milliseconds):
    """The frame with a column for which each row waits."""
    return frame.withColumn("slept", F.expr(f"java_method('java.lang.Thread', 'sleep', cast({milliseconds} as bigint))"))


def tasks(count):
    """One row each."""
    return spark.range(0, count, 1, count)


def finish(description, frame):
    spark.sparkContext.setJobDescription(description)
    print(description, frame.collect())


def main():
    global spark
    spark = SparkSession.builder.appName("waits").getOrCreate()
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "8")
    finish("uneven", waiting(tasks(30), "2000 + 300 * (id % 7)").agg(F.count("slept")))
    time.sleep(2)
    keyed = waiting(tasks(20), "2500").repartition(10, "id")
    finish("skewed", waiting(keyed.groupBy((F.col("id") % 5).alias("key")).agg(F.count("slept").alias("n"), F.max("id").alias("last")),
                             "if(key = 3, 12000, 3000)").agg(F.count("slept")))
    time.sleep(3)
    left = waiting(tasks(12), "2000").groupBy("id").agg(F.max("slept").alias("a"))
    right = waiting(tasks(9), "3000").groupBy("id").agg(F.max("slept").alias("b"))
    finish("two at once", left.hint("merge").join(right, "id").agg(F.count("a")))
    spark.stop()


if __name__ == "__main__":
    main()
