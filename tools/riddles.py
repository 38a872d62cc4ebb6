#!/usr/bin/env python3
"""riddles.py BUILD [NAME…]: run the jobs of examples/riddles on a small Spark cluster of this machine, and let the
report advise on each; BUILD/riddles/NAME has the page and its input."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import fetch_spark

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "riddles"
NAMES = ["straggler", "fatso", "slacker", "heckler", "carrier", "idler", "hermit", "sound"]
VERSION = "4"
CONF = {"spark.ui.enabled": "false", "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false", "spark.log.level": "INFO", "spark.python.profile": "true",
        "spark.executor.memory": "512m", "spark.executor.metrics.pollingInterval": "200",
        "spark.executor.processTreeMetrics.enabled": "true",
        "spark.plugins": "org.sparkflame.SparkflamePlugin"}


def run(build, script, folder, *arguments, settings=None, master="local-cluster[1,3,512]"):
    """Leaves events, logs, profiles and recordings in the folder."""
    home = fetch_spark.fetch(VERSION)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "events").mkdir(parents=True)
    conf = {**CONF, "spark.eventLog.dir": (folder / "events").as_uri(), "spark.python.profile.dump": str(folder / "profiles"),
            "spark.sparkflame.outputDir": (folder / "recordings").as_uri(),
            "spark.sparkflame.localDir": str(folder / "local"), "spark.local.dir": str(folder / "scratch"),
            **(settings or {})}
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
                   "SPARK_LOCAL_HOSTNAME": "localhost", "PYTHONPATH": fetch_spark.python_path(home)}
    (folder / "logs").mkdir()
    with open(folder / "logs" / "driver.log", "w", encoding="utf-8") as log:
        done = subprocess.run([home / "bin" / "spark-submit", "--master", master,
                               "--jars", build / "sparkflame-plugin.jar", "--py-files",
                               f"{build / 'pyspark_profilers.zip'},{FOLDER / 'riddle.py'}", *options,
                               script, *arguments], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    if done.returncode != 0:
        sys.exit(f"{script.name} failed, see {folder / 'logs' / 'driver.log'}")
    application = next((folder / "events").iterdir()).name
    for path in (home / "work" / application).glob("*/std*"):
        shutil.copyfile(path, folder / "logs" / f"executor_{path.parent.name}_{path.name}.log")
    shutil.rmtree(home / "work" / application, ignore_errors=True)
    shutil.rmtree(folder / "scratch", ignore_errors=True)


def advice(build, folder):
    """The report's advice on the folder's files; also writes the page."""
    inputs = [folder / part for part in ("events", "logs", "profiles", "recordings") if (folder / part).exists()]
    subprocess.run([build / "sparkflame", "report", "-q", *inputs, "-o", folder / "report.html"],
                   stdin=subprocess.DEVNULL, check=True)
    done = subprocess.run([build / "sparkflame", "report", "-q", *inputs, "-f", "json"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["advice"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or NAMES:
        folder = build / "riddles" / name
        try:
            run(build, FOLDER / f"{name}.py", folder)
        except OSError as error:
            sys.exit(f"riddles: {error}")
        print(f"{name}: {folder / 'report.html'}")
        for item in advice(build, folder)[:5]:
            print(f"    {item['rule']}: {item['finding']}")


if __name__ == "__main__":
    main()
