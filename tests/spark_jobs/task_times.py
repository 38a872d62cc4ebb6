"""Tasks of different length, in Java and in Python; then one executor is killed, and there are more tasks: task_times.py ROWS."""

import os
import pathlib
import signal
import sys
import time

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


def executor_process(executor):
    application = spark.sparkContext.applicationId
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
        except OSError:
            continue
        if application.encode() in words and words[words.index(b"--executor-id") + 1] == executor.encode():
            return int(folder.name)
    raise SystemExit("no such executor")


for factor in (1, 2, 3):
    work(factor * ROWS)
spark.sparkContext.setJobGroup("night=1", "burn, in Python")
print(spark.sparkContext.parallelize(range(2), 2).map(burn_python).sum())
time.sleep(3)
os.kill(executor_process("0"), signal.SIGKILL)
work(ROWS)
spark.stop()
