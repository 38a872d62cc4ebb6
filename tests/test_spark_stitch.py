"""One graph of Java and Python: the stitched stacks of a job whose shares are known."""

import itertools
import json
import math

import pytest

import spark
from measuring import mostly

FUNCTIONS = ["burn_work", "burn_pack", "rest"]


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5", "4")


def folded(sparkflame, event, recordings, *options):
    """[(frames, samples)]"""
    done = sparkflame("convert", "-q", "-e", event, "--bare-names", "-f", "folded", *options, *recordings)
    assert done.returncode == 0, done.stderr
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in done.stdout.decode().splitlines()]


def total(stacks):
    return sum(count for _, count in stacks)


def is_python(frames):
    return "_run_module_as_main" in frames


def measured(stacks):
    """Samples of each Python function, of the rest of Python, and of Java, as far as the task's own thread goes."""
    counts = dict.fromkeys([*FUNCTIONS, "python", "java"], 0)
    for frames, count in stacks:
        if "org/apache/spark/executor/Executor$TaskRunner.run" in frames:
            name = next((name for name in FUNCTIONS if name in frames), "python" if is_python(frames) else "java")
            counts[name] += count
    return counts


def truth(folder):
    """Seconds of the processor and of the clock: of Python as the job measured it, of Java as Spark did."""
    tasks = spark.finished_tasks(folder)
    cpu, wall = (dict.fromkeys([*FUNCTIONS, "java"], 0) for _ in range(2))
    stage = None
    for path in (folder / "truth").glob("*.json"):
        took = json.loads(path.read_text())
        stage = took["stage"]
        metrics = tasks[int(path.stem)][1]
        for name in FUNCTIONS:
            cpu[name] += took[name][0]
            wall[name] += took[name][1]
        cpu["java"] += (metrics["Executor CPU Time"] + metrics["Executor Deserialize CPU Time"]) / 1e9
        spark_seconds = (metrics["Executor Run Time"] + metrics["Executor Deserialize Time"]) / 1e3
        wall["java"] += spark_seconds - sum(took[name][1] for name in FUNCTIONS)
    return stage, cpu, wall


def wrong_shares(counts, seconds):
    """None when the shares are right but for two points, and three times what chance does; else which is not."""
    all_counts, all_seconds = sum(counts[name] for name in seconds), sum(seconds.values())
    for name in seconds:
        share, expected = counts[name] / all_counts, seconds[name] / all_seconds
        chance = math.sqrt(expected * (1 - expected) / all_counts)
        if abs(share - expected) > 0.02 + 3 * chance:
            return f"{name}: {share:.3f} of {all_counts} samples, not {expected:.3f}"
    return None


def check_job(version, sparkflame, folder):
    done = spark.submit(version, folder, "known_shares.py", folder / "truth", master="local-cluster[2,1,1024]",
                        conf={"spark.sparkflame.outputDir": (folder / "out").as_uri(),
                              "spark.sparkflame.args": "event=cpu,interval=10ms,wall=20ms"})
    assert done.returncode == 0, done.log[-5000:]
    stage, cpu_seconds, wall_seconds = truth(folder)
    recordings = list((folder / "out").iterdir())
    plain, cpu = (folded(sparkflame, "cpu", recordings, "--stage", stage, *options) for options in ([], ["--stitch"]))
    assert total(plain) == total(cpu)
    assert sum(count for frames, count in cpu if is_python(frames[:1])) <= 0.01 * total(cpu), cpu
    wrong = wrong_shares(measured(cpu), {name: seconds for name, seconds in cpu_seconds.items() if name != "rest"})
    plain, wall = (folded(sparkflame, "wall", recordings, "--stage", stage, *options) for options in ([], ["--stitch"]))
    assert total(wall) == sum(count for frames, count in plain if not is_python(frames[:1]))
    counts = measured(wall)
    counts["java"] += counts.pop("python")
    return wrong or wrong_shares(counts, wall_seconds)


@pytest.mark.parametrize("version", ["3.5", "4"])
def test_a_job_of_known_shares(version, sparkflame, tmp_path):
    """On a machine that is short of processors, clocks and samples may part."""
    folders = (tmp_path / str(run) for run in itertools.count())
    mostly(lambda: check_job(version, sparkflame, next(folders)))
