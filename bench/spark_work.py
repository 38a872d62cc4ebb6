"""Fixed work in one executor, then what its threads have used: spark_work.py ROUNDS FILE [THREAD…]

Aggregation and join with shuffles, as many rounds as are wanted. FILE receives JSON: CPU nanoseconds of the executor's
process and of its threads whose names begin so."""

import json
import pathlib
import sys
import time

from pyspark.sql import SparkSession

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "spark_jobs"))
from executor_process import find  # noqa: E402

ROWS = 6_000_000
spark = SparkSession.builder.appName("fixed work").getOrCreate()


def work():
    facts = spark.range(0, ROWS, 1, 4).selectExpr("id", "id % 1000 AS key", "sin(id) AS value")
    names = spark.range(0, 1000, 1, 2).selectExpr("id AS key", "concat('name ', id) AS name")
    sums = facts.groupBy("key").agg({"value": "sum", "id": "max"}).join(names, "key")
    return sums.selectExpr("name", "`sum(value)` AS s").repartition(3).orderBy("s").limit(5).collect()


def nanoseconds(pid, names):
    threads = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    times = [(thread / "comm").read_text().strip() + " " + (thread / "schedstat").read_text() for thread in threads]
    own = {name: sum(int(text.rsplit(" ", 3)[1]) for text in times if text.startswith(name)) for name in names}
    return {"threads": own, "process": sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))}


began = time.monotonic()
for _ in range(int(sys.argv[1])):
    work()
took = time.monotonic() - began
used = nanoseconds(find(spark.sparkContext.applicationId, "0"), sys.argv[3:])
pathlib.Path(sys.argv[2]).write_text(json.dumps({**used, "seconds": took}), encoding="utf-8")
spark.stop()
