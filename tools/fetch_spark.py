#!/usr/bin/env python3
"""fetch_spark.py VERSION… : unpack PySpark (3.5, 4…) from PyPI into build/spark/VERSION and print each home.

A home has bin, jars and python, as a Spark distribution has. Existing ones are not fetched again. The packages
that pandas functions need go beside them: build/spark/packages. PyPI's Spark 3 has Scala 2.12; VERSION-scala2.13 is the same
with jars from Maven."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

FOLDER = pathlib.Path(os.environ.get("SPARKFLAME_SPARKS",
                                     pathlib.Path(__file__).resolve().parent.parent / "build" / "spark"))
PACKAGES = {"3.3": "3.3.4", "3.4": "3.4.4", "3.5": "3.5.9", "4.0": "4.0.5", "4.1": "4.1.4", "4.2": "4.2.1", "4": "4.3.0"}
SCALA_SUFFIX = "-scala2.13"
# What tests need of a distribution: SQL, the launcher of spark-submit, Hadoop.
JARS = """<project><modelVersion>4.0.0</modelVersion><groupId>jars</groupId><artifactId>jars</artifactId><version>1</version>
<packaging>pom</packaging><dependencies><dependency><groupId>org.apache.spark</groupId><artifactId>spark-sql_2.13</artifactId>
<version>{version}</version></dependency></dependencies></project>
"""
COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
# What pandas and Arrow functions of both import.
PANDAS = ["pandas==2.2.3", "numpy==1.26.4", "pyarrow==18.1.0"]
ATTEMPTS = 3


def run(command, cwd=None):
    """Up to three times: the network is not ours."""
    for _ in range(ATTEMPTS):
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, cwd=cwd)
        if done.returncode == 0:
            return
    raise OSError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")


def unpack(archive, folder):
    """The parts of the source package, put where a distribution has them."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePath(member.name).parts[1:]
            if parts[:1] == ("deps",) and parts[1:2] in (("bin",), ("jars",), ("sbin",)):
                target = folder.joinpath(*parts[1:])
            elif parts[:1] in (("pyspark",), ("lib",)):
                target = folder.joinpath("python", *parts)
            else:
                continue
            if member.isfile():
                target.parent.mkdir(parents=True, exist_ok=True)
                with tar.extractfile(member) as source, open(target, "wb") as copy:
                    shutil.copyfileobj(source, copy)
                target.chmod(0o755 if member.mode & 0o100 else 0o644)


def move(folder, target):
    """Into its place; another process may have been faster."""
    try:
        folder.rename(target)
    except OSError:
        if not target.exists():
            raise


def fetch_scala(version):
    """The home of that Spark with jars of Scala 2.13."""
    home, base = FOLDER / f"{version}{SCALA_SUFFIX}", fetch(version)
    if not home.exists():
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            folder = pathlib.Path(scratch)
            (folder / "pom.xml").write_text(JARS.format(version=PACKAGES[version]), encoding="utf-8")
            made = folder / "home"
            run(["mvn", "-q", "-B", "-f", folder / "pom.xml", COPY_DEPENDENCIES, "-DincludeScope=runtime",
                 f"-DoutputDirectory={made / 'jars'}"])
            for name in ("bin", "sbin", "python"):
                if (base / name).exists():
                    shutil.copytree(base / name, made / name)
            move(made, home)
    return home


def fetch(version):
    """The home of that Spark; OSError if it cannot be fetched."""
    if version.endswith(SCALA_SUFFIX):
        return fetch_scala(version.removesuffix(SCALA_SUFFIX))
    home = FOLDER / version
    if not (home / "jars").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "--dest", scratch,
                 f"pyspark=={PACKAGES[version]}"])
            unpack(next(pathlib.Path(scratch).glob("*.tar.gz")), pathlib.Path(scratch) / "home")
            move(pathlib.Path(scratch) / "home", home)
    return home


def fetch_pandas():
    """A folder for PYTHONPATH with pandas, numpy and pyarrow; OSError if they cannot be fetched."""
    folder = FOLDER / "packages"
    if not folder.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            target = pathlib.Path(scratch) / "packages"
            run([sys.executable, "-m", "pip", "install", "-q", "--target", target, *PANDAS])
            move(target, folder)
    return folder


def python_path(home):
    """What PYTHONPATH needs for `import pyspark`."""
    return os.pathsep.join([str(home / "python"), *map(str, sorted((home / "python" / "lib").glob("py4j-*.zip")))])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pandas", action="store_true", help="pandas, numpy and pyarrow, too")
    parser.add_argument("version", nargs="+", choices=sorted([*PACKAGES, *(name + SCALA_SUFFIX for name in PACKAGES if name < "4")]))
    options = parser.parse_args()
    try:
        for version in options.version:
            print(fetch(version))
        if options.pandas:
            print(fetch_pandas())
    except OSError as error:
        sys.exit(f"fetch_spark.py: {error}")


if __name__ == "__main__":
    main()
