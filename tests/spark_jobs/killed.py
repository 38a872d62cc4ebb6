"""Work without a pause; executor 0 is killed in the midst of it when OUTPUT has three recordings of it:
killed.py OUTPUT."""

import sys
import threading
import time

from executor_process import kill
from pyspark.sql import SparkSession

ROWS = 10_000_000
spark = SparkSession.builder.appName("killed").getOrCreate()
context = spark.sparkContext
sums, killed = [], threading.Event()


def work():
    return spark.range(0, 2 * ROWS, 1, 2).selectExpr("sum(id % 7)").collect()[0][0]


def work_until_killed():
    while not killed.is_set():
        sums.append(work())


def recordings(executor):
    folder = context._jvm.org.apache.hadoop.fs.Path(f"{sys.argv[1]}/{context.applicationId}/exec-{executor}/*.jfr")
    return len(folder.getFileSystem(context._jsc.hadoopConfiguration()).globStatus(folder))


sums.append(work())
wanted = recordings(0) + 3
worker = threading.Thread(target=work_until_killed)
worker.start()
while recordings(0) < wanted:
    time.sleep(0.2)
kill(context.applicationId, "0")
killed.set()
worker.join()
sums.append(work())
print("sums", sorted(set(sums)))
spark.stop()
