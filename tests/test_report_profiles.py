"""sparkflame report with profiles: what the samples of each stage show (tests/make_report_profile.py)."""

import base64
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
    part = run.stdout.decode().split("What the stages' samples show most (cpu)")[1]
    assert re.search(r"stage 2\.0, 70 samples\n +57\.1 % own 100\.0 % with callees  org/example/Job\.work\n +42\.9 % own", part)


def test_a_profile_alone(sparkflame, inputs):
    found = report(sparkflame, inputs[1])
    assert found["tasks"] == [] and len(found["methods"]) == 7


def test_folded_stacks_have_no_stage(sparkflame, inputs, tmp_path):
    (tmp_path / "a.folded").write_text("main;work 3\nmain;rest 4\n")
    assert "methods" not in report(sparkflame, inputs[0], tmp_path / "a.folded")


def page_part(page, name):
    found = re.search(rf'id="{name}" data-encoding="deflate-raw">([^<]*)<', page)
    return zlib.decompress(base64.b64decode(found.group(1)), -15) if found else None


def test_the_page_holds_the_samples(sparkflame, inputs, tmp_path):
    run = sparkflame("report", *inputs, "-o", tmp_path / "a.html")
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "a.html").read_text()
    samples = page_part(page, "profile")
    assert samples.startswith(b"SFPD\1") and b'"labels":["thread","thread_id","state","executor","stage","stage_attempt","task"]' in samples
    assert json.loads(page_part(page, "data"))["stages"]
    run = sparkflame("report", inputs[0], "-o", tmp_path / "b.html")
    assert run.returncode == 0 and page_part((tmp_path / "b.html").read_text(), "profile") is None
