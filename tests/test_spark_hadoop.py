"""The plugin on a standalone cluster and on YARN, with recordings on HDFS."""

import collections
import re
import sys

import pytest

import hadoop
import spark

HEAPS = {"spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": "1",
         "spark.sparkflame.interval": "1s", "spark.scheduler.minRegisteredResourcesRatio": "1",
         "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s"}
# sum(id % 7) of the job's rows
KILLED_SUMS = "sums [59999997]"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with hadoop.running(tmp_path_factory.mktemp("hadoop") / "run") as started:
        yield started


def fetch(cluster, folder, name):
    """The application's folder, as a person would bring it from HDFS."""
    cluster.shell("-get", f"{cluster.uri}/{name}", folder)
    (application,) = (folder / name).iterdir()
    return application


def shipped_numbers(folder):
    """{JVM: its recordings' numbers}"""
    numbers = collections.defaultdict(list)
    for path in sorted(folder.iterdir()):
        found = re.fullmatch(r"(driver|exec-\d+)\.(\d{6})\.jfr", path.name)
        # An executor that is killed while it ships leaves what it had not renamed yet.
        assert found or re.fullmatch(r"\.exec-0\.\d{6}\.jfr\.unfinished", path.name), path
        if found:
            numbers[found[1]].append(int(found[2]))
    return numbers


def folded(sparkflame, *arguments):
    done = sparkflame("convert", "-f", "folded", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_executors_of_a_standalone_cluster_are_killed(cluster, sparkflame, tmp_path):
    """What HDFS and the dead executor's disk have is all of it, and of that the disk has no more than the open interval and
    the one that was on its way. The job ends as it would have."""
    output = f"{cluster.uri}/killed"
    with spark.standalone("3.5", tmp_path / "standalone") as master:
        done = spark.submit("3.5", tmp_path / "run", "killed.py", output, master=master,
                            env={"JAVA_TOOL_OPTIONS": cluster.env["JAVA_TOOL_OPTIONS"]},
                            conf={**HEAPS, "spark.cores.max": "2", "spark.sparkflame.outputDir": output})
    assert done.returncode == 0 and KILLED_SUMS in done.log, done.log[-5000:]
    folder = fetch(cluster, tmp_path, "killed")
    numbers = shipped_numbers(folder)
    left = sorted(path.name for path in (tmp_path / "run" / "local").rglob("*.jfr"))
    assert left and len(left) <= 2 and all(name.startswith("exec-0.") for name in left), left
    numbers["exec-0"] += [int(name.split(".")[1]) for name in left]
    assert {"driver", "exec-0", "exec-1"} <= set(numbers), numbers
    for name, found in numbers.items():
        assert sorted(set(found)) == list(range(1, len(set(found)) + 1)), (name, found)
    for path in folder.glob("exec-0.*.jfr"):
        assert folded(sparkflame, "-e", "wall", path)
    assert "Executor task launch worker" in folded(sparkflame, "-e", "cpu", "--by", "thread", *folder.glob("exec-0.*.jfr"))
    open_one = sparkflame("convert", "-f", "folded", next((tmp_path / "run" / "local").rglob(left[-1])))
    assert open_one.returncode == 0 or b"no samples" in open_one.stderr, open_one.stderr


def test_yarn_in_cluster_mode(cluster, sparkflame, tmp_path):
    """Driver and executors are machines' containers there; one command shows both."""
    home = spark.fetch_spark.fetch("3.5")
    output = f"{cluster.uri}/yarn"
    done = spark.submit("3.5", tmp_path, "on_yarn.py", master="yarn", conf={
        **HEAPS, "spark.submit.deployMode": "cluster", "spark.executor.instances": "1", "spark.local.dir": None,
        "spark.yarn.jars": f"local:{home}/jars/*", "spark.sparkflame.outputDir": output,
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": sys.executable, "spark.executorEnv.PYSPARK_PYTHON": sys.executable},
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
