"""What a recording is labelled with besides its tasks, and what the driver's metrics show of all JVMs."""

import json
import re

import pytest

import spark


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("4")


def by(sparkflame, recordings, label):
    done = sparkflame("convert", "-q", "-e", "wall", "-f", "folded", "--by", label, *recordings)
    assert done.returncode == 0, done.stderr
    return {line.split(";")[0] for line in done.stdout.decode().splitlines()}


def test_groups_labels_and_metrics(sparkflame, tmp_path):
    """The driver itself is not recorded: all it shows, an executor has told it."""
    done = spark.submit("4", tmp_path, "labelled.py", master="local-cluster[1,1,1024]", conf={
        "spark.plugins": None, "spark.plugins.defaultList": "org.sparkflame.SparkflamePlugin", "spark.ui.enabled": "true", "spark.ui.port": "0", "spark.sparkflame.outputDir": (tmp_path / "out").as_uri(),
        "spark.sparkflame.interval": "1s", "spark.sparkflame.control": "1s", "spark.sparkflame.group": "etl",
        "spark.sparkflame.driver.enabled": "false",
        "spark.metrics.conf.*.sink.prometheusServlet.class": "org.apache.spark.metrics.sink.PrometheusServlet",
        "spark.metrics.conf.*.sink.prometheusServlet.path": "/metrics/prometheus"})
    assert done.returncode == 0, done.log[-5000:]
    (found,) = re.findall(r"^metrics (.*)$", done.log, re.M)
    metrics = json.loads(found)
    assert metrics["samples"] > 100 and metrics["shippedObjects"] > 3 and metrics["pythonWorkers"] > 0, metrics
    assert metrics["shippedBytes"] > 1000 and metrics["ownCpuMilliseconds"] > 0 and metrics["droppedRecordings"] == 0, metrics
    (application,) = (tmp_path / "out" / "etl").iterdir()
    recordings = sorted((application / "exec-0").glob("*.jfr"))
    assert len(recordings) >= metrics["shippedObjects"], recordings
    assert by(sparkflame, recordings, "profiling_group") == {"profiling_group etl"}
    assert by(sparkflame, recordings, "application_name") == {"application_name labelled job"}
    assert "description load with password=*********(redacted) from t" in by(sparkflame, recordings, "description")
    assert not any(b"hunter2" in path.read_bytes() for path in recordings)
    page = sparkflame("flame", tmp_path / "out", "-o", tmp_path / "page.html")
    assert page.returncode == 0, page.stderr
