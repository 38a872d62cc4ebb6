"""Running Spark jobs with the plugin."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import jvm

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOBS = ROOT / "tests" / "spark_jobs"
PLUGIN = pathlib.Path(os.environ.get("SPARKFLAME_PLUGIN", ROOT / "build" / "sparkflame-plugin.jar"))
LIMIT_SECONDS = 1800
CONF = {"spark.ui.enabled": "false", "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false", "spark.plugins": "org.sparkflame.SparkflamePlugin",
        "spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false", "spark.log.level": "INFO"}

sys.path.insert(0, str(ROOT / "tools"))
import fetch_spark  # noqa: E402


def prepare(*versions):
    """Fetch these Sparks, all at once."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(fetch_spark.fetch, versions))


def environment(version, pandas):
    home = fetch_spark.fetch(version)
    path = [fetch_spark.python_path(home)] + ([str(fetch_spark.fetch_pandas())] if pandas else [])
    return {**os.environ, "SPARK_HOME": str(home), "PYTHONPATH": os.pathsep.join(path), "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(jvm.system_home()), "SPARK_LOCAL_HOSTNAME": "localhost"}


def submit(version, folder, job, *arguments, master="local[2]", conf=None, pandas=False):
    """Run a job of tests/spark_jobs; its logs, also of executors, are in what is given back as `log`. A setting that is
    None is left out."""
    home = fetch_spark.fetch(version)
    (folder / "events").mkdir(parents=True)
    settings = {**CONF, "spark.eventLog.dir": (folder / "events").as_uri(),
                "spark.sparkflame.localDir": str(folder / "local"), "spark.local.dir": str(folder / "scratch"),
                **(conf or {})}
    options = [part for key, value in settings.items() if value is not None
               for part in ("--conf", f"{key}={value}")]
    done = subprocess.run([home / "bin" / "spark-submit", "--master", master, "--jars", PLUGIN, *options, JOBS / job,
                           *map(str, arguments)], cwd=folder, env=environment(version, pandas), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=LIMIT_SECONDS, check=False)
    done.log = done.stdout
    return done


def said(log):
    """What the plugin said."""
    return [line.split(" sparkflame: ", 1)[1] for line in log.splitlines() if " sparkflame: sparkflame: " in line]


def events(folder):
    """The event log's events."""
    path = next(path for path in (folder / "events").rglob("*") if path.is_file() and "appstatus" not in path.name)
    return [json.loads(line) for line in path.read_text().splitlines()]


def finished_tasks(folder):
    """{task id: (task info, metrics)} of tasks that succeeded."""
    return {event["Task Info"]["Task ID"]: (event["Task Info"], event["Task Metrics"]) for event in events(folder)
            if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success"}
