"""The sample application in the jar, which checks a set-up."""

import pytest

import spark
from collector import Collector


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5")


def sample(folder, conf, name="org.sparkflame.SampleApp", **more):
    done = spark.submit("3.5", folder, spark.PLUGIN, options=("--class", name), conf=conf, **more)
    return done, [line.split(maxsplit=2) for line in done.stdout.splitlines()]


def test_all_works_and_nothing_is_on_a_disk_in_plain(sparkflame, binary, tmp_path):
    """Executors and driver, with encryption of local files, for which localDir is no place."""
    with Collector(binary, tmp_path / "data") as collector:
        done, lines = sample(tmp_path, {"spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.io.encryption.enabled": "true",
                                        "spark.sparkflame.collector": f"http://127.0.0.1:{collector.port}"},
                             master="local-cluster[1,1,1024]")
        assert {item["executor"] for item in collector.recordings("default")} == {"driver", "0"}
    assert done.returncode == 0 and "All of it works." in done.stdout, done.log[-5000:]
    assert {line[0] for line in lines} == {"good", "Fetch", "All"}, lines
    assert {"plugin", "keys", "outputDir", "collector", "Spark", "recording", "shipped"} == {line[1] for line in lines if line[0] == "good"}, lines
    assert any("exec-0: " in line[2] for line in lines if line[1] == "shipped"), lines
    waits = [line for line in spark.said(done.log) if "recordings wait in memory, in " in line]
    assert waits and not (tmp_path / "local").exists(), done.log[-5000:]
    flame = sparkflame("convert", "-q", "-e", "cpu", "-f", "folded", tmp_path / "out")
    assert flame.returncode == 0 and b"SampleApp.work" in flame.stdout.replace(b"/", b"."), flame


def test_what_does_not_work_is_named(tmp_path):
    """Under the name of CodeGuru's."""
    (tmp_path / "file").write_text("")
    done, lines = sample(tmp_path / "a", {"spark.sparkflame.outputDir": (tmp_path / "file" / "out").as_uri(), "spark.sparkflame.inteval": "1s",
                                          "spark.sparkflame.collector": "http://127.0.0.1:1"},
                         name="software.amazon.profiler.SampleSparkApp")
    assert done.returncode == 1 and "3 problems." in done.stdout, done.log[-5000:]
    bad = {line[1]: line[2] for line in lines if line[0] == "bad"}
    assert set(bad) == {"keys", "outputDir", "collector"} and "inteval is not a key" in bad["keys"], lines
    assert any(line[:2] == ["good", "recording"] for line in lines), lines
    done, lines = sample(tmp_path / "b", {"spark.plugins": None})
    assert done.returncode == 1 and lines[0][:2] == ["bad", "plugin"] and "→ --conf spark.plugins=" in done.stdout, done.log[-5000:]
