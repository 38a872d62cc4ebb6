"""A job that ends at once."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("small job").getOrCreate()
print("sum", spark.range(0, 1000, 1, 2).selectExpr("sum(id)").collect()[0][0])
spark.stop()
