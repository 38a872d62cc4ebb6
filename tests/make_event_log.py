"""Makes tests/data/event_log with a real Spark: make_event_log.py FOLDER, in a Python that has pyspark.

A job with a shuffle, a slow task, a task that fails once and one that fails for good; names of the machine are taken
out.
"""

import json
import pathlib
import re
import sys
import tempfile
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession


def slow_for_one(index, rows):
    time.sleep(6.0 if index == 3 else 0.3)
    return rows


def fails_once(rows):
    context = TaskContext.get()
    if context.partitionId() == 1 and context.attemptNumber() == 0:
        raise ValueError("bad record <b>&</b>")
    return rows


def fails(rows):
    raise ValueError("always bad")


def run(folder, rolling, log_level="OFF"):
    spark = (SparkSession.builder.master("local[2,2]").appName("event log of a test")
             .config("spark.ui.enabled", "false").config("spark.eventLog.enabled", "true")
             .config("spark.eventLog.dir", folder).config("spark.eventLog.rolling.enabled", str(rolling).lower())
             .config("spark.eventLog.compress", str(rolling).lower()).getOrCreate())
    context = spark.sparkContext
    context.setLogLevel(log_level)
    pairs = context.parallelize(range(1000), 4).map(lambda number: (number % 7, number))
    print(pairs.reduceByKey(lambda left, right: left + right, 3).count())
    context.parallelize(range(8), 4).mapPartitionsWithIndex(slow_for_one).count()
    context.parallelize(range(8), 2).mapPartitions(fails_once).count()
    spark.range(0, 1000, numPartitions=2).selectExpr("id % 3 AS k").groupBy("k").count().collect()
    try:
        context.parallelize(range(2), 1).mapPartitions(fails).count()
    except Exception as problem:  # noqa: BLE001 - the failure is what is wanted
        print(type(problem).__name__)
    spark.stop()


def clean(line):
    event = json.loads(line)
    if event["Event"] == "SparkListenerEnvironmentUpdate":
        event = {"Event": event["Event"], "JVM Information": {"Java Version": event["JVM Information"]["Java Version"]}}
    for key in ("Properties", "modifiedConfigs"):
        event[key] = {name: value for name, value in event.get(key, {}).items()
                      if name in ("spark.sql.execution.id", "spark.job.description", "spark.jobGroup.id")}
    text = json.dumps({key: value for key, value in event.items() if value != {}}, separators=(",", ":"))
    text = re.sub(r"(\"Host\":)\"[^\"]*\"", r'\1"worker-1"', text)
    return re.sub(r"/[\w/.@-]*/(\w+\.(?:py|zip))", r"/job/\1", text)


def main():
    target = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        run(folder, False)
        (log,) = pathlib.Path(folder).iterdir()
        lines = [clean(line) for line in log.read_text().splitlines()]
        (target / "single").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
