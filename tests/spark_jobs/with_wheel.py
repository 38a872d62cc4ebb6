"""A job that starts Spark itself, with the plugin of the installed wheel: with_wheel.py OUTPUT."""

import pathlib
import sys
import warnings

import pyspark_profilers
import sparkflame
from pyspark.sql import SparkSession

warnings.simplefilter("error")
builder = SparkSession.builder.master("local[1]").appName("with wheel").config("spark.ui.enabled", "false")
spark = sparkflame.configure(builder, {"outputDir": pathlib.Path(sys.argv[1]).as_uri(), "compress": False}).getOrCreate()
print("sum", spark.range(0, 1000, 1, 2).selectExpr("sum(id)").collect()[0][0])
print("profilers", "stack" in pyspark_profilers.profiler_map)
spark.stop()
