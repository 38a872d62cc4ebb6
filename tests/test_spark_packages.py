"""Spark jobs with the packages as their users have them."""

import pytest

import packages
import spark
from packages import VERSION


@pytest.fixture(scope="module")
def made(binary, tmp_path_factory):
    spark.prepare("3.5", "4")
    return packages.make(binary.parent, tmp_path_factory.mktemp("made") / "packages")


def check_recordings(sparkflame, folder, jvms):
    """Each of the JVMs left one that can be read."""
    recordings = sorted(folder.rglob("*.jfr"))
    assert {path.parent.name for path in recordings} == jvms
    assert sparkflame("convert", "-q", *recordings).returncode == 0


def test_maven_coordinates(made, sparkflame, tmp_path):
    """Driver and executor have the plugin by its coordinates alone."""
    home = spark.fetch_spark.fetch("3.5")
    conf = {"spark.plugins": "org.sparkflame.SparkflamePlugin", "spark.jars.ivy": tmp_path / "ivy",
            "spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.ui.enabled": "false",
            "spark.local.dir": tmp_path / "scratch"}
    done = packages.run(home / "bin" / "spark-submit", "--master", "local-cluster[1,1,1024]",
                        "--packages", f"org.sparkflame:sparkflame-plugin:{VERSION}",
                        "--repositories", (made / "maven").as_uri(),
                        *(part for key, value in conf.items() for part in ("--conf", f"{key}={value}")),
                        spark.JOBS / "small.py", cwd=tmp_path, env=spark.environment("3.5", False))
    assert "sum 499500" in done.stdout
    check_recordings(sparkflame, tmp_path / "out", {"driver", "exec-0"})


def test_wheel(made, sparkflame, tmp_path):
    """`python3 job.py` with the wheel and PySpark installed."""
    venv = packages.install_wheel(made, tmp_path / "venv")
    environ = {**spark.environment("4", False), "PYSPARK_PYTHON": str(venv / "bin" / "python3"), "SPARK_LOCAL_DIRS": str(tmp_path)}
    done = packages.run(venv / "bin" / "python3", spark.JOBS / "with_wheel.py", tmp_path / "out", cwd=tmp_path, env=environ)
    assert "sum 499500" in done.stdout
    assert "profilers True" in done.stdout
    check_recordings(sparkflame, tmp_path / "out", {"driver"})
