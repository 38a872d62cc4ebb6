#!/usr/bin/env python3
"""demo.py BUILD: run examples/demo_job.py on a small Spark cluster of this machine with the plugin, and draw one page
of what the driver and the executors did, stage by stage, Java and Python."""

import collections
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
CONF = {"spark.plugins": "org.sparkflame.SparkflamePlugin", "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4", "spark.sql.adaptive.enabled": "false"}


def run_job(build, folder):
    home, packages = fetch_spark.fetch(VERSION), fetch_spark.fetch_pandas()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    conf = {**CONF, "spark.sparkflame.outputDir": (folder / "recordings").as_uri(),
            "spark.sparkflame.localDir": str(folder / "local"), "spark.local.dir": str(folder / "scratch")}
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
                   "PYTHONPATH": os.pathsep.join([fetch_spark.python_path(home), str(packages)])}
    with open(folder / "job.log", "w", encoding="utf-8") as log:
        done = subprocess.run([home / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]", "--jars",
                               build / "sparkflame-plugin.jar", *options, ROOT / "examples" / "demo_job.py"], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    if done.returncode != 0:
        sys.exit(f"the job failed, see {folder / 'job.log'}")
    return next((folder / "recordings").iterdir())


def folded(build, recordings, *options):
    """[(frames, samples)] of CPU samples."""
    done = subprocess.run([build / "sparkflame", "convert", "-q", "-e", "cpu", "-f", "folded", *options, recordings],
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
    yield f"{share(in_stages, sum(stages.values()))} of all CPU time belongs to tasks, most of it ({share(samples, in_stages)}) to {top}."
    skewed = max((stage for stage in stages if len(tasks[stage]) > 2),
                 key=lambda stage: max(tasks[stage].values()) / sum(tasks[stage].values()), default=None)
    if skewed is not None:
        task, most = tasks[skewed].most_common(1)[0]
        yield f"In {skewed}, {task} alone used {share(most, stages[skewed])} of the time of {len(tasks[skewed])} tasks: a skewed key."
    if python:
        name, most = python.most_common(1)[0]
        yield f"The costliest Python function is {name}, with {share(most, in_stages)} of the tasks' CPU time."


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    page = build / "demo.html"
    try:
        recordings = run_job(build, build / "demo")
    except OSError as error:
        sys.exit(f"demo: {error}")
    # CPU time: in wall time the threads that wait hide those that work.
    subprocess.run([build / "sparkflame", "flame", "-q", "-e", "cpu", "--stitch", "--by", "stage", "--title", "sparkflame demo", recordings,
                    "-o", page], stdin=subprocess.DEVNULL, check=True)
    print("A Spark job of one minute, driver and executors, stage by stage:")
    print(f"    {page.as_uri()}")
    for sentence in findings(build, recordings):
        print(sentence)


if __name__ == "__main__":
    main()
