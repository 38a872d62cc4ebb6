"""The PySpark profilers, in real Spark: what they leave is what our readers read."""

import json
import pathlib
import re

import pytest

import spark

PACKAGE = pathlib.Path(spark.PLUGIN).parent / "pyspark_profilers.zip"


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5", "4")


def run(tmp_path, monkeypatch, version):
    """{profiler: {file name: records}} that the job left, and what it printed."""
    monkeypatch.setenv("profile_interval", "0.02")
    done = spark.submit(version, tmp_path / "run", "profiled.py", tmp_path / "profiles",
                        conf={"spark.submit.pyFiles": str(PACKAGE), "spark.plugins": None})
    assert done.returncode == 0 and "result [64, 0] [0] [0]" in done.log, done.log[-5000:]
    return {folder.name: {path.name: [json.loads(line) for line in path.read_text().splitlines()]
                          for path in folder.iterdir()} for folder in (tmp_path / "profiles").iterdir()}, done.log


def check_stacks(sparkflame, path):
    folded = sparkflame("convert", "--bare-names", "-f", "folded", path)
    assert folded.returncode == 0, folded.stderr
    counts = {}
    for line in folded.stdout.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        counts[stack.rsplit(";", 1)[1]] = counts.get(stack.rsplit(";", 1)[1], 0) + int(count)
    assert counts["work"] > 4 and counts["rest"] > 4 and "pyspark_profilers" not in path.read_text(), counts


def check_memory(sparkflame, paths):
    read = sparkflame("metrics", "-f", "json", *paths)
    assert read.returncode == 0, read.stderr
    found = {}
    for series in json.loads(read.stdout)["metrics"]:
        found.setdefault(series["process"], {})[series["metric"]] = [value for _, value in series["points"]]
    busy, idle = sorted(found.values(), key=lambda one: -max(one["rss"]))
    assert max(busy["rss"]) - min(busy["rss"]) > 60 << 20 > max(idle["rss"]) - min(idle["rss"])
    assert sum(busy["process_cpu"]) / len(busy["process_cpu"]) > 2 * sum(idle["process_cpu"]) / len(idle["process_cpu"])
    assert busy["page_faults"][-1] > idle["page_faults"][-1] and min(idle["virtual"]) > min(idle["rss"])


@pytest.mark.parametrize("version", ["3.5", "4"])
def test_stacks_and_memory(sparkflame, tmp_path, monkeypatch, version):
    profiles, log = run(tmp_path, monkeypatch, version)
    files, folder = profiles["cpumemstack"], tmp_path / "profiles" / "cpumemstack"
    stack_files = [name for name in files if re.fullmatch(r"s_\d+_stack\.json", name)]
    memory_files = [name for name in files if re.fullmatch(r"s_\d+_\d+_cpumem\.json", name)]
    assert len(stack_files) == 1 and len(memory_files) == 2 and len(files) == 3, files.keys()
    check_stacks(sparkflame, folder / stack_files[0])
    check_memory(sparkflame, [folder / name for name in memory_files])
    assert "Profile of RDD<id=" in log and all(json.dumps(record) in log for record in files[stack_files[0]])
    for name in ("stack", "cpumem"):
        assert [file.endswith(f"_{name}.json") for file, records in profiles[name].items() if records] == [True]
