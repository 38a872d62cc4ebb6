"""Work in Java and in a Python function, with stages that exchange rows; prints a result that all releases have in common."""

import time

from pyspark.sql import SparkSession

SECONDS = 2

spark = SparkSession.builder.appName("on platform").getOrCreate()
spark.sparkContext.setJobDescription("in Java")
rows = spark.range(0, 20_000_000, 1, 4).selectExpr("id % 1000 as key", "id * 3 % 7 as value").groupBy("key").sum("value")
print("java", rows.selectExpr("sum(`sum(value)`)").collect()[0][0])


def spins(number):
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        sum(range(1000))
    return number


spark.sparkContext.setJobDescription("in Python")
print("python", spark.sparkContext.parallelize(range(2), 2).map(spins).sum())
spark.stop()
