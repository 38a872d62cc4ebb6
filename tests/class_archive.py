#!/usr/bin/env python3
"""class_archive.py VERSION… : archives of the classes that Spark's JVMs load (class data sharing). With them a JVM starts in half of the CPU time.

One is made by a run of spark_jobs/load_classes.py, once for each Java and Spark. It is used by the JVMs whose class path begins with that of
the run; others ignore it."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

import jvm

FOLDER = jvm.ROOT / "build" / "archives"
LIMIT_SECONDS = 900


def archive_path(home):
    """Its name changes with what a JVM compares before it uses an archive."""
    facts = [(jvm.system_home() / "release").read_text(), str(home), *os.listdir(home / "jars")]
    return FOLDER / f"{home.name}-{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:16]}.jsa"


@contextlib.contextmanager
def locked():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(home, path, environment):
    """Into the path by renaming, so that no JVM sees a part of it."""
    with tempfile.TemporaryDirectory() as folder:
        options = f"{' '.join(jvm.QUICK)} -XX:ArchiveClassesAtExit={path}.new -Xlog:cds=off -Xlog:cds+dynamic=off"
        done = subprocess.run([home / "bin" / "spark-submit", "--master", "local[2]", "--conf", f"spark.driver.extraJavaOptions={options}",
                               "--conf", "spark.ui.enabled=false", "--conf", f"spark.local.dir={folder}",
                               jvm.TESTS / "spark_jobs" / "load_classes.py"], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
    new = pathlib.Path(f"{path}.new")
    if done.returncode == 0 and new.exists():
        new.rename(path)
    else:
        print(f"no archive of the classes of {home}: tests take longer\n{done.stdout[-3000:]}", file=sys.stderr)


def find(home, environment):
    """The archive for this Spark, made if it is missing; None when that fails or another Java than the machine's runs it."""
    if pathlib.Path(environment["JAVA_HOME"]) != jvm.system_home():
        return None
    path = archive_path(home)
    if not path.exists():
        with locked():
            if not path.exists():
                make(home, path, environment)
    return path if path.exists() else None


if __name__ == "__main__":
    import spark
    for version in sys.argv[1:]:
        spark.java_options(version)
