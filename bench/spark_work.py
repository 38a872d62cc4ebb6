"""Fixed work in one executor, then what its threads have used: spark_work.py ROUNDS FILE [THREAD…]

Aggregation and join with shuffles, as many rounds as are wanted. FILE receives JSON: CPU nanoseconds of the executor's
process and of its threads whose names begin so."""

import json
import pathlib
import sys
import threading
import time

from pyspark.sql import SparkSession

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "spark_jobs"))
from executor_process import find  # noqa: E402

ROWS = 6_000_000
STEP_SECONDS = 0.2
spark = SparkSession.builder.appName("fixed work").getOrCreate()


def work():
    facts = spark.range(0, ROWS, 1, 4).selectExpr("id", "id % 1000 AS key", "sin(id) AS value")
    names = spark.range(0, 1000, 1, 2).selectExpr("id AS key", "concat('name ', id) AS name")
    sums = facts.groupBy("key").agg({"value": "sum", "id": "max"}).join(names, "key")
    return sums.selectExpr("name", "`sum(value)` AS s").repartition(3).orderBy("s").limit(5).collect()


class Watch(threading.Thread):
    """CPU nanoseconds of the threads with such names, also of those that have ended."""

    def __init__(self, pid, names):
        super().__init__(daemon=True)
        self.pid, self.names, self.times, self.ended = pid, names, {}, threading.Event()

    def look(self):
        for thread in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                name = (thread / "comm").read_text()
                if name.startswith(self.names):
                    self.times[thread.name] = (name.strip(), int((thread / "schedstat").read_text().split()[0]))
            except OSError:
                continue

    def run(self):
        while not self.ended.wait(STEP_SECONDS):
            self.look()

    def end(self):
        self.ended.set()
        self.join()
        self.look()
        sums = {}
        for name, nanoseconds in self.times.values():
            sums[name] = sums.get(name, 0) + nanoseconds
        return sums


def ticks(pid):
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))


spark.range(1).count()
executor = find(spark.sparkContext.applicationId, "0")
watch = Watch(executor, tuple(sys.argv[3:]))
watch.start()
began = time.monotonic()
for _ in range(int(sys.argv[1])):
    work()
took = time.monotonic() - began
used = {"threads": watch.end(), "process": ticks(executor), "seconds": took}
pathlib.Path(sys.argv[2]).write_text(json.dumps(used), encoding="utf-8")
spark.stop()
