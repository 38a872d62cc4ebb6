"""The what-if part of reports: the simulation predicts the run that it was made from, and runs whose times follow by hand."""

import json
import pathlib

import pytest

import event_log_writer

TESTS = pathlib.Path(__file__).resolve().parent
RECORDED = sorted([*(TESTS / "data" / "advice").iterdir(), TESTS / "data" / "event_log" / "single", *(TESTS / "data" / "plans").glob("*.gz"),
                   *(TESTS / "data" / "healthy").glob("*.gz"), *(TESTS / "data" / "what_if").glob("*.gz")])


def what_if(sparkflame, path):
    run = sparkflame("report", "-f", "json", path)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout).get("what_if")


def took(points, key):
    return {point[key]: point["ms"] for point in points}


@pytest.mark.parametrize("job", RECORDED, ids=lambda job: job.name)
def test_a_run_predicts_itself(sparkflame, job):
    found = what_if(sparkflame, job)
    assert found["is_reliable"] and abs(found["error"]) <= 0.03, found
    assert found["predicted_ms"] == pytest.approx(found["actual_ms"] * (1 + found["error"]), rel=1e-3)
    (own,) = [point for point in found["by_executors"] + found["by_cores"]
              if (point["executors"], point["cores"]) == (found["executors"], found["cores"])][:1]
    assert own["ms"] == pytest.approx(found["actual_ms"], rel=0.1)
    assert found["critical_ms"] <= found["predicted_ms"] and found["driver_ms"] <= found["actual_ms"]
    path = found["critical_path"]
    assert sum(step["ms"] + step["wait_ms"] for step in path) <= found["critical_ms"] + 1
    for points in (found["by_executors"], found["by_cores"]):
        assert all(later["ms"] <= 1.02 * earlier["ms"] for earlier, later in zip(points, points[1:]))


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_runs_with_other_numbers_of_cores_are_predicted(sparkflame, data, cores):
    """A job whose tasks wait for known times (tests/spark_jobs/waits.py), so that they do not slow each other down, really run with 1, 2 and 4 cores,
    all at the same time on one machine with forty times as much to do as processors: a good part of these times is the start of Spark, which
    is the same in all. From the first job on, the run with one core is not predicted as well as that: its driver got less of the
    machine."""
    whole = {other: what_if(sparkflame, data / "what_if" / f"cores_{other}.gz") for other in (1, 2, 4)}
    predicted = took(whole[cores]["by_cores"], "cores")
    for other, found in whole.items():
        assert predicted[other] == pytest.approx(found["actual_ms"], rel=0.15), (cores, other)
    assert whole[1]["actual_ms"] - whole[2]["actual_ms"] > 100_000 and whole[2]["actual_ms"] - whole[4]["actual_ms"] > 40_000


@pytest.fixture
def even(tmp_path):
    """Eight tasks of 10 s on two executors of two cores, then one of 5 s that reads them; a second of the driver's around each."""
    log = event_log_writer.EventLog()
    for number in (0, 1):
        log.executor(number, 2)
    first = log.stage(0, 1000, 21_000, [(index % 4 // 2, 1000 + index // 4 * 10_000, 11_000 + index // 4 * 10_000) for index in range(8)])
    second = log.stage(1, 22_000, 27_000, [(0, 22_000, 27_000)], [0])
    log.job(0, 1000, 27_000, [first, second])
    return log.write(tmp_path / "even", 28_000)


def test_times_by_executors_and_cores(sparkflame, even):
    found = what_if(sparkflame, even)
    assert (found["error"], found["executors"], found["cores"], found["predicted_ms"]) == (0, 2, 2, 28_000)
    assert took(found["by_executors"], "executors") == {1: 48_000, 2: 28_000, 3: 28_000, 4: 18_000, 6: 18_000, 8: 18_000}
    assert took(found["by_cores"], "cores")[1] == 48_000
    assert {point["executors"]: point["core_ms"] for point in found["by_executors"]}[4] == 18_000 * 8
    assert (found["driver_ms"], found["critical_ms"]) == (3000, 18_000)
    assert found["ideal_ms"] == 3000 + (80_000 + 5000) // 4
    assert [(step["stage"], step["wait_ms"], step["ms"]) for step in found["critical_path"]] == [(0, 1000, 10_000), (1, 1000, 5000)]
    text = sparkflame("report", even).stdout.decode()
    assert "What if (a simulation of this run takes 28.0 s: error +0.0 %)" in text
    assert text.count("  as it ran") == 1


def test_a_slow_task_stays_slow(sparkflame, tmp_path):
    log = event_log_writer.EventLog()
    log.executor(0, 2)
    log.job(0, 0, 40_000, [log.stage(0, 0, 40_000, [(0, 0, 40_000), *((0, 10_000 * index, 10_000 * index + 10_000) for index in range(4))])])
    found = what_if(sparkflame, log.write(tmp_path / "skew", 40_000))
    assert set(took(found["by_cores"], "cores").values()) == {80_000, 40_000} and found["critical_ms"] == 40_000


def test_jobs_at_once_share_the_cores(sparkflame, tmp_path):
    """Two jobs submitted together on two cores, a task of 10 s each; one core would run one after the other."""
    log = event_log_writer.EventLog()
    log.executor(0, 2)
    for number in (0, 1):
        log.job(number, 0, 10_000, [log.stage(number, 0, 10_000, [(0, 0, 10_000)])])
    found = what_if(sparkflame, log.write(tmp_path / "parallel", 10_000))
    assert took(found["by_cores"], "cores")[1] == 20_000 and found["predicted_ms"] == found["critical_ms"] == 10_000


def test_tasks_of_two_cores(sparkflame, tmp_path):
    log = event_log_writer.EventLog(properties={"spark.task.cpus": "2"})
    log.executor(0, 4)
    log.job(0, 0, 20_000, [log.stage(0, 0, 20_000, [(0, 10_000 * (index // 2), 10_000 * (index // 2) + 10_000) for index in range(4)])])
    found = what_if(sparkflame, log.write(tmp_path / "wide", 20_000))
    assert took(found["by_cores"], "cores") == {2: 40_000, 4: 20_000, 6: 20_000, 8: 10_000, 12: 10_000, 16: 10_000}


def test_a_model_that_does_not_fit_predicts_nothing(sparkflame, tmp_path):
    """Four tasks of 10 s seem to have run at once on one core."""
    log = event_log_writer.EventLog()
    log.executor(0, 1)
    log.job(0, 0, 10_000, [log.stage(0, 0, 10_000, [(0, 0, 10_000)] * 4)])
    found = what_if(sparkflame, log.write(tmp_path / "odd", 10_000))
    assert found["error"] == 3 and not found["is_reliable"] and "by_executors" not in found
    assert "too large to predict" in sparkflame("report", tmp_path / "odd").stdout.decode()


def test_the_usual_executor_counts(sparkflame, tmp_path):
    """The first one has a core, the two others four each."""
    log = event_log_writer.EventLog()
    for number, cores in ((0, 1), (1, 4), (2, 4)):
        log.executor(number, cores)
    log.job(0, 0, 10_000, [log.stage(0, 0, 10_000, [(index // 4 + 1 if index < 8 else 0, 0, 10_000) for index in range(9)])])
    found = what_if(sparkflame, log.write(tmp_path / "mixed", 10_000))
    assert (found["executors"], found["cores"], found["error"]) == (2, 4, 0)


def test_an_absurd_number_of_cores_is_no_prediction_by_executors(sparkflame, tmp_path):
    """Two executors of one core and one of a million, which would be as many executors of one core."""
    log = event_log_writer.EventLog()
    for number, cores in ((0, 1), (1, 1), (2, 2**62)):
        log.executor(number, cores)
    log.job(0, 0, 10_000, [log.stage(0, 0, 10_000, [(0, 0, 10_000)])])
    found = what_if(sparkflame, log.write(tmp_path / "absurd", 10_000))
    assert found["executors"] == 1_000_002 and found["by_executors"] == found["by_cores"] == []


def test_executors_that_start_after_the_end_cost_nothing(sparkflame, tmp_path):
    """Six tasks of 10 s on one core; a second executor comes after 55 s. With four cores each, all is done after 20 s."""
    log = event_log_writer.EventLog()
    log.executor(0, 1)
    log.executor(1, 1, added=55_000)
    log.job(0, 0, 60_000, [log.stage(0, 0, 60_000, [(0, 10_000 * index, 10_000 * index + 10_000) for index in range(6)])])
    found = what_if(sparkflame, log.write(tmp_path / "late", 60_000))
    assert {point["cores"]: (point["ms"], point["core_ms"]) for point in found["by_cores"]}[4] == (20_000, 80_000)


def test_an_executor_that_replaced_another_is_not_one_more(sparkflame, tmp_path):
    """One executor of a core for 30 s, another for the next 30 s: two would both be there from the start."""
    log = event_log_writer.EventLog()
    log.executor(0, 1)
    log.executor(1, 1, added=30_000)
    log.executor_removed(0, 30_000)
    log.job(0, 0, 60_000, [log.stage(0, 0, 60_000, [(index // 3, 10_000 * index, 10_000 * index + 10_000) for index in range(6)])])
    found = what_if(sparkflame, log.write(tmp_path / "replaced", 60_000))
    assert (found["executors"], found["error"]) == (1, 0)
    assert took(found["by_executors"], "executors")[2] == 30_000


def test_a_job_does_not_wait_for_one_that_runs(sparkflame, tmp_path):
    """The second job reads what a stage of the first computed, which goes on with another stage."""
    log = event_log_writer.EventLog()
    log.executor(0, 2)
    log.job(0, 0, 40_000, [log.stage(0, 0, 10_000, [(0, 0, 10_000)]), log.stage(1, 10_000, 40_000, [(0, 10_000, 40_000)], [0])])
    log.job(1, 10_000, 20_000, [log.stage(2, 10_000, 20_000, [(0, 10_000, 20_000)], [0])])
    assert what_if(sparkflame, log.write(tmp_path / "both", 40_000))["error"] == 0


def test_without_executors_nothing_is_predicted(sparkflame, tmp_path):
    log = event_log_writer.EventLog()
    log.job(0, 0, 10, [log.stage(0, 0, 10, [(0, 0, 10)])])
    assert what_if(sparkflame, log.write(tmp_path / "log", 10)) is None


def test_cost(sparkflame, even):
    """Two executors of two cores and 1.375 GiB (1 GiB and 384 MiB of overhead) for 28 s."""
    run = sparkflame("report", "-f", "json", "--price-core-hour", "36", "--price-gb-hour", "3.6", even)
    whole = json.loads(run.stdout)
    cost = whole["cost"]
    assert cost["core_hours"] == pytest.approx(112 / 3600, abs=1e-6) and cost["gib_hours"] == pytest.approx(2 * 28 * 1.375 / 3600, abs=1e-6)
    total = 112 / 100 + 2 * 28 * 1.375 / 1000
    assert cost["total"] == pytest.approx(total, abs=1e-5)
    assert sum(part["cost"] for part in cost["parts"]) == pytest.approx(total, rel=0.01)
    assert cost["idle"] == pytest.approx(total * (112 - 85) / 112, abs=1e-4)
    assert {stage["stage"]: stage["cost"] for stage in cost["stages"]} == pytest.approx({0: total * 80 / 112, 1: total * 5 / 112}, abs=1e-4)
    assert all(item["saved_cost"] == pytest.approx(item["saved_core_ms"] * total / 112_000, abs=1e-4) for item in whole["advice"])
    assert "Cost 1.20: 0.03 core hours, 0.02 GiB hours" in sparkflame("report", "--price-core-hour", "36", "--price-gb-hour", "3.6", even).stdout.decode()
    assert "cost" not in json.loads(sparkflame("report", "-f", "json", even).stdout)
    assert sparkflame("report", "--price-core-hour", "-1", even).returncode == 2
