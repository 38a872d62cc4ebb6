"""sparkflame check RUN --baseline RUNS…: exit status, JUnit XML and JSON for continuous integration."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from test_baseline import STEADY, make_run


@pytest.fixture
def earlier(tmp_path):
    return [make_run(tmp_path, f"before-{number}", noise) for number, noise in enumerate(STEADY)]


@pytest.fixture
def slow(tmp_path):
    """Its second query takes 25 % longer."""
    return make_run(tmp_path, "now", slow={"m": 1.25})


def test_exit_status(sparkflame, tmp_path, earlier, slow):
    same = make_run(tmp_path, "same")
    done = sparkflame("check", same, "--baseline", *earlier)
    assert done.returncode == 0 and done.stdout.startswith(b"not slower\n"), done
    done = sparkflame("check", slow, "--baseline", *earlier)
    assert done.returncode == 3 and done.stdout.startswith(b"SLOWER: query 1 stage 1\n"), done
    assert b"slower +25 % (40.0 s -> 50.0 s), z 8.4" in done.stdout
    assert sparkflame("check", "--fail-above", "30%", slow, "--baseline", *earlier).returncode == 0
    assert sparkflame("check", "--fail-above=24.5", slow, "--baseline", *earlier).returncode == 3
    assert sparkflame("check", make_run(tmp_path, "fast", slow={"m": 0.5}), "--baseline", *earlier).returncode == 0


def test_junit(sparkflame, tmp_path, earlier, slow):
    out = tmp_path / "out.xml"
    done = sparkflame("check", slow, "--baseline", *earlier, "-o", out)
    assert done.returncode == 3 and done.stdout.startswith(b"SLOWER")
    (suite,) = ElementTree.parse(out).getroot()
    cases = suite.findall("testcase")
    assert suite.attrib == {"name": "nightly", "tests": "6", "failures": "2", "errors": "0", "skipped": "0", "time": "80.000"} and len(cases) == 6
    failed = {case.get("classname"): case.find("failure") for case in cases if case.find("failure") is not None}
    number = sum(map(ord, "now"))
    assert list(failed) == [f"query {number + 1}", "stage 1.0"]
    assert failed["stage 1.0"].get("message") == "+25 % (40.0 s -> 50.0 s), z 8.4"
    assert failed["stage 1.0"].text == "+25 % (40.0 s -> 50.0 s), z 8.4; the same data takes more time of the tasks"
    assert [case.get("time") for case in cases if case.get("classname") == "stage 1.0"] == ["50.000"]


def test_names_in_junit_are_escaped(sparkflame, tmp_path):
    before = [make_run(tmp_path, f"before-{number}", application="a <b> & \"c\"\x01") for number in range(3)]
    now = make_run(tmp_path, "now", 2, application="a <b> & \"c\"\x01")
    done = sparkflame("check", "-f", "junit", now, "--baseline", *before)
    assert done.returncode == 3 and ElementTree.fromstring(done.stdout)[0].get("name") == "a <b> & \"c\"\ufffd"


def test_something_new_is_skipped(sparkflame, tmp_path, earlier):
    done = sparkflame("check", "-f", "junit", make_run(tmp_path, "now", queries=("k", "m", "n"), slow={"rdd": 0.2}), "--baseline", *earlier)
    (suite,) = ElementTree.fromstring(done.stdout)
    assert suite.get("skipped") == "2" and len(suite.findall("testcase/skipped")) == 2


def test_json(sparkflame, tmp_path, earlier, slow):
    done = sparkflame("check", "-f", "json", slow, "--baseline", *earlier)
    found = json.loads(done.stdout)
    assert found["slower"] and {item["kind"] for item in found["baseline"]["items"] if item["verdict"] == "slower"} == {"query", "stage"}
    done = sparkflame("check", "-q", make_run(tmp_path, "same"), "--baseline", *earlier, "-o", tmp_path / "out.json")
    assert done.returncode == 0 and done.stdout == b"" and not json.loads((tmp_path / "out.json").read_text())["slower"]


def test_wrong_usage(sparkflame, tmp_path, earlier, slow):
    for words, said in ([[slow], "no earlier run given"], [["--baseline", slow], "no run given"],
                        [["--fail-above", "a lot", slow, "--baseline", *earlier], "is not a percentage"],
                        [["--fail-above", "-3", slow, "--baseline", *earlier], "is not a percentage"],
                        [["--fail-above", "nan", slow, "--baseline", *earlier], "is not"]):
        done = sparkflame("check", *words)
        assert done.returncode == 2 and said in done.stderr.decode(), done
    done = sparkflame("check", slow, "--baseline", slow)
    assert done.returncode == 1 and b"no earlier run to compare with" in done.stderr
    done = sparkflame("check", make_run(tmp_path, "running", end=False), "--baseline", *earlier)
    assert done.returncode == 1 and b"the application has not ended" in done.stderr


def test_a_baseline_that_cannot_be_read_is_no_success(sparkflame, tmp_path, earlier):
    broken = tmp_path / "broken"
    broken.write_bytes(earlier[0].read_bytes()[:3000] + b"}}}\n" + earlier[0].read_bytes()[3000:])
    done = sparkflame("check", make_run(tmp_path, "same"), "--baseline", *earlier, broken)
    assert done.returncode == 1 and b"broken" in done.stderr
