"""sparkflame report RUN --baseline RUNS…: what is slower than the median of earlier runs, and what is noise."""

import json

import pytest

import event_log_writer
import jfr_builder
from event_log_writer import START_MS, operator

STEADY = [1, 1.01, 0.99, 1.005, 0.995]
NOISY = [1, 1.55, 1.2, 0.75, 1.35]
TOOK_MS = {"k": 20_000, "m": 40_000}


def plan(key, name, column):
    """Of a query that counts by a column, with what Spark numbers anew in each run."""
    number = sum(map(ord, name))
    scan = operator("Scan parquet ", f"Scan parquet [{key}#{number}L] Location: InMemoryFileIndex(1 paths)[file:/tmp/{name}/{key}], PushedFilters: []",
                    counters=[("number of output rows", number)])
    return operator("AdaptiveSparkPlan", "AdaptiveSparkPlan isFinalPlan=false",
                    [operator("HashAggregate", f"HashAggregate(keys=[{column}#{number + 1}L], functions=[count(1)])", [scan], [("number of output rows", number + 1)])])


def make_run(path, name, noise=1.0, slow=None, rows=1_000_000, queries=("k", "m"), columns=None, application="nightly", end=True):
    """Two queries of one stage each, in any order, and a count of an RDD; each of four tasks at once."""
    log = event_log_writer.EventLog(name=application, application=f"app-{name}")
    log.executor(0, 4)
    number, at = sum(map(ord, name)), 0
    for stage, key in enumerate([*queries, "rdd"]):
        took = int(TOOK_MS.get(key, 10_000) * noise * (slow or {}).get(key, 1))
        metrics = {"Input Metrics": {"Bytes Read": 100 * rows, "Records Read": rows}}
        info, tasks = log.stage(stage, at, at + took, [(0, at, at + took, metrics)] * 4)
        info["Stage Name"] = "count at job.py:7"
        if key == "rdd":
            log.job(stage, at, at + took, [(info, tasks)])
        else:
            info["Accumulables"] = [{"ID": number + add, "Name": "number of output rows", "Value": rows} for add in (0, 1)]
            log.query(number + stage, at, at + took, plan(key, name, (columns or {}).get(key, key)))
            log.job(stage, at, at + took, [(info, tasks)], **{"spark.sql.execution.id": str(number + stage)})
        at += took
    path.mkdir(parents=True, exist_ok=True)
    written = log.write(path / name, at)
    if not end:
        written.write_text("\n".join(written.read_text().splitlines()[:-1]) + "\n")
    return written


@pytest.fixture
def earlier(tmp_path):
    """Function: runs with this noise each."""
    return lambda noises, **how: [make_run(tmp_path, f"before-{number}", noise, **how) for number, noise in enumerate(noises)]


def compared(sparkflame, run, *baseline):
    done = sparkflame("report", "-f", "json", run, "--baseline", *baseline)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["baseline"]


def verdicts(found):
    """{(kind, ids of the stage, name): verdict} of what changed."""
    return {(item["kind"], item.get("stage"), item["name"]): item["verdict"] for item in found["items"] if item["verdict"] in ("slower", "faster")}


def test_a_slow_query_is_found_though_all_ids_and_the_order_changed(sparkflame, tmp_path, earlier):
    now = make_run(tmp_path, "now", slow={"k": 1.5}, queries=("m", "k"))
    found = compared(sparkflame, now, *earlier(STEADY))
    number = sum(map(ord, "now"))
    assert len(found["runs"]) == 5 and found["runs"][0]["id"] == "app-before-0"
    slower = [(item["kind"], item.get("sql"), item.get("stage")) for item in found["items"] if item["verdict"] == "slower"]
    assert slower == [("query", number + 1, None), ("stage", number + 1, 1)]
    query = next(item for item in found["items"] if item["kind"] == "query" and item["verdict"] == "slower")
    assert query["wall_ms"] == {"now": 30_000, "median": 20_000, "spread": 593, "z": pytest.approx(16.86, abs=0.01), "runs": 5, "verdict": "more"}
    assert query["reason"] == "the same data takes more time of the tasks" and not query["plan_changed"]
    text = sparkflame("report", now, "--baseline", *earlier(STEADY)).stdout.decode()
    assert "Compared with the median of 5 earlier runs\n  application  no clear change: +14 % (70.0 s -> 80.0 s), z 4.8" in text, text
    assert f"  query {number + 1}    slower +50 % (20.0 s -> 30.0 s), z 16.9: a query; the same data takes more time of the tasks\n" in text, text


def test_noise_is_no_change(sparkflame, tmp_path, earlier):
    found = compared(sparkflame, make_run(tmp_path, "now", 1.5), *earlier(NOISY))
    assert verdicts(found) == {} and found["items"][0]["wall_ms"]["now"] > 1.2 * found["items"][0]["wall_ms"]["median"]
    text = sparkflame("report", tmp_path / "now", "--baseline", *earlier(NOISY)).stdout.decode()
    assert "nothing is 10 % slower or faster, and more than the earlier runs differ among each other" in text
    assert set(verdicts(compared(sparkflame, make_run(tmp_path, "now", 1.5), *earlier(STEADY))).values()) == {"slower"}
    assert set(verdicts(compared(sparkflame, make_run(tmp_path, "now", 0.5), *earlier(STEADY))).values()) == {"faster"}


def test_more_data_is_the_reason(sparkflame, tmp_path, earlier):
    found = compared(sparkflame, make_run(tmp_path, "now", 1.4, rows=1_400_000), *earlier(STEADY))
    assert {item["reason"] for item in found["items"] if item["verdict"] == "slower"} == {"it reads and shuffles 40 % more rows"}


def test_one_earlier_run_says_little(sparkflame, tmp_path, earlier):
    assert verdicts(compared(sparkflame, make_run(tmp_path, "now", 1.8), *earlier([1]))) == {}
    assert verdicts(compared(sparkflame, make_run(tmp_path, "now", 1.85), *earlier([1]))) != {}


def test_another_plan_is_said(sparkflame, tmp_path, earlier):
    now = make_run(tmp_path, "now", columns={"m": "other"})
    found = compared(sparkflame, now, *earlier(STEADY))
    changed = [item["sql"] for item in found["items"] if item.get("plan_changed")]
    assert changed == [sum(map(ord, "now")) + 1] and verdicts(found) == {}
    assert "its plan is that of no earlier run: a query" in sparkflame("report", now, "--baseline", *earlier(STEADY)).stdout.decode()
    dates = compared(sparkflame, make_run(tmp_path, "now", columns={"m": "day_20231115"}), *earlier(STEADY, columns={"m": "day_20231114"}))
    assert not [item for item in dates["items"] if item.get("plan_changed")]


def test_a_query_that_is_new(sparkflame, tmp_path, earlier):
    found = compared(sparkflame, make_run(tmp_path, "now", queries=("k", "k", "m")), *earlier(STEADY))
    assert [item["verdict"] for item in found["items"] if item["kind"] == "query"] == ["same", "new", "same"]


def test_a_folder_of_runs(sparkflame, tmp_path, earlier):
    """Those of the application; not the run itself, not one that runs, not another application."""
    earlier(STEADY, application="nightly 2023-11-14")
    now = make_run(tmp_path, "now", application="nightly 2023-11-15")
    make_run(tmp_path, "before-9", end=False, application="nightly 2023-11-14")
    make_run(tmp_path, "other-1", application="hourly")
    done = sparkflame("report", "-f", "json", now, "--baseline", tmp_path)
    assert {run["id"] for run in json.loads(done.stdout)["baseline"]["runs"]} == {f"app-before-{number}" for number in range(5)}
    assert b"the run itself" not in done.stderr and b"the application has not ended" in done.stderr and done.returncode == 0
    done = sparkflame("report", "-f", "json", now, "--baseline", tmp_path / "before-0", now, tmp_path / "other-1")
    assert b"skipped, it is the run itself" in done.stderr and b"the application is called hourly, not nightly 2023-11-15" in done.stderr
    assert done.stderr.count(b"is called") == 1 and len(json.loads(done.stdout)["baseline"]["runs"]) == 2


def test_without_an_earlier_run_it_fails(sparkflame, tmp_path):
    now = make_run(tmp_path, "now")
    done = sparkflame("report", now, "--baseline", now)
    assert done.returncode == 1 and b"there is no earlier run to compare with" in done.stderr and done.stdout == b""
    done = sparkflame("report", now, "--baseline", tmp_path / "missing")
    assert done.returncode == 1 and b"missing" in done.stderr
    assert sparkflame("report", "--baseline", now).returncode == 2


def record(path, counts):
    """A recording of stage 0 with so many samples of each method."""
    types = jfr_builder.standard_metadata()
    chunk = jfr_builder.Chunk(types, start_ns=START_MS * 1_000_000, start_ticks=0, ticks_per_second=1000)
    names = dict(enumerate(counts, start=10))
    chunk.standard_constants(symbols={1: "shop/Job", 2: "", **names}, classes={1: 1}, methods={number: (1, number) for number in names},
                             threads={1: ("Executor task launch worker-0", 1)}, frame_types=jfr_builder.FRAME_TYPES)
    chunk.stacks({number: [(number, 1, 1)] for number in names})
    chunk.add("sparkflame.Labels", 0, 1, jfr_builder.utf8("stage=0;stage_attempt=0;task=1"))
    for number, name in names.items():
        for index in range(counts[name]):
            chunk.add("jdk.ExecutionSample", 1 + index, 1, number, 0)
    path.write_bytes(chunk.bytes())
    return path


def folder_of(tmp_path, name, counts, slow=1.0):
    folder = tmp_path / f"folder-{name}"
    make_run(folder, name, slow={"k": slow})
    record(folder / "driver.000001.jfr", counts)
    return folder


def test_the_method_that_became_slow(sparkflame, tmp_path):
    before = [folder_of(tmp_path, f"before-{number}", {"parse": 500 + 10 * number, "sum": 500}) for number in range(4)]
    found = compared(sparkflame, folder_of(tmp_path, "now", {"parse": 1000, "sum": 500}, slow=1.5), *before)
    assert ("method", 0, "shop/Job.parse") in verdicts(found) and ("method", 0, "shop/Job.sum") not in verdicts(found)
    method = found["items"][-1]
    assert method["kind"] == "method" and method["core_ms"]["now"] == 80_000 and method["core_ms"]["median"] == pytest.approx(40_500, rel=0.01)
    # The same shares of so few samples may be chance.
    before = [folder_of(tmp_path, f"few-{number}", {"parse": 5, "sum": 5}) for number in range(4)]
    found = compared(sparkflame, folder_of(tmp_path, "now", {"parse": 10, "sum": 5}, slow=1.5), *before)
    assert not [key for key in verdicts(found) if key[0] == "method"]
