"""The job of word_counts.jfr.gz: counts words, then joins by sorting. Call: word_counts.py RECORDING.jfr SETTINGS.jfc"""

import sys

from pyspark.sql import SparkSession, functions as F

WORDS = ["spark", "flame", "shuffle", "stage", "task", "executor", "driver", "join", "sort", "hash"]


def session(recording, settings):
    flags = (f"-XX:StartFlightRecording=filename={recording},settings={settings},dumponexit=true "
             "-XX:FlightRecorderOptions=stackdepth=96")
    return (SparkSession.builder.master("local[2]").appName("word counts")
            .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
            .config("spark.driver.extraJavaOptions", flags).getOrCreate())


def count_words(spark):
    def word(salt):
        number = F.pmod(F.hash("id", F.lit(salt)), F.lit(len(WORDS))) + 1
        return F.element_at(F.array(*[F.lit(word) for word in WORDS]), number.cast("int"))
    lines = (spark.range(0, 6_000_000, numPartitions=8)
             .select(F.concat_ws(" ", *[word(salt) for salt in range(4)], F.hex("id")).alias("line")))
    counts = (lines.select(F.explode(F.split("line", " ")).alias("word"))
              .where(F.col("word").rlike("^[a-f].*")).groupBy("word").count())
    return counts.where("count > 10").orderBy(F.desc("count")).take(5)


def join_by_sorting(spark):
    many = spark.range(0, 3_000_000).select((F.col("id") % 50021).alias("key"),
                                            F.sha2(F.col("id").cast("string"), 256).alias("digest"))
    few = spark.range(0, 200_000).select((F.col("id") % 50021).alias("key"), F.upper(F.hex("id")).alias("name"))
    joined = many.join(few.hint("merge"), "key")
    return joined.groupBy("key").agg(F.max("digest"), F.min("name")).orderBy("key").limit(3).collect()


if __name__ == "__main__":
    spark = session(*sys.argv[1:3])
    print(count_words(spark))
    print(join_by_sorting(spark))
    spark.stop()
