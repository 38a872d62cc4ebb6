"""Small jobs on two executors until FILE is there: until_told.py FILE."""

import pathlib
import sys
import time

from pyspark.sql import SparkSession

FILE = pathlib.Path(sys.argv[1])
LIMIT_SECONDS = 900
spark = SparkSession.builder.appName("until told").getOrCreate()
end = time.monotonic() + LIMIT_SECONDS
while not FILE.exists() and time.monotonic() < end:
    spark.range(0, 400_000, 1, 4).selectExpr("sum(sin(id))").collect()
    time.sleep(0.1)
spark.stop()
