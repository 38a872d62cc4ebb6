"""The job of `make demo`: SQL with a shuffle and a skewed key, a Python function, and a pandas function."""

import pandas
from pyspark.sql import SparkSession, functions as F

ROWS = 6_000_000


def skewed_join(spark):
    """Four fifths of the orders belong to one customer, so that one task of the join has most of the work."""
    orders = spark.range(0, ROWS, 1, 4).select(
        F.when(F.col("id") % 5 == 0, F.col("id") % 1000).otherwise(F.lit(7)).alias("customer"),
        (F.sqrt("id") * F.sin("id")).alias("amount"))
    customers = spark.range(1000).select(F.col("id").alias("customer"), F.hex("id").alias("name"))
    joined = orders.join(customers.hint("merge"), "customer")
    return joined.groupBy("name").agg(F.sum("amount"), F.count("*")).count()


def digits(number):
    """A Python function that is called once for each row."""
    return sum(int(letter) for letter in str(number))


def python_function(spark):
    call = F.udf(digits, "int")
    return spark.range(0, ROWS // 20, 1, 2).select(call("id").alias("d")).agg(F.sum("d")).collect()


def spread(values: pandas.Series) -> pandas.Series:
    """A pandas function that is called once for each batch."""
    return (values - values.mean()).abs().rolling(50, min_periods=1).mean()


def pandas_function(spark):
    call = F.pandas_udf(spread, "double")
    return spark.range(0, ROWS, 1, 2).select(call(F.col("id").cast("double")).alias("s")).agg(F.max("s")).collect()


def main():
    spark = SparkSession.builder.appName("sparkflame demo").getOrCreate()
    skewed_join(spark)
    python_function(spark)
    pandas_function(spark)
    spark.stop()


if __name__ == "__main__":
    main()
