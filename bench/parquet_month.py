#!/usr/bin/env python3
"""Time each view of sql/questions.sql over a month of applications, in DuckDB and Spark SQL: parquet_month.py [--applications N] [--from FOLDER]
[--spark VERSION] [--keep FOLDER] [--build FOLDER].

The tables of the recordings in the folder (default: examples/word_counts.jfr.gz) become those of 30 days, a block for each day: an application has about
two thirds of the rows, with costs, executors and stages of its own, so that no two are equal. Costs of methods are computed from the rows by DuckDB, as the
writer does. Times are CPU seconds (seconds) of a whole view, summed up by DuckDB and written to nowhere by Spark, after one that warms up. Both have two threads.
Their answers have to be the same, row by row."""

import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import duckdb

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import fetch_spark  # noqa: E402

QUESTIONS = (ROOT / "sql" / "questions.sql").read_text(encoding="utf-8")
HELPERS = ("costs", "stacks", "frame_classes", "methods")
VIEWS = [name for name in re.findall(r"VIEW (\w+)", QUESTIONS) if name not in HELPERS]
TABLES = ("samples", "stack_frames", "frames", "method_costs", "events")
DAYS = 30
FIRST_DAY = "2026-06-01"
DUCKDB_GOAL, SPARK_GOAL = 2, 10
COMPRESSION = "(FORMAT parquet, COMPRESSION zstd)"

# Rows of a day: of each application those whose number, by a hash, is not in the third that it leaves out.
SAMPLES = """COPY (SELECT {day}::BIGINT AS block, 'application_' || app AS application, event,
    CASE WHEN executor IS NULL OR executor = 'driver' THEN executor ELSE CAST(CAST(executor AS INT) + app % 7 AS VARCHAR) END AS executor,
    stage + app % 5 AS stage, stage_attempt, task, job, sql, state, thread_group,
    time + (DATE '{first}' + {day} - CAST(time AS DATE)) * INTERVAL 1 DAY AS time, stack_id, count * (1 + app % 3) AS count, value * (1 + app % 3) AS value
  FROM base.samples, (SELECT unnest(range({begin}, {end})) AS app) WHERE hash(stack_id, app) % 3 > 0
  ORDER BY application, event, stage, stack_id, executor, task, time) TO '{out}/samples.parquet' """ + COMPRESSION
METHODS = """COPY (WITH sums AS (SELECT CAST(time AS DATE) AS day, application, event, stack_id,
      sum(CASE WHEN weight = 'value' THEN s.value ELSE s.count END)::BIGINT AS cost FROM read_parquet('{out}/samples.parquet') s JOIN base.events USING (event) GROUP BY ALL),
    ids AS (SELECT frame_id, min(frame_id) OVER (PARTITION BY name) AS method_id FROM base.frames),
    named AS (SELECT stack_id, method_id, max((from_leaf = 0)::INT) AS is_leaf FROM base.stack_frames JOIN ids USING (frame_id) GROUP BY ALL),
    found AS (SELECT day, application, event, method_id, sum(cost * is_leaf)::BIGINT AS self, sum(cost)::BIGINT AS total FROM sums JOIN named USING (stack_id) GROUP BY ALL),
    whole AS (SELECT day, application, event, sum(cost) AS cost FROM sums GROUP BY ALL)
  SELECT {day}::BIGINT AS block, found.* FROM found JOIN whole USING (day, application, event) WHERE total >= cost // 1000
  ORDER BY day, event, method_id, application) TO '{out}/method_costs.parquet' """ + COMPRESSION
COPIES = "COPY (SELECT * REPLACE ({day}::BIGINT AS block) FROM base.{table} ORDER BY ALL) TO '{out}/{table}.parquet' " + COMPRESSION

SPARK_JOB = """
import json, os, pathlib, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
folder, questions, out, views, names = json.loads(sys.argv[1])
for name in names:
    spark.read.parquet(*sorted(str(path) for path in pathlib.Path(folder).glob(f"day-*/{name}.parquet"))).createOrReplaceTempView(name)
for view in questions.split(";\\n"):
    if view.strip():
        spark.sql(view)
def processor_time():  # of the JVM, which started this program
    fields = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
for view in views:
    spark.table(view).coalesce(1).write.mode("overwrite").parquet(f"{out}/{view}")  # warms up, and is compared
    cpu, start = processor_time(), time.monotonic()
    spark.table(view).write.format("noop").mode("overwrite").save()
    print("TIME " + json.dumps([view, processor_time() - cpu, time.monotonic() - start]), flush=True)
"""


def base_tables(arguments, scratch):
    source = arguments.source
    if source is None:
        source = scratch / "word_counts.jfr"
        source.write_bytes(gzip.decompress((ROOT / "examples" / "word_counts.jfr.gz").read_bytes()))
    subprocess.run([arguments.build / "sparkflame", "merge", "-q", "-f", "parquet", "-o", scratch / "base", source], stdin=subprocess.DEVNULL, check=True)
    return scratch / "base"


def make(connection, base, folder, applications):
    connection.execute("CREATE SCHEMA base")
    for name in TABLES:
        connection.execute(f"CREATE VIEW base.{name} AS SELECT * FROM '{base}/{name}.parquet'")
    for day in range(DAYS):
        out = folder / f"day-{day:02}"
        out.mkdir(parents=True)
        begin, end = applications * day // DAYS, applications * (day + 1) // DAYS
        connection.execute(SAMPLES.format(day=day, first=FIRST_DAY, begin=begin, end=end, out=out))
        connection.execute(METHODS.format(day=day, out=out))
        for table in ("stack_frames", "frames", "events"):
            connection.execute(COPIES.format(day=day, table=table, out=out))


def by_duckdb(connection, folder):
    """{view: (CPU seconds, seconds)}"""
    for name in TABLES:
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/day-*/{name}.parquet'")
    connection.execute(QUESTIONS)
    found = {}
    for view in VIEWS:
        connection.execute(f"CREATE TABLE answer_{view} AS SELECT * FROM {view}")
        cpu, start = time.process_time(), time.monotonic()
        connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE again AS SELECT * FROM {view}")
        found[view] = time.process_time() - cpu, time.monotonic() - start
    return found


def by_spark(folder, out, version):
    home = fetch_spark.fetch(version)
    script = out / "job.py"
    script.write_text(SPARK_JOB, encoding="utf-8")
    words = json.dumps([str(folder), QUESTIONS, str(out / "answers"), VIEWS, list(TABLES)])
    done = subprocess.run([home / "bin" / "spark-submit", "--master", "local[2]", "--driver-memory", "4g", "--conf", "spark.ui.enabled=false", "--conf",
                           "spark.sql.session.timeZone=UTC", "--conf", "spark.sql.shuffle.partitions=4", "--conf", f"spark.local.dir={out}", script, words],
                          cwd=out, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": fetch_spark.python_path(home)})
    if done.returncode != 0:
        sys.exit(done.stderr[-5000:])
    return {view: (cpu, wall) for view, cpu, wall in (json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("TIME "))}


def difference(connection, view, answers):
    """Rows that only one of both has; doubles of sums in another order differ in the last digits."""
    columns = connection.execute(f"DESCRIBE answer_{view}").fetchall()
    wanted = ", ".join(f"round({name}, 6)" if kind == "DOUBLE" else f"CAST({name} AS DECIMAL(38, 0))" if kind in ("HUGEINT", "BIGINT") else name
                       for name, kind, *_ in columns)
    own, theirs = f"SELECT {wanted} FROM answer_{view}", f"SELECT {wanted} FROM '{answers}/{view}/*.parquet'"
    query = "SELECT (SELECT count(*) FROM ({0} EXCEPT ALL {1})) + (SELECT count(*) FROM ({1} EXCEPT ALL {0}))"
    return connection.execute(query.format(own, theirs)).fetchone()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--applications", type=int, default=1000)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--spark", default="4")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, duckdb.connect() as connection:
        scratch = pathlib.Path(scratch)
        folder = (arguments.keep or scratch / "month").resolve()
        connection.execute("SET threads=2; SET TimeZone='UTC'")
        if not folder.exists():
            make(connection, base_tables(arguments, scratch), folder, arguments.applications)
        sizes = {name: sum(path.stat().st_size for path in folder.rglob(f"{name}.parquet")) / 1e6 for name in TABLES}
        own = by_duckdb(connection, folder)
        rows = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}
        print(", ".join(f"{name}: {rows[name]:,} rows, {sizes[name]:.0f} MB" for name in TABLES), flush=True)
        print("DuckDB: " + ", ".join(f"{view} {cpu:.2f} s" for view, (cpu, _) in own.items()), flush=True)
        theirs = by_spark(folder, scratch, arguments.spark)
        print("\n| view | rows | DuckDB: CPU s (s) | Spark: CPU s (s) | differences |\n|---|---|---|---|---|")
        good = True
        for view in VIEWS:
            count = connection.execute(f"SELECT count(*) FROM answer_{view}").fetchone()[0]
            wrong = difference(connection, view, scratch / "answers")
            good &= wrong == 0 and own[view][0] < DUCKDB_GOAL * 2 and theirs[view][0] < SPARK_GOAL * 2
            print(f"| `{view}` | {count:,} | {own[view][0]:.2f} ({own[view][1]:.1f}) | {theirs[view][0]:.1f} ({theirs[view][1]:.1f}) | {wrong} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
