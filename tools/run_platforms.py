#!/usr/bin/env python3
"""run_platforms.py BUILD [--only TEXT]: a real job with the plugin on each release of Spark, with each Scala and Java it allows.

A driver, an executor and Python workers; the result must be right, and the recordings must name tasks and Python functions. Prints a
table, and writes it to bench/results/platforms.md when all platforms ran; fails if one does not work."""

import argparse
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import fetch_pythons
import fetch_spark

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import jvm  # noqa: E402
import spark  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "platforms.md"
SCALA_213 = fetch_spark.SCALA_SUFFIX
# Spark: (its Java releases that the agent supports, its Python). Spark 3 also allows Java 8.
RELEASES = {
    "3.3": (("11", "17"), "3.10"),
    "3.4": (("11", "17"), "3.10"),
    "3.5": (("11", "17"), "3.10"),
    "4.0": (("17", "21"), "3.12"),
    "4.1": (("17", "21"), "3.12"),
    "4.2": (("17", "21", "25"), "3.12"),
    "4": (("17", "21", "25"), "3.12"),
}
MASTER = "local-cluster[1,2,1024]"
EXPECTED = ("java 59999999", "python 1")


def platforms():
    """(Spark's home name, its release, Scala, Java, Python)"""
    for name, (javas, python) in RELEASES.items():
        for suffix, scala in (("", "2.12"), (SCALA_213, "2.13")) if name < "4" else (("", "2.13"),):
            for java in javas:
                yield name + suffix, fetch_spark.PACKAGES[name], scala, java, python


def counts(command, recordings, *options):
    """{label: samples} of CPU time."""
    done = subprocess.run([command, "convert", "-q", "-e", "cpu", "-f", "folded", *options, *recordings], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        label, number = line.split(";", 1)[0], int(line.rsplit(" ", 1)[1])
        found[label] = found.get(label, 0) + number
    return found


def run_job(name, java, python, folder, plugin):
    home = jvm.home_of(java)
    if not (home / "jmods").exists():
        home = spark.java_without_incubator(folder / "java", home)
    spark.PLUGIN = plugin
    environment = {"JAVA_HOME": str(home), "PYSPARK_PYTHON": str(fetch_pythons.fetch(python)),
                   "PYSPARK_DRIVER_PYTHON": str(fetch_pythons.fetch(python))}
    conf = {"spark.sparkflame.outputDir": (folder / "out").as_uri(), "spark.executor.memory": "1g"}
    return spark.submit(name, folder / "run", "on_platform.py", master=MASTER, conf=conf, env=environment)


def judge(done, folder, command):
    """(problem or "", samples of tasks, samples of Python)"""
    if done.returncode != 0 or any(text not in done.stdout for text in EXPECTED):
        return f"exit status {done.returncode}: {done.log[-3000:]}", 0, 0
    recordings = sorted((folder / "out").rglob("*.jfr"))
    jvms = {path.parent.name for path in recordings}
    if jvms != {"driver", "exec-0"}:
        return f"recordings of {sorted(jvms)}: {' | '.join(spark.said(done.log))}", 0, 0
    by_task = counts(command, recordings, "--by", "task")
    tasks = sum(number for label, number in by_task.items() if label != "[no task]")
    python = sum(counts(command, recordings, "-I", "spins").values())
    warnings = [line for line in done.log.splitlines() if re.search(r" (WARN|ERROR) sparkflame", line)]
    if warnings:
        return warnings[0], tasks, python
    if tasks == 0 or python == 0:
        return "there are no samples of tasks, or none of the Python function", tasks, python
    return "", tasks, python


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=True)
    return done.stdout.strip()


def table(rows):
    lines = ["| Spark | Scala | Java | Python | CPU samples of tasks | of the Python function | seconds | |", "|---|---|---|---|---|---|---|---|"]
    for (_, release, scala, java, python), (problem, tasks, samples), seconds in rows:
        lines.append(f"| {release} | {scala} | {java} | {python} | {tasks:,} | {samples:,} | {seconds:.0f} | {problem and 'fails' or 'works'} |")
    return "\n".join(lines)


def write_results(rows):
    RESULTS.write_text(f"""# Platforms (`make platforms`)

A job with the plugin on each release of Spark, with each Scala and each Java from 11 on that the release allows: a driver, one executor
of two cores, Python workers, `outputDir` a folder. A row says "works" if the job's result is right, driver and executor left recordings
that can be read, their samples name tasks and the Python function, and the plugin logged no warning. Scala 2.13 of Spark 3 runs with
jars from Maven, everything else from PyPI.

{datetime.date.today()}, commit {commit()}, {os.cpu_count()} cores, {os.uname().machine}, glibc {os.confstr('CS_GNU_LIBC_VERSION').split()[1]}, \
beside other work:

{table(rows)}
""", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="", help="platforms whose description has this text, such as 'Spark 4.0.5' or 'Java 21'")
    options = parser.parse_args()
    build = options.build.resolve()
    rows = []
    for platform in platforms():
        name, release, scala, java, python = platform
        text = f"Spark {release}, Scala {scala}, Java {java}, Python {python}"
        if options.only in text:
            with tempfile.TemporaryDirectory() as scratch:
                started = time.monotonic()
                done = run_job(name, java, python, pathlib.Path(scratch), build / "sparkflame-plugin.jar")
                rows.append((platform, judge(done, pathlib.Path(scratch), build / "sparkflame"), time.monotonic() - started))
            print(f"{text}: {rows[-1][1][0] or 'works'}", flush=True)
    print(table(rows))
    if not options.only:
        write_results(rows)
    sys.exit(1 if not rows or any(problem for _, (problem, _, _), _ in rows) else 0)


if __name__ == "__main__":
    main()
