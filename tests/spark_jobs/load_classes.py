"""A little of what other jobs do, so that their classes are loaded: load_classes.py."""

from pyspark.sql import SparkSession

EXECUTOR = ["org.apache.spark.executor.CoarseGrainedExecutorBackend", "org.apache.spark.executor.Executor"]

spark = SparkSession.builder.appName("load classes").getOrCreate()
context = spark.sparkContext
for name in EXECUTOR:
    context._jvm.java.lang.Class.forName(name)
assert spark.range(0, 1000, 1, 2).selectExpr("sum(id)").collect()[0][0] == 499500
assert context.parallelize(range(4), 2).map(lambda number: number + 1).sum() == 10
spark.stop()
