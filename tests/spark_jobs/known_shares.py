"""A stage whose tasks spend their time in Java and in three Python functions: known_shares.py FOLDER.

Each task measures what its Python functions took, and leaves it in FOLDER as JSON; for Java the event log tells."""

import json
import pathlib
import pickle
import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession

FOLDER = sys.argv[1]
ROUNDS = 8
spark = SparkSession.builder.appName("known shares").getOrCreate()


def burn_work(seconds):
    end = time.process_time() + seconds
    number = 0
    while time.process_time() < end:
        number += 1
    return number


def burn_pack(seconds):
    end = time.process_time() + seconds
    rows = [(i, str(i)) for i in range(500)]
    while time.process_time() < end:
        pickle.loads(pickle.dumps(rows))
    return len(rows)


def rest(seconds):
    time.sleep(seconds)


def work(numbers):
    """Some of each in turn; what it took of the processor and of the clock."""
    took = {"burn_work": [0, 0], "burn_pack": [0, 0], "rest": [0, 0]}
    for number in numbers:
        for _ in range(ROUNDS):
            for function, seconds in ((burn_work, 0.2), (burn_pack, 0.1), (rest, 0.1)):
                before = time.process_time(), time.monotonic()
                function(seconds)
                took[function.__name__][0] += time.process_time() - before[0]
                took[function.__name__][1] += time.monotonic() - before[1]
        yield (number,)
    context = TaskContext.get()
    path = pathlib.Path(FOLDER) / f"{context.taskAttemptId()}.json"
    path.write_text(json.dumps({"stage": context.stageId(), **took}), encoding="utf-8")


def run(rows, name, length):
    """`rows` in each of two tasks; Java then makes more of them and computes."""
    numbers = spark.sparkContext.parallelize(range(2 * rows), 2).mapPartitions(name).toDF("number long")
    return numbers.selectExpr(f"explode(sequence(1, {length})) AS i").selectExpr("sum(sin(i) * cos(i) + sqrt(i))").collect()


pathlib.Path(FOLDER).mkdir(parents=True)
run(1, lambda numbers: ((number,) for number in numbers), 1000)  # workers are there then, and code is compiled
print(run(1, work, 15_000_000))
spark.stop()
