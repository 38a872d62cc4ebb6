"""sparkflame report A --against B: stages of two runs side by side."""

import json

import pytest


@pytest.fixture
def other(data, tmp_path):
    """The same run with a moved line, a renamed stage, and twice the CPU time everywhere."""
    lines = []
    for line in (data / "event_log" / "single").read_text().splitlines():
        line = line.replace("count at /job/make_event_log.py:43", "count at /job/make_event_log.py:143")
        event = json.loads(line.replace("reduceByKey at /job", "groupByKey at /job"))
        if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            event["Task Metrics"]["Executor CPU Time"] *= 2
        lines.append(json.dumps(event, separators=(",", ":")))
    (tmp_path / "other").write_text("\n".join(lines) + "\n")
    return tmp_path / "other"


def test_pairs_of_stages(sparkflame, data, other):
    run = sparkflame("report", "-f", "json", data / "event_log" / "single", "--against", other)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    pairs = {(row["stage"], row["against_stage"]): row for row in found["comparison"]}
    assert list(pairs) == [(0, None), (1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (7, 7), (None, 0)]
    assert pairs[None, 0]["name"] == "groupByKey at /job/make_event_log.py:42" and pairs[None, 0]["after"] is None
    assert pairs[2, 2]["before"]["cpu_ns"] == 2 * pairs[2, 2]["after"]["cpu_ns"] > 0
    assert pairs[2, 2]["before"]["took_ms"] == pairs[2, 2]["after"]["took_ms"] > 0
    assert found["against"]["id"] == found["application"]["id"]


def test_text(sparkflame, data, other):
    text = sparkflame("report", data / "event_log" / "single", "--against", other).stdout.decode()
    part = text.split("Compared with event log of a test")[1].split("\n\n")[0]
    assert "2.0 -> 2.0" in part and "+0 %" in part and "0.0 -> - " in part and "- -> 0.0" in part


def test_the_other_run_must_be_one(sparkflame, data, tmp_path):
    run = sparkflame("report", data / "event_log" / "single", "--against", tmp_path / "missing")
    assert run.returncode == 1 and b"missing" in run.stderr and run.stdout == b""


def test_without_it_nothing_is_compared(sparkflame, data):
    found = json.loads(sparkflame("report", "-f", "json", data / "event_log" / "single").stdout)
    assert "comparison" not in found and "against" not in found
