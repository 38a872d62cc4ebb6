"""A Python data source that burns the processor as it is read, then waits with some memory, and a join with a broadcast:
python_source.py (Spark 4)."""

import time

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

SECONDS = 1.5
MEBIBYTES = 96


class Reader(DataSourceReader):
    def partitions(self):
        return [InputPartition(number) for number in range(2)]

    def burn_source(self, number):
        end = time.process_time() + SECONDS
        while time.process_time() < end:
            number += 1
        return number

    def read(self, partition):
        kept = bytearray(b"x") * (MEBIBYTES << 20)
        yield (partition.value, self.burn_source(partition.value))
        time.sleep(SECONDS)
        yield (partition.value + 2, len(kept))


class Numbers(DataSource):
    @classmethod
    def name(cls):
        return "numbers"

    def schema(self):
        return "number long, count long"

    def reader(self, schema):
        return Reader()


spark = SparkSession.builder.appName("python source").getOrCreate()
spark.dataSource.register(Numbers)
numbers = spark.read.format("numbers").load()
names = spark.range(4).selectExpr("id AS number", "concat('n', id) AS name")
print("rows", numbers.join(names.hint("broadcast"), "number").count())
spark.stop()
