#!/usr/bin/env python3
"""fetch_jars.py SET… : bring these sets of jars from Maven into build/jars/SET and print each folder.

hadoop: HDFS and YARN in one process, beside the jars of Spark 3.5; torture: other agents for a JVM. Existing ones are not
fetched again."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from fetch_spark import move, run

FOLDER = pathlib.Path(os.environ.get("SPARKFLAME_JARS",
                                     pathlib.Path(__file__).resolve().parent.parent / "build" / "jars"))
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
# The version of Spark 3.5's hadoop-client; the rest is what the cluster calls and its jar does not have.
SETS = {"hadoop": ["org.apache.hadoop:hadoop-client-minicluster:3.3.4", "junit:junit:4.13.2",
                   "org.bouncycastle:bcprov-jdk15on:1.68", "org.bouncycastle:bcpkix-jdk15on:1.68"],
        "torture": ["tools.profiler:async-profiler:4.5", "io.opentelemetry.javaagent:opentelemetry-javaagent:2.20.1"]}


def copy(artifact, folder):
    """Offline if everything is there."""
    command = ["mvn", "-q", "-B", COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    done = subprocess.run([*command, "-o"], stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=folder)
    if done.returncode != 0:
        run(command, cwd=folder)


def fetch(name):
    """The folder of that set; OSError if it cannot be fetched."""
    target = FOLDER / name
    if not target.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            folder = pathlib.Path(scratch) / "jars"
            folder.mkdir()
            for artifact in SETS[name]:
                copy(artifact, folder)
            move(folder, target)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="+", choices=sorted(SETS))
    try:
        for name in parser.parse_args().set:
            print(fetch(name))
    except OSError as error:
        sys.exit(f"fetch_jars.py: {error}")


if __name__ == "__main__":
    main()
