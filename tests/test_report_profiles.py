"""sparkflame report with profiles: what the samples of each stage show (tests/make_report_profile.py)."""

import base64
import collections
import json
import re
import zlib

import pytest


@pytest.fixture(scope="module")
def inputs(data):
    return [data / "event_log" / "single", data / "report" / "driver.000001.jfr"]


def report(sparkflame, *paths):
    run = sparkflame("report", "-f", "json", *paths)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_methods_of_stages(sparkflame, inputs):
    methods = {(one["stage"], one["attempt"]): one for one in report(sparkflame, *inputs)["methods"]}
    assert set(methods) == {(stage, 0) for stage in (0, 1, 2, 3, 4, 6, 7)}
    assert methods[2, 0]["event"] == "cpu" and methods[2, 0]["samples"] == 70
    assert methods[2, 0]["top"] == [{"method": "org/example/Job.work", "self": 40, "total": 70},
                                    {"method": "futex_wait", "self": 30, "total": 30}]
    assert [row["method"] for row in methods[4, 0]["top"]] == ["worker.py.parse"]


def test_methods_in_the_text(sparkflame, inputs):
    run = sparkflame("report", *inputs)
    assert run.returncode == 0
    part = run.stdout.decode().split("Top methods by stage (cpu)")[1]
    assert re.search(r"stage 2\.0, 70 samples\n +57\.1 % self 100\.0 % total  org/example/Job\.work\n +42\.9 % self", part)


def test_a_profile_alone(sparkflame, inputs):
    found = report(sparkflame, inputs[1])
    assert found["tasks"] == [] and len(found["methods"]) == 7


def test_folded_stacks_have_no_stage(sparkflame, inputs, tmp_path):
    (tmp_path / "a.folded").write_text("main;work 3\nmain;rest 4\n")
    assert "methods" not in report(sparkflame, inputs[0], tmp_path / "a.folded")


def innermost_operators(sparkflame, profile, stage):
    """Samples of a stage by the innermost frame of generated code: its class's number and the first word of its method."""
    found = collections.Counter()
    run = sparkflame("convert", profile, "-f", "folded", "-e", "cpu", "--stage", stage)
    for line in run.stdout.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        frames = re.findall(r"GeneratedIteratorForCodegenStage(\d+)\.([a-z]+_)?", stack)
        found[frames[-1] if frames else None] += int(count)
    return found


def test_samples_by_operator(sparkflame, data):
    """Recorded from a job with a sort; the report agrees with the folded stacks."""
    found = report(sparkflame, data / "advice" / "stages")
    stages = {one["stage"]: one for one in found["operators"]}
    queries = {one["id"]: one["operators"] for one in found["sql"]}
    assert len(stages) >= 14
    for stage, one in stages.items():
        told = innermost_operators(sparkflame, data / "advice" / "stages" / "cpu.pb.gz", stage)
        names = {None if row["operator"] is None else queries[one["sql"]][row["operator"]]["name"]: row["samples"]
                 for row in one["operators"]}
        assert sum(names.values()) == sum(told.values())
        assert names.get(None, 0) == told[None]
        assert names.get("Sort", 0) == told["1", "sort_"] and names.get("Range", 0) == told["1", "range_"]
    assert [queries[stages[1]["sql"]][row["operator"]]["name"] for row in stages[1]["operators"][:2]] == ["Sort", "WholeStageCodegen (1)"]
    text = sparkflame("report", data / "advice" / "stages").stdout.decode()
    assert re.search(r"WholeStageCodegen \(1\), 9\d\.\d % of the samples", text)


def page_part(page, name):
    found = re.search(rf'id="{name}" data-encoding="deflate-raw">([^<]*)<', page)
    return zlib.decompress(base64.b64decode(found.group(1)), -15) if found else None


def test_the_page_holds_the_samples(sparkflame, inputs, tmp_path):
    run = sparkflame("report", *inputs, "-o", tmp_path / "a.html")
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "a.html").read_text()
    samples = page_part(page, "profile")
    assert samples.startswith(b"SFPD\1") and b'"labels":["thread","thread_id","state","executor","stage","stage_attempt","task"]' in samples
    text, columns = page_part(page, "data").split(b"\0", 1)
    data = json.loads(text)
    assert data["stages"] and len(columns) >= data["tasks"]["count"] * len(data["tasks"]["columns"]) > 0
    run = sparkflame("report", inputs[0], "-o", tmp_path / "b.html")
    assert run.returncode == 0 and page_part((tmp_path / "b.html").read_text(), "profile") is None
