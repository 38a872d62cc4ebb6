"""Two seconds of Python in each of two tasks."""

import time

from pyspark.sql import SparkSession


def burn_python(number):
    end = time.process_time() + 2
    while time.process_time() < end:
        number += 1
    return number


spark = SparkSession.builder.appName("on YARN").getOrCreate()
spark.sparkContext.parallelize(range(2), 2).map(burn_python).sum()
spark.stop()
