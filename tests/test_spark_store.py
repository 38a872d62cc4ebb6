"""What becomes of recordings in the output folder while an application runs."""

import collections
import re
import threading

import pytest

import spark
from test_spark_control import wait_for
from test_spark_plugin import jvm_summary, samples


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5")


def recordings_in(folder):
    """{(first, last): file} of those that are not part of another one, as an end of the job during joining may leave them."""
    found = {}
    for path in folder.glob("*.jfr"):
        first, last = re.fullmatch(r"(\d{6})(?:-(\d{6}))?\.jfr", path.name).groups()
        found[int(first), int(last or first)] = path
    return {(a, b): path for (a, b), path in found.items() if not any(c <= a and b <= d and (a, b) != (c, d) for c, d in found)}


def wall_samples(sparkflame, path):
    """Those of one recording; the last interval of a job may be too short for any."""
    done = sparkflame("convert", "-e", "wall", "-f", "folded", path)
    if done.returncode == 2 and b'no samples of event "wall"' in done.stderr:
        return collections.Counter()
    return samples(sparkflame, "-e", "wall", path)


def check_joined(sparkflame, folder):
    """No recording is missing or there twice, and a joined one is a recording to every reader."""
    recordings = recordings_in(folder / "driver")
    numbers = sorted(number for first, last in recordings for number in range(first, last + 1))
    assert numbers == list(range(1, len(numbers) + 1)), recordings
    joined = [path for path in recordings.values() if "-" in path.name]
    assert "jdk.ExecutionSample" in jvm_summary(joined[0])
    every = samples(sparkflame, "-e", "wall", folder)
    each = sum((wall_samples(sparkflame, path) for path in recordings.values()), start=collections.Counter())
    assert every == each and sum(every.values()) > 0
    # As whoever was interrupted leaves it.
    (folder / "driver" / f"{joined[0].name[:6]}.jfr").write_bytes(joined[0].read_bytes()[:4096])
    assert samples(sparkflame, "-e", "wall", folder) == every


def test_recordings_are_joined_while_the_job_runs(sparkflame, tmp_path):
    done = []
    conf = {"spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.sparkflame.interval": "1s", "spark.sparkflame.join": "1s"}
    job = threading.Thread(target=lambda: done.append(spark.submit("3.5", tmp_path / "run", "until_told.py", tmp_path / "told", conf=conf)))
    job.start()
    try:
        wait_for(lambda: done or len(list((tmp_path / "out").glob("*/driver/*-*.jfr"))) > 0)
    finally:
        (tmp_path / "told").touch()
        job.join()
    assert done[0].returncode == 0, done[0].log[-5000:]
    assert not any("cannot be joined" in line for line in spark.said(done[0].log)), spark.said(done[0].log)
    (folder,) = (tmp_path / "out").iterdir()
    check_joined(sparkflame, folder)
