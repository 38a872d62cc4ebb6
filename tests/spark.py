"""Running Spark jobs with the plugin."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import class_archive
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


def plain_environment(version, pandas):
    home = fetch_spark.fetch(version)
    path = [fetch_spark.python_path(home)] + ([str(fetch_spark.fetch_pandas())] if pandas else [])
    return {**os.environ, "SPARK_HOME": str(home), "PYTHONPATH": os.pathsep.join(path), "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(jvm.system_home()), "SPARK_LOCAL_HOSTNAME": "localhost"}


def java_options(version, compiled=False, env=None):
    """For a quick start of Spark's JVMs. Those that a test expects to be `compiled` have the usual compiler."""
    environ = {**plain_environment(version, False), **(env or {})}
    archive = class_archive.find(fetch_spark.fetch(version), environ)
    return " ".join([*([] if compiled else jvm.QUICK), *([f"-XX:SharedArchiveFile={archive}"] if archive else [])])


def environment(version, pandas, compiled=False, env=None):
    """With the options of java_options() for the JVM that is started directly."""
    return {**plain_environment(version, pandas), "SPARK_SUBMIT_OPTS": java_options(version, compiled, env), **(env or {})}


def java_without_incubator(folder, home):
    """A home whose java is that of another home, without the module that Spark asks for to speed up its linear algebra, and that
    PyPI's Java has not got."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text('#!/bin/bash\nwords=()\nfor word in "$@"; do [[ $word == --add-modules=jdk.incubator.vector ]] || '
                    f'words+=("$word"); done\nexec {home}/bin/java "${{words[@]}}"\n', encoding="utf-8")
    java.chmod(0o755)
    return folder


def submit(version, folder, job, *arguments, master="local[2]", conf=None, pandas=False, env=None, options=(), compiled=False):
    """Run a job of tests/spark_jobs, or another program by its path, with further options; its logs, also of executors, are in what is given back as `log`, and after them what the
    job printed: Spark has Python write each piece of a line at once, and a log message may come in between. A setting that
    is None is left out."""
    home = fetch_spark.fetch(version)
    (folder / "events").mkdir(parents=True)
    settings = {**CONF, "spark.executor.extraJavaOptions": java_options(version, compiled, env), "spark.eventLog.dir": (folder / "events").as_uri(),
                "spark.sparkflame.localDir": str(folder / "local"), "spark.local.dir": str(folder / "scratch"),
                **(conf or {})}
    options = [*options, *(part for key, value in settings.items() if value is not None
                           for part in ("--conf", f"{key}={value}"))]
    done = subprocess.run([home / "bin" / "spark-submit", "--master", master, "--jars", PLUGIN, *options, JOBS / job,
                           *map(str, arguments)], cwd=folder, text=True,
                          env=environment(version, pandas, compiled, env), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=LIMIT_SECONDS, check=False)
    done.log = done.stderr + done.stdout
    return done


def started_at(log):
    """The address that a master or worker says in its log."""
    for _ in range(LIMIT_SECONDS * 10):
        found = re.search(r"Starting Spark master at (spark://\S+)|Successfully registered with master (\S+)", log.read_text())
        if found:
            return found[1] or found[2]
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-5000:])


@contextlib.contextmanager
def standalone(version, folder):
    """A master and a worker of two processors, as processes; gives the master's address."""
    home = fetch_spark.fetch(version)
    environ = {**environment(version, False), "SPARK_DAEMON_MEMORY": "128m", "SPARK_DAEMON_JAVA_OPTS": java_options(version), "SPARK_NO_DAEMONIZE": "1"}
    folder.mkdir()

    def start(name, *arguments):
        with open(folder / f"{name}.log", "w") as log:
            return subprocess.Popen([home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", "--host", "localhost",
                                     "--webui-port", "0", *map(str, arguments)], cwd=folder, env=environ,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    processes = [start("master.Master", "--port", 0)]
    try:
        master = started_at(folder / "master.Master.log")
        processes.append(start("worker.Worker", "--cores", 2, "--memory", "2g", "--work-dir", folder / "work", master))
        started_at(folder / "worker.Worker.log")
        yield master
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(LIMIT_SECONDS)


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
