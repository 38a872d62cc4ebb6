"""Tasks of different length: aggregations and a join, a Python function of an RDD, a pandas function; then one executor is
killed, and when another has taken its place there are more tasks: task_times.py ROWS."""

import sys
import time

import pandas
from executor_process import kill
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf

ROWS = int(sys.argv[1])
spark = SparkSession.builder.appName("task times").getOrCreate()


def work(rows):
    """A stage of two tasks with so many rows each, and one that sums up."""
    return spark.range(0, 2 * rows, 1, 2).selectExpr("sum(sin(id) * cos(id) + sqrt(id))").collect()


def join(rows):
    """The same with the rows of another table."""
    facts = spark.range(0, 2 * rows, 1, 2).selectExpr("id % 1000 AS key", "sin(id) * cos(id) + sqrt(id) AS value")
    names = spark.range(0, 1000, 1, 1).selectExpr("id AS key", "concat('n', id) AS name")
    return facts.join(names.hint("broadcast"), "key").groupBy("name").sum("value").count()


def burn(seconds):
    number, end = 0, time.process_time() + seconds
    while time.process_time() < end:
        number += 1
    return number


def burn_python(number):
    return number + burn(2)


@pandas_udf("long")
def burn_pandas(numbers: pandas.Series) -> pandas.Series:
    return numbers + burn(2)


def await_replacement(lost):
    """Until Spark has noticed the loss and started another executor."""
    while True:
        executors = context._jsc.sc().getExecutorIds().mkString(" ").split()
        if lost not in executors and len(executors) == 2:
            return
        time.sleep(0.1)


work(ROWS)
join(2 * ROWS)
work(3 * ROWS)
context = spark.sparkContext
context.setJobGroup("night=1", "burn, in Python")
context.parallelize(range(2), 2).map(burn_python).sum()
context.setJobGroup("night=1", "burn, in pandas")
spark.range(0, 2, 1, 2).select(burn_pandas("id")).collect()
context.setJobGroup("night=1", "after a loss")
time.sleep(3)
kill(context.applicationId, "0")
await_replacement("0")
work(ROWS)
spark.stop()
