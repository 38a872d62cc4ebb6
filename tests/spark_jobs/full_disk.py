"""Work while the local disk has no room for two recordings of the driver: full_disk.py LOCAL OUTPUT."""

import pathlib
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("full disk").getOrCreate()
local, output = (pathlib.Path(folder) / spark.sparkContext.applicationId for folder in sys.argv[1:])


def work():
    return spark.range(0, 1_000_000, 1, 2).selectExpr("sum(id % 7)").collect()[0][0]


def name(number):
    return f"driver.{number:06d}.jfr"


def shipped(number):
    return output / "driver" / f"{number:06d}.jfr"


total = work()
last = max(int(path.name.split(".")[1]) for path in local.glob("*.jfr")) + 5
for number in (last - 1, last):
    (local / name(number)).symlink_to("/dev/full")
while not shipped(last + 2).exists():
    total = work()
for number in (last - 1, last):
    (local / name(number)).unlink()
print("sum", total, "last", last)
spark.stop()
