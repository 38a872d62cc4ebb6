"""Print, as JSON, what Spark reads: the rows of random tables, and of each question, which are views over the tables of a profile."""

import json
import pathlib
import re
import sys

from pyspark.sql import SparkSession

TYPES = {"timestamp": "unix_micros({0})", "date": "datediff({0}, DATE '1970-01-01')"}

session = SparkSession.builder.getOrCreate()
random_tables, tables, questions = map(pathlib.Path, sys.argv[1:])
found = {}
for vectorized in ("true", "false"):
    session.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
    for path in random_tables.glob("*.parquet"):
        frame = session.read.parquet(str(path))
        columns = [TYPES.get(kind, "{0}").format(name) + f" AS {name}" for name, kind in frame.dtypes]
        rows = frame.selectExpr(*columns).coalesce(1).collect()
        found[f"{path.stem} {vectorized}"] = [[row[i] for row in rows] for i in range(len(columns))]
for path in tables.glob("*.parquet"):
    session.read.parquet(str(path)).createOrReplaceTempView(path.stem)
for statement in questions.read_text().split(";\n"):
    if statement.strip():
        name = re.search(r"VIEW (\w+)", statement)[1]
        session.sql(statement)
        found[name] = [list(row) for row in session.table(name).collect()]
print("FOUND " + json.dumps(found, default=str))
