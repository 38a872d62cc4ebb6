"""Tasks of different length, in Java and in Python; then one executor is killed, and there are more tasks: task_times.py ROWS."""

import sys
import time

from executor_process import kill
from pyspark.sql import SparkSession

ROWS = int(sys.argv[1])
spark = SparkSession.builder.appName("task times").getOrCreate()


def work(rows):
    """A stage of two tasks with so many rows each, and one that sums up."""
    return spark.range(0, 2 * rows, 1, 2).selectExpr("sum(sin(id) * cos(id) + sqrt(id))").collect()


def burn_python(number):
    """Two seconds of Python."""
    end = time.process_time() + 2
    while time.process_time() < end:
        number += 1
    return number


for factor in (1, 2, 3):
    work(factor * ROWS)
spark.sparkContext.setJobGroup("night=1", "burn, in Python")
print(spark.sparkContext.parallelize(range(2), 2).map(burn_python).sum())
time.sleep(3)
kill(spark.sparkContext.applicationId, "0")
work(ROWS)
spark.stop()
