"""Fatso: builds long texts by adding a little to a copy of them, again and again, in a heap that texts fill already:
fatso.py [ROWS]"""

import sys

from pyspark.sql import SparkSession
from riddle import riddle

KEPT_ROWS = 24_000
PIECES = 1_500


def main(context, rows):
    spark = SparkSession(context)
    kept = spark.range(0, KEPT_ROWS, 1, 3).selectExpr("id", "repeat(cast(id as string), 2000) as text").cache()
    kept.count()
    built = spark.range(0, rows, 1, 3).selectExpr(
        f"aggregate(sequence(1, {PIECES}), '', (text, number) -> concat(text, 'piece ', number, ' ')) as text")
    print("letters", built.selectExpr("sum(length(text))").collect()[0][0], kept.selectExpr("sum(length(text))").collect())


riddle("Fatso", main, int(sys.argv[1]) if len(sys.argv) > 1 else 3_000)
