"""Queries whose plans cost more than they should, each with one that looks alike and is in order; the description names the rule
that must fire ("almost RULE": must not). plans.py joins|scans|healthy|retries FOLDER

`retries` needs two executors, of which one dies after its map tasks."""

import os
import signal
import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

spark = None
FACTS = 2_000_000


def query(description, frame):
    spark.sparkContext.setJobDescription(description)
    frame.write.format("noop").mode("overwrite").save()


def settings(**values):
    for key, value in values.items():
        spark.conf.set("spark.sql." + key.replace("__", "."), value)


def make_data(folder):
    spark.sparkContext.setJobDescription("data")
    facts = spark.range(0, FACTS, 1, 2).select(
        "id", (F.col("id") % 1000).alias("k"), F.rand(1).alias("v"), F.substring(F.sha1(F.col("id").cast("string")), 1, 16).alias("s"))
    facts.write.parquet(f"{folder}/facts")
    spark.range(0, 1000, 1, 1).select(F.col("id").alias("k"), F.concat(F.lit("name "), "id").alias("name")).write.parquet(f"{folder}/names")
    return spark.read.parquet(f"{folder}/facts"), spark.read.parquet(f"{folder}/names")


def joins(facts, names):
    few, many = spark.range(1).select(F.col("id").alias("x")), spark.range(0, 4000, 1, 2).select(F.col("id").alias("x"))
    others = spark.range(0, 4000, 1, 2).select(F.col("id").alias("y"))
    query("nested-loop", many.join(others, many.x < others.y).agg(F.sum("x")))
    query("almost nested-loop", few.join(others, few.x < others.y).agg(F.sum("x")))
    settings(autoBroadcastJoinThreshold=-1)
    query("cartesian", many.crossJoin(others).agg(F.sum(many.x + others.y)))
    query("almost cartesian", few.crossJoin(others).agg(F.sum(few.x + others.y)))
    settings(autoBroadcastJoinThreshold="10MB")
    threes = spark.range(0, 6000, 1, 2).select((F.col("id") % 3).alias("k"), "id")
    query("exploding-join", threes.join(threes.withColumnRenamed("id", "other"), "k").agg(F.sum("other")))
    query("almost exploding-join", facts.join(names, "k").agg(F.count("name")))


def shuffles(facts, names):
    settings(adaptive__enabled="false", autoBroadcastJoinThreshold=-1)
    query("almost missed-broadcast", facts.join(names, "k").agg(F.count("name")))
    half = facts.where("id % 2 = 0").select("id", F.col("v").alias("w"))
    query("almost missed-broadcast", facts.join(half, "id").agg(F.sum("w")))
    query("almost aqe-off", names.groupBy("name").count())
    settings(adaptive__enabled="true", autoBroadcastJoinThreshold="10MB")
    order = Window.orderBy("v")
    query("global-window", facts.select("id", F.row_number().over(order).alias("n")).agg(F.sum("n")))
    query("almost global-window", facts.select("id", F.row_number().over(order.partitionBy("k")).alias("n")).agg(F.sum("n")))


def scans(facts, names):
    settings(adaptive__enabled="false", autoBroadcastJoinThreshold=-1)
    query("missed-broadcast", facts.join(names, "k").agg(F.count("name"), F.sum("v")))
    settings(adaptive__enabled="true", autoBroadcastJoinThreshold="10MB")
    query("no-pushdown", facts.where("substring(s, 1, 2) = 'ab'").select("id"))
    query("almost no-pushdown", facts.where("id = 5").select("id"))
    parts = [facts.where(f"k = {number}").select("id", "v", "s") for number in range(3)]
    query("repeated-scans", parts[0].union(parts[1]).union(parts[2]))
    query("almost repeated-scans", facts.where("k < 3").select("id", "v", "s"))
    once = facts.where("k < 10").select("id", "v").cache()
    query("cached-once", once.agg(F.sum("v")))
    twice = facts.where("k < 20").select("id", "v").cache()
    query("almost cached-once", twice.agg(F.sum("v")))
    query("almost cached-once", twice.agg(F.max("v")))


def results():
    for description, count in (("large-results", 6_000_000), ("almost large-results", 100_000)):
        spark.sparkContext.setJobDescription(description)
        frame = spark.range(0, count, 1, 4).select(F.rand(2))
        frame._jdf.queryExecution().executedPlan().executeCollect()  # noqa: SLF001 - no Python objects of six million rows


def healthy(facts, names):
    """In the manner of TPC-H: aggregates, joins with small tables, filters that are pushed down, windows with partitions."""
    named = facts.join(names, "k")
    query("one", facts.groupBy("k").agg(F.sum("v")))
    query("two", named.groupBy("name").agg(F.avg("v"), F.count("*")))
    query("three", facts.where("id < 1000000").groupBy((F.col("k") % 10).alias("d")).agg(F.max("v")).orderBy("d"))
    query("four", facts.orderBy(F.desc("v")).limit(10))
    query("five", named.where("name like 'name 1%'").groupBy("name").count().orderBy(F.desc("count")).limit(5))
    query("six", facts.agg(F.sum(F.when(F.col("v") > 0.5, F.col("v")).otherwise(0.0))))
    query("seven", facts.select("id", F.rank().over(Window.partitionBy("k").orderBy("v")).alias("r")).where("r <= 3"))
    query("eight", facts.where("k = 7").join(facts.where("k = 7").select("id", F.col("v").alias("w")), "id").agg(F.sum("w")))
    query("nine", facts.groupBy("k").agg(F.approx_count_distinct("s")))
    query("ten", facts.join(names.where("k < 10"), "k", "left_semi").groupBy("k").count())


def die_once(rows, folder):
    """The first task of the second stage ends its executor, and with it the data that the first stage left there."""
    rows = list(rows)
    marker = os.path.join(folder, "died")
    if TaskContext.get().partitionId() == 1 and not os.path.exists(marker):
        open(marker, "w").close()
        time.sleep(2)
        os.kill(java_of(os.getpid()), signal.SIGKILL)
    time.sleep(1)
    return rows


def java_of(pid):
    """The JVM above a Python worker."""
    while True:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            text = stat.read()
        if text[text.index("(") + 1:text.rindex(")")] == "java":
            return pid
        pid = int(text[text.rindex(")") + 2:].split()[1])


def slowly(number):
    time.sleep(0.5)
    return number % 4, number


def retries(folder):
    pairs = spark.sparkContext.parallelize(range(24), 8).map(slowly).groupByKey(4)
    spark.sparkContext.setJobDescription("stage-retries")
    print(pairs.mapPartitions(lambda rows: die_once(rows, folder)).count())


def main(name, folder):
    global spark
    spark = SparkSession.builder.appName(f"plans {name}").getOrCreate()
    if name == "retries":
        retries(folder)
    else:
        facts, names = make_data(folder)
        if name == "healthy":
            healthy(facts, names)
        elif name == "joins":
            joins(facts, names)
            shuffles(facts, names)
        else:
            scans(facts, names)
            results()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
