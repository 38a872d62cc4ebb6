"""Well-behaved jobs: queries in the manner of TPC-H on generated tables, each an application of its own. tpc.py FOLDER NAME… makes the
tables in the folder, if they are not there, and runs these jobs, or all."""

import os
import sys

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

LINES, ORDERS, CUSTOMERS, PARTS, SUPPLIERS = 600_000, 150_000, 15_000, 20_000, 1_000
DAYS = 2400
spark = None


def day(number):
    return F.date_add(F.to_date(F.lit("1992-01-01")), number.cast("int"))


def pick(values, number):
    return F.element_at(F.array(*map(F.lit, values)), (number % len(values) + 1).cast("int"))


def number(seed, limit):
    """A number from 0 up to the limit, another one for each id."""
    return F.pmod(F.xxhash64("id", F.lit(seed)), F.lit(limit))


def make_tables(folder):
    lines = spark.range(0, LINES, 1, 4).select(
        (F.col("id") % ORDERS).alias("l_orderkey"), number(1, PARTS).alias("l_partkey"), number(2, SUPPLIERS).alias("l_suppkey"),
        (number(3, 50) + 1).alias("l_quantity"), (number(4, 10_000_000) / 100.0).alias("l_extendedprice"), (number(5, 11) / 100.0).alias("l_discount"),
        (number(6, 9) / 100.0).alias("l_tax"), pick("ANR", number(7, 3)).alias("l_returnflag"), pick("OF", number(8, 2)).alias("l_linestatus"),
        day(number(9, DAYS)).alias("l_shipdate"), pick(["AIR", "RAIL", "SHIP", "MAIL", "TRUCK"], number(10, 5)).alias("l_shipmode"))
    lines.write.mode("overwrite").parquet(f"{folder}/lineitem")
    orders = spark.range(0, ORDERS, 1, 2).select(
        F.col("id").alias("o_orderkey"), number(11, CUSTOMERS).alias("o_custkey"), (number(12, 50_000_000) / 100.0).alias("o_totalprice"),
        day(number(13, DAYS)).alias("o_orderdate"), pick(["1-URGENT", "2-HIGH", "3-MEDIUM", "4-LOW"], number(14, 4)).alias("o_orderpriority"))
    orders.write.mode("overwrite").parquet(f"{folder}/orders")
    spark.range(0, CUSTOMERS, 1, 1).select(
        F.col("id").alias("c_custkey"), F.concat(F.lit("Customer#"), "id").alias("c_name"), number(15, 25).alias("c_nationkey"),
        pick(["BUILDING", "MACHINERY", "FURNITURE", "HOUSEHOLD"], number(16, 4)).alias("c_mktsegment")).write.mode("overwrite").parquet(f"{folder}/customer")
    spark.range(0, PARTS, 1, 1).select(
        F.col("id").alias("p_partkey"), pick(["PROMO STEEL", "SMALL BRASS", "ECONOMY TIN"], number(17, 3)).alias("p_type"),
        (number(18, 50) + 1).alias("p_size")).write.mode("overwrite").parquet(f"{folder}/part")
    spark.range(0, SUPPLIERS, 1, 1).select(
        F.col("id").alias("s_suppkey"), number(19, 25).alias("s_nationkey")).write.mode("overwrite").parquet(f"{folder}/supplier")
    spark.range(0, 25, 1, 1).select(F.col("id").alias("n_nationkey"), F.concat(F.lit("NATION "), "id").alias("n_name")).write.mode("overwrite").parquet(f"{folder}/nation")


REVENUE = "l_extendedprice * (1 - l_discount)"


def pricing_summary(t):
    return t["lineitem"].where("l_shipdate <= '1998-06-01'").groupBy("l_returnflag", "l_linestatus").agg(
        F.sum("l_quantity"), F.sum("l_extendedprice"), F.expr(f"sum({REVENUE})"), F.avg("l_discount"), F.count("*")).orderBy("l_returnflag", "l_linestatus")


def shipping_priority(t):
    customers, orders = t["customer"].where("c_mktsegment = 'BUILDING'"), t["orders"].where("o_orderdate < '1995-03-15'")
    return t["lineitem"].where("l_shipdate > '1995-03-15'").join(orders, F.expr("l_orderkey = o_orderkey")).join(
        customers, F.expr("o_custkey = c_custkey")).groupBy("l_orderkey", "o_orderdate").agg(F.expr(f"sum({REVENUE})").alias("revenue")).orderBy(F.desc("revenue")).limit(10)


def order_priority(t):
    return t["orders"].where("o_orderdate >= '1993-07-01' and o_orderdate < '1993-10-01'").join(
        t["lineitem"].where("l_shipmode = 'AIR'"), F.expr("l_orderkey = o_orderkey"), "left_semi").groupBy("o_orderpriority").count().orderBy("o_orderpriority")


def local_supplier_volume(t):
    return t["lineitem"].join(t["orders"].where("o_orderdate >= '1994-01-01' and o_orderdate < '1995-01-01'"), F.expr("l_orderkey = o_orderkey")).join(
        t["customer"], F.expr("o_custkey = c_custkey")).join(t["supplier"], F.expr("l_suppkey = s_suppkey and c_nationkey = s_nationkey")).join(
        t["nation"], F.expr("s_nationkey = n_nationkey")).groupBy("n_name").agg(F.expr(f"sum({REVENUE})").alias("revenue")).orderBy(F.desc("revenue"))


def forecast_revenue(t):
    return t["lineitem"].where("l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01' and l_quantity < 24").agg(F.sum(F.expr("l_extendedprice * l_discount")))


def returned_items(t):
    returned = t["lineitem"].where("l_returnflag = 'R'").groupBy("l_orderkey").agg(F.expr(f"sum({REVENUE})").alias("revenue"))
    return returned.join(t["orders"], F.expr("l_orderkey = o_orderkey")).join(t["customer"], F.expr("o_custkey = c_custkey")).groupBy(
        "c_name").agg(F.sum("revenue").alias("lost")).orderBy(F.desc("lost")).limit(20)


def promotion_effect(t):
    return t["lineitem"].where("l_shipdate >= '1995-09-01' and l_shipdate < '1996-03-01'").join(t["part"], F.expr("l_partkey = p_partkey")).agg(
        F.expr(f"sum(if(p_type like 'PROMO%', {REVENUE}, 0.0)) / sum({REVENUE})"))


def large_volume_customers(t):
    large = t["lineitem"].groupBy("l_orderkey").agg(F.sum("l_quantity").alias("quantity")).where("quantity > 150")
    return large.join(t["orders"], F.expr("l_orderkey = o_orderkey")).orderBy(F.desc("o_totalprice")).select("o_orderkey", "o_totalprice", "quantity").limit(100)


def best_orders_of_a_day(t):
    order = Window.partitionBy("o_orderdate").orderBy(F.desc("o_totalprice"))
    return t["orders"].select("o_orderdate", "o_orderkey", F.rank().over(order).alias("place")).where("place <= 3").groupBy("place").count()


def rollup_by_month(t):
    return t["lineitem"].withColumn("month", F.trunc("l_shipdate", "month")).rollup("month", "l_shipmode").agg(F.expr(f"sum({REVENUE})"), F.countDistinct("l_suppkey"))


JOBS = [pricing_summary, shipping_priority, order_priority, local_supplier_volume, forecast_revenue, returned_items, promotion_effect,
        large_volume_customers, best_orders_of_a_day, rollup_by_month]


def main(folder, names):
    global spark
    if not os.path.exists(f"{folder}/nation/_SUCCESS"):
        spark = SparkSession.builder.appName("tables").getOrCreate()
        make_tables(folder)
        spark.stop()
    for job in JOBS:
        if names and job.__name__ not in names:
            continue
        spark = SparkSession.builder.appName(job.__name__.replace("_", " ")).getOrCreate()
        tables = {path: spark.read.parquet(f"{folder}/{path}") for path in ("lineitem", "orders", "customer", "part", "supplier", "nation")}
        spark.sparkContext.setJobDescription(job.__name__)
        for row in job(tables).collect()[:5]:
            print(job.__name__, *row)
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
