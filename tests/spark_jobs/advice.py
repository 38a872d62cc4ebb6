"""Jobs that go wrong in one way each, and some that do not; the job's description names the rule that must fire:
advice.py stages|loss|calm|chatty|speculation FOLDER

`speculation` needs spark.speculation=true and workers that go by two hosts (127.0.0.1 and 127.0.0.2 will do): a second attempt
never runs on the first one's host."""

import logging
import os
import re
import signal
import sys
import time
from datetime import datetime

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = None
MEBIBYTE = 1 << 20


def job(description):
    spark.sparkContext.setJobDescription(description)


def noop(frame):
    frame.write.format("noop").mode("overwrite").save()


# ---- one stage each ----

def spill():
    noop(spark.range(0, 1_500_000, 1, 2).selectExpr("hash(id) as key", "repeat(uuid(), 4) as text").sortWithinPartitions("key"))


def tiny_tasks():
    noop(spark.range(0, 600, 1, 600))


def few_partitions():
    noop(spark.range(0, 60_000_000, 1, 1).selectExpr("sha1(cast(id as string))"))


def small_files(folder):
    spark.range(0, 1000, 1, 150).write.parquet(f"{folder}/small")


def serialisation():
    length = udf(lambda text: text[:1])
    noop(spark.range(0, 300_000, 1, 2).selectExpr("repeat(cast(id as string), 60) as text").select(length("text")))


def hot_line():
    def digits(number):
        total = 0
        for letter in str(number) * 40:
            total += int(letter)
        return total
    noop(spark.range(0, 60_000, 1, 2).select(udf(digits, "long")("id")))


def regex():
    noop(spark.range(0, 900_000, 1, 2).selectExpr("regexp_replace(repeat(cast(id as string), 8), '([0-9]+)7(.*)3', '$2')"))


def date_parsing():
    noop(spark.range(0, 3_000_000, 1, 2).selectExpr("to_timestamp(concat('2026-01-', 10 + id % 20, ' 10:20:30'), 'yyyy-MM-dd HH:mm:ss')"))


def reflection():
    noop(spark.range(0, 4_000_000, 1, 2).selectExpr("java_method('java.lang.Math', 'abs', cast(id as int))"))


def locks():
    noop(spark.range(0, 3_000_000, 1, 2).selectExpr("java_method('java.util.UUID', 'randomUUID')"))


def python_dates():
    def day(number):
        return datetime.strptime(f"2026-01-{10 + number % 20}", "%Y-%m-%d").day
    noop(spark.range(0, 300_000, 1, 2).select(udf(day, "int")("id")))


def python_regex():
    def last(number):
        return re.sub(r"(\d+)7(.*)3", r"\2", str(number) * 10)
    noop(spark.range(0, 300_000, 1, 2).select(udf(last)("id")))


def python_logging():
    def tell(number):
        logging.getLogger("teller").warning("number %d is here", number)
        return number
    noop(spark.range(0, 60_000, 1, 2).select(udf(tell, "long")("id")))


def even():
    noop(spark.range(0, 20_000_000, 1, 4).selectExpr("hash(id)"))


def stages(folder):
    job("nothing")
    even()
    for rule, work in (("spill", spill), ("tiny-tasks", tiny_tasks), ("few-partitions", few_partitions),
                       ("python-serialisation", serialisation), ("udf-hot-line", hot_line), ("regex", regex),
                       ("date-parsing", date_parsing), ("reflection", reflection), ("locks", locks),
                       ("date-parsing", python_dates), ("regex", python_regex), ("logging", python_logging)):
        job(rule)
        work()
    job("small-files")
    small_files(folder)
    job("nothing")
    even()


# ---- an executor that dies as the kernel kills it for its memory ----

def grow(_):
    if TaskContext.get().attemptNumber() == 0:
        kept = []
        for _ in range(60):
            kept.append(bytearray(b"x") * (10 * MEBIBYTE))
            time.sleep(0.1)
        worker = os.getppid()
        with open(f"/proc/{worker}/stat", encoding="ascii") as file:
            os.kill(int(file.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        time.sleep(600)
    return 1


def loss(_folder):
    job("executor-lost")
    print("sum", spark.sparkContext.parallelize([0], 1).map(grow).sum())


# ---- nothing but too much memory ----

def calm(_folder):
    job("nothing")
    for _ in range(4):
        even()


# ---- a log that says the same over and over ----

def tell(number):
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("shop").info("Order %d has no discount", number)
    return number


def chatty(_folder):
    job("chatty-log")
    print("sum", spark.sparkContext.parallelize(range(2000), 4).map(tell).sum())


# ---- attempts that are thrown away ----

def slow_at_first(number):
    """As on a machine that is slow for a while."""
    time.sleep(12 if number % 4 == 0 and TaskContext.get().attemptNumber() == 0 else 1)
    return number


def speculation(_folder):
    job("speculation")
    print("sum", spark.sparkContext.parallelize(range(12), 12).map(slow_at_first).sum())
    time.sleep(8)  # the attempts that lost end only then


def main(which, folder):
    global spark
    spark = SparkSession.builder.appName(f"advice {which}").getOrCreate()
    {"stages": stages, "loss": loss, "calm": calm, "chatty": chatty, "speculation": speculation}[which](folder)
    spark.stop()


main(*sys.argv[1:])
