"""The plugin on a standalone cluster and on YARN, with recordings on HDFS."""

import collections
import re
import sys

import pytest

import hadoop
import jvm
import spark

HEAPS = {"spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": "1",
         "spark.sparkflame.interval": "1s", "spark.sparkflame.shutdownTimeout": "60s",
         "spark.scheduler.minRegisteredResourcesRatio": "1",
         "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s"}
# sum(id % 7) of the job's rows
KILLED_SUMS = "sums [59999997]"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with hadoop.running(tmp_path_factory.mktemp("hadoop") / "run") as started:
        yield started


def fetch(cluster, folder, name):
    """The application's folder, fetched from HDFS."""
    cluster.shell("-get", f"{cluster.uri}/{name}", folder)
    (application,) = (folder / name).iterdir()
    return application


def shipped_numbers(folder):
    """{JVM: its recordings' numbers}"""
    numbers = collections.defaultdict(list)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        found = re.fullmatch(r"(driver|exec-\d+)/(\d{6})\.jfr", name)
        # An executor that is killed while it ships leaves what it had not renamed yet.
        assert found or re.fullmatch(r"exec-0/\.\d{6}\.jfr\.unfinished", name), path
        if found:
            numbers[found[1]].append(int(found[2]))
    return numbers


def folded(sparkflame, *arguments):
    done = sparkflame("convert", "-f", "folded", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_executors_of_a_standalone_cluster_are_killed(cluster, sparkflame, tmp_path):
    """What the dead executor had not shipped, up to the open interval, another JVM of that machine has shipped. The job ends as
    it would have."""
    output = f"{cluster.uri}/killed"
    with spark.standalone("3.5", tmp_path / "standalone") as master:
        done = spark.submit("3.5", tmp_path / "run", "killed.py", output, master=master,
                            env={"JAVA_TOOL_OPTIONS": cluster.env["JAVA_TOOL_OPTIONS"]},
                            conf={**HEAPS, "spark.cores.max": "2", "spark.sparkflame.outputDir": output})
    assert done.returncode == 0 and KILLED_SUMS in done.log, done.log[-5000:]
    folder = fetch(cluster, tmp_path, "killed")
    numbers = shipped_numbers(folder)
    assert not list((tmp_path / "run" / "local").rglob("*.*"))
    assert {"driver", "exec-0", "exec-1"} <= set(numbers), numbers
    for name, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), (name, found)
    *whole, open_one = sorted(folder.glob("exec-0/*.jfr"))
    for path in whole:
        assert folded(sparkflame, "-e", "wall", path)
    assert "Executor task launch worker" in folded(sparkflame, "-e", "cpu", "--by", "thread", *folder.glob("exec-0/*.jfr"))
    done = sparkflame("convert", "-f", "folded", open_one)
    assert done.returncode == 0 or b"no samples" in done.stderr, done.stderr


def test_yarn_in_cluster_mode(cluster, sparkflame, tmp_path):
    """Driver and executors are machines' containers there; one command shows both."""
    home = spark.fetch_spark.fetch("3.5")
    output = f"{cluster.uri}/yarn"
    done = spark.submit("3.5", tmp_path, "on_yarn.py", master="yarn", conf={
        **HEAPS, "spark.submit.deployMode": "cluster", "spark.executor.instances": "1", "spark.local.dir": None,
        "spark.yarn.jars": f"local:{home}/jars/*", "spark.sparkflame.outputDir": output,
        "spark.driver.extraJavaOptions": " ".join(jvm.QUICK), "spark.yarn.appMasterEnv.PYSPARK_PYTHON": sys.executable, "spark.executorEnv.PYSPARK_PYTHON": sys.executable},
        env={"HADOOP_CONF_DIR": str(cluster.conf), "JAVA_TOOL_OPTIONS": cluster.env["JAVA_TOOL_OPTIONS"]})
    assert done.returncode == 0, done.log[-5000:]
    folder = fetch(cluster, tmp_path, "yarn")
    assert re.fullmatch(r"application_\d+_\d+_1", folder.name), folder
    assert {"driver", "exec-1"} == set(shipped_numbers(folder))
    assert not list((tmp_path / "local").rglob("*.jfr"))
    page = sparkflame("flame", folder, "-o", tmp_path / "page.html")
    assert page.returncode == 0, page.stderr
    stacks = folded(sparkflame, "-e", "wall", folder)
    assert "org/apache/spark/deploy/yarn/ApplicationMaster" in stacks
    assert "burn_python" in folded(sparkflame, "-e", "cpu", "--by", "task", "--task", "1", folder)
