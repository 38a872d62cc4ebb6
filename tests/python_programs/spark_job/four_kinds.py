"""A PySpark application for the sampler: each of the four ways to run Python in tasks, in two sessions.

four_kinds.py LOGS: for each session prints a line of JSON with its application's id, waits for a line, runs the jobs,
prints the data of each task attempt, [kind, stage, partition, attempt, task, process], and waits for a line.
"""

import json
import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions
from pyspark.sql.types import StringType

# CPU time, so that the number of samples does not depend on the load of the machine.
TASK_SECONDS = 0.4
PARTITIONS = 4
SESSIONS = [
    {"spark.master": "local-cluster[1,2,1024]", "spark.python.worker.reuse": "true"},
    {"spark.master": "local[2,4]", "spark.python.worker.reuse": "false"},
]


def spin():
    end = time.process_time() + TASK_SECONDS
    while time.process_time() < end:
        pass


def describe(kind):
    from pyspark import TaskContext
    task = TaskContext.get()
    return json.dumps([kind, task.stageId(), task.partitionId(), task.attemptNumber(), task.taskAttemptId(), os.getpid()])


def busy_rdd(rows):
    from pyspark import TaskContext
    spin()
    task = TaskContext.get()
    # One attempt that fails, so that there is a second one.
    if task.partitionId() == 1 and task.attemptNumber() == 0:
        raise ValueError("the first attempt fails")
    yield describe("rdd")


def busy_udf(_):
    spin()
    return describe("udf")


def busy_pandas(numbers):
    spin()
    return numbers.map(lambda _: describe("pandas"))


def busy_map(batches):
    import pandas
    for _ in batches:
        spin()
        yield pandas.DataFrame({"said": [describe("map")]})


def run_jobs(spark):
    """The output of the attempts that did not fail."""
    rows = spark.range(0, PARTITIONS, 1, PARTITIONS)
    udf = functions.udf(busy_udf, StringType())
    pandas_udf = functions.pandas_udf(busy_pandas, StringType())
    said = spark.sparkContext.parallelize(range(PARTITIONS), PARTITIONS).mapPartitions(busy_rdd).collect()
    said += [row[0] for row in rows.select(udf("id")).collect()]
    said += [row[0] for row in rows.select(pandas_udf("id")).collect()]
    said += [row[0] for row in rows.mapInPandas(busy_map, "said string").collect()]
    return [json.loads(text) for text in said]


def main():
    for number, settings in enumerate(SESSIONS):
        builder = SparkSession.builder.appName(f"sampled {number}")
        common = {
            "spark.ui.enabled": "false", "spark.eventLog.enabled": "true", "spark.eventLog.dir": "file://" + sys.argv[1],
            "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "1",
            # Only Python is sampled; the JVMs should start fast. The driver has the options from the environment.
            "spark.executor.extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"],
        }
        for key, value in {**common, **settings}.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        print(json.dumps({"application": spark.sparkContext.applicationId, **settings}), flush=True)
        sys.stdin.readline()
        print(json.dumps(run_jobs(spark)), flush=True)
        sys.stdin.readline()
        spark.stop()


if __name__ == "__main__":
    main()
