#!/usr/bin/env python3
"""demo.py BUILD: run examples/demo_job.py on a small Spark cluster of this machine with the plugin, and make the report
of it: timeline, stages, flame graphs of Java and Python, advice."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

import fetch_spark

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = "4"
# Python functions of the job.
FUNCTIONS = ["digits", "spread"]
ADVICE_SHOWN = 3
CONF = {"spark.plugins": "org.sparkflame.SparkflamePlugin", "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true", "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false",
        "spark.sql.shuffle.partitions": "4", "spark.sql.adaptive.enabled": "false"}


def run_job(build, folder, job=ROOT / "examples" / "demo_job.py", *arguments):
    """The folder of the application's recordings."""
    home, packages = fetch_spark.fetch(VERSION), fetch_spark.fetch_pandas()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "events").mkdir(parents=True)
    conf = {**CONF, "spark.eventLog.dir": (folder / "events").as_uri(), "spark.sparkflame.outputDir": (folder / "recordings").as_uri(),
            "spark.sparkflame.localDir": str(folder / "local"), "spark.local.dir": str(folder / "scratch")}
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
                   "PYTHONPATH": os.pathsep.join([fetch_spark.python_path(home), str(packages)])}
    with open(folder / "job.log", "w", encoding="utf-8") as log:
        done = subprocess.run([home / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]", "--jars",
                               build / "sparkflame-plugin.jar", *options, job, *map(str, arguments)], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    if done.returncode != 0:
        sys.exit(f"the job failed, see {folder / 'job.log'}")
    return next((folder / "recordings").iterdir())


def folded(build, recordings, *options):
    """[(frames, samples)] of CPU samples."""
    done = subprocess.run([build / "sparkflame", "convert", "-q", "-e", "cpu", "--bare-names", "-f", "folded", *options, recordings],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in done.stdout.splitlines()]


def share(part, whole):
    return f"{100 * part / max(whole, 1):.0f} %"


def findings(build, recordings):
    """Three sentences."""
    stages, tasks = collections.Counter(), collections.defaultdict(collections.Counter)
    python = collections.Counter()
    for frames, count in folded(build, recordings, "--by", "stage,task"):
        stages[frames[0]] += count
        tasks[frames[0]][frames[1]] += count
        for name in FUNCTIONS:
            if any(frame.split(".")[0] == name for frame in frames):
                python[name] += count
    in_stages = sum(count for stage, count in stages.items() if not stage.startswith("["))
    top, samples = next((item for item in stages.most_common() if not item[0].startswith("[")), ("no stage", 0))
    yield f"{share(in_stages, sum(stages.values()))} of the CPU time was spent in tasks, most of it ({share(samples, in_stages)}) in {top}."
    skewed = max((stage for stage in stages if len(tasks[stage]) > 2),
                 key=lambda stage: max(tasks[stage].values()) / sum(tasks[stage].values()), default=None)
    if skewed is not None:
        task, most = tasks[skewed].most_common(1)[0]
        yield f"In {skewed}, {task} alone took {share(most, stages[skewed])} of the CPU time of {len(tasks[skewed])} tasks: a skewed key."
    if python:
        name, most = python.most_common(1)[0]
        yield f"The most expensive Python function is {name}, with {share(most, in_stages)} of the tasks' CPU time."


def report(build, folder, *options):
    """What `sparkflame report` prints of the event log and the recordings."""
    done = subprocess.run([build / "sparkflame", "report", "-q", folder / "events", folder / "recordings", *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return done.stdout


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    page, folder = build / "demo.html", build / "demo"
    try:
        recordings = run_job(build, folder)
    except OSError as error:
        sys.exit(f"demo: {error}")
    report(build, folder, "-o", page)
    print("Report of the demo job, driver and executors (open it in a browser):")
    print(f"    {page.as_uri()}")
    for sentence in findings(build, recordings):
        print(sentence)
    advice = {}
    for entry in json.loads(report(build, folder, "-f", "json"))["advice"]:
        advice.setdefault(entry["rule"], entry["finding"])
    for finding in list(advice.values())[:ADVICE_SHOWN]:
        print(f"Advice: {finding}")


if __name__ == "__main__":
    main()
