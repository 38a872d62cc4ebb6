#!/usr/bin/env python3
"""weeks.py [--paths-ms N] [--queries N]: recordings of more stacks than their memory limit of 32m holds, the result in
bench/results/weeks.md: the share of a method that is hot in the last seconds, the sum of all samples, and the agent's memory."""

import argparse
import datetime
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
import fetch_spark  # noqa: E402
import jvm  # noqa: E402
import weeks  # noqa: E402

RESULT = ROOT / "bench" / "results" / "weeks.md"
HOT_MS = 10000


def row(name, found, subject):
    return (f"| {name} | {subject} | {100 * found['hot_share']:.2f} % | {100 * found['true_share']:.2f} % | "
            f"{100 * found['cpu_ratio']:.2f} % | {found['agent_kb'] / 1024:.1f} MB | {'yes' if 'dropped:' in found['log'] else 'no'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths-ms", type=int, default=100000)
    parser.add_argument("--queries", type=int, default=1000)
    wanted = parser.parse_args()
    home, rows = jvm.home_of("17"), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        jars = fetch_spark.fetch("3.5") / "jars"
        classes = jvm.compile_classes(folder / "classes", "ManyStacks", "GeneratedSql", "org/sparkflame/Agent", class_path=f"{jars}/*")
        for output in ["many.jfr", "many.collapsed"]:
            found = weeks.measure(home, classes, folder / output, ",alloc=512,memlimit=32m", wanted.paths_ms, HOT_MS)
            rows.append(row(f"ManyStacks, {output.rsplit('.', 1)[1]}", found, f"{found['paths']:,} stacks"))
        found = weeks.measure_sql(home, classes, jars, folder / "sql.jfr", ",alloc=64k,memlimit=32m", wanted.queries, HOT_MS)
        rows.append(row("GeneratedSql, jfr", found, f"{found['queries']:,} queries"))
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("# Weeks in minutes\n\n`make weeks`: memlimit=32m, a method that is hot in the last 10 s; "
                      f"{datetime.date.today()}, commit {commit.stdout.strip()}, 2 cores, x86_64.\n\n"
                      "| program | of | share of the hot method | its share of CPU time | samples × interval / CPU time | "
                      "memory of the agent | drops logged |\n|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n",
                      encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
