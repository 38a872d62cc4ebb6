"""The report's advice, on recordings of real jobs (tests/data/advice, made by make_advice_data.py): each rule speaks where it
should, and only there."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Of the machine that the jobs were recorded on, not of the jobs: it had other things to do.
MACHINE = {"busy-hosts"}
# What else is true of a job that shows something.
BESIDES = {"python-serialisation": {"locks"}, "locks": {"reflection"}, "date-parsing": {"udf-hot-line"},
           "regex": {"udf-hot-line"}, "logging": {"udf-hot-line"}, "small-files": {"waiting", "skew"}}


# Each rule with a recorded job that shows it, and one that does not.
SHOWN_BY = {
    "skew": ("straggler", "calm"), "spill": ("stages", "calm"), "gc": ("fatso", "calm"), "tiny-tasks": ("stages", "calm"),
    "few-partitions": ("stages", "calm"), "waiting": ("slacker", "calm"), "busy-hosts": ("calm", "slacker"),
    "speculation": ("speculation", "straggler"), "failures": ("loss", "speculation"), "python-serialisation": ("stages", "chatty"),
    "udf-hot-line": ("straggler", "slacker"), "regex": ("stages", "chatty"), "date-parsing": ("stages", "chatty"),
    "reflection": ("stages", "calm"), "logging": ("stages", "chatty"), "locks": ("stages", "calm"),
    "small-files": ("stages", "calm"), "repeated-setup": ("heckler", "chatty"), "chatty-log": ("chatty", "heckler"),
    "python-memory": ("loss", "straggler"), "memory-oversized": ("calm", "fatso"), "memory-undersized": ("fatso", "calm"),
    "executor-lost": ("loss", "speculation"),
}


def report(sparkflame, *paths):
    run = sparkflame("report", "-f", "json", *paths)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def folder(data):
    return data / "advice"


def rules_of_stages(whole):
    """[(what the job was made to show, rules that spoke)] of each stage."""
    shown = {stage: job["description"] for job in whole["jobs"] for stage in job["stages"]}
    return [(shown[stage["id"]], {item["rule"] for item in whole["advice"] if item.get("stage") == stage["id"]})
            for stage in whole["stages"]]


def test_each_rule_has_a_job_that_shows_it_and_one_that_does_not(sparkflame, folder):
    table = (ROOT / "src" / "spark" / "advice_rules.def").read_text()
    assert re.findall(r'^(?:STAGE|APPLICATION)_RULE\("([^"]+)"', table, re.MULTILINE) == list(SHOWN_BY)
    spoke = {job.name: {item["rule"] for item in report(sparkflame, job)["advice"]} for job in folder.iterdir()}
    for rule, (shows, shows_not) in SHOWN_BY.items():
        assert rule in spoke[shows] and rule not in spoke[shows_not], (rule, spoke)


def test_each_stage_shows_what_it_was_made_to_show(sparkflame, folder):
    whole = report(sparkflame, folder / "stages")
    stages = rules_of_stages(whole)
    assert len(stages) == 15 and len({name for name, _ in stages}) == 12
    for name, rules in stages:
        expected = set() if name in ("nothing", "small-files") else {name}
        assert expected <= rules <= expected | BESIDES.get(name, set()) | MACHINE, (name, rules)
    assert [item["rule"] for item in whole["advice"] if "stage" not in item] == ["small-files"]


def test_advice_has_evidence_and_a_place(sparkflame, folder):
    whole = report(sparkflame, folder / "stages")
    items = {(item["rule"], item.get("stage")): item for item in whole["advice"]}
    assert items["udf-hot-line", 5]["place"] == "hot_line.<locals>.digits (advice.py:55)"
    assert items["locks", 9]["place"] == "sun.security.provider.SecureRandom"
    assert "76 MiB were spilled" in items["spill", 1]["finding"]
    assert "1 task of 108.6 s for 2 cores" in items["few-partitions", 3]["finding"]
    assert "wrote 150 files of 0.5 KiB" in items["small-files", None]["finding"]
    assert all(item["finding"] and item["remedy"] for item in whole["advice"])


def test_without_samples_rules_of_code_say_nothing(sparkflame, folder):
    whole = report(sparkflame, folder / "stages" / "events.gz")
    assert not {item["rule"] for item in whole["advice"]} & {"regex", "date-parsing", "reflection", "logging", "udf-hot-line",
                                                           "locks", "busy-hosts"}


def test_a_lost_executor_and_the_memory_that_grew(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "loss")["advice"]}
    assert "code 137; its Python workers had grown to 650 MiB, its heap only to 84 MiB" in items["executor-lost"]["finding"]
    assert items["executor-lost"]["place"] == "executor 0" and items["python-memory"]["place"] == "grow (advice.py:120)"
    assert {"failures", "few-partitions"} <= items.keys()
    others = report(sparkflame, folder / "heckler")["advice"]
    assert not {item["rule"] for item in others} & {"executor-lost", "python-memory", "failures"}


RIDDLES = {
    "straggler": ("skew", "some records cost more; most samples of the stage are in squares (straggler.py:11)"),
    "fatso": ("gc", "garbage collection took 22 % of the tasks' time"),
    "slacker": ("waiting", "mostly in ask (slacker.py:13)"),
    "heckler": ("repeated-setup", "Checking the set-up: # words known\" was said 1500 times by 3 tasks"),
}


@pytest.mark.parametrize("name", RIDDLES)
def test_the_cause_of_a_riddle_is_named(sparkflame, folder, name):
    """The job's own cause is named, and no other riddle's."""
    rule, finding = RIDDLES[name]
    items = {item["rule"]: item for item in reversed(report(sparkflame, folder / name)["advice"])}
    assert finding in items[rule]["finding"], items
    others = {other for other, _ in RIDDLES.values()} - {rule}
    assert not others & items.keys(), items.keys()


def test_a_heap_that_is_too_small(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "fatso")["advice"]}
    assert "executors filled 493 of their 512 MiB of heap; collection took 21 %" in items["memory-undersized"]["finding"]
    for other in ("calm", "straggler", "slacker", "heckler", "loss"):
        assert "memory-undersized" not in {item["rule"] for item in report(sparkflame, folder / other)["advice"]}


def test_a_job_with_nothing_wrong_but_too_much_memory(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "calm")["advice"]}
    assert items.keys() - MACHINE == {"memory-oversized"}
    assert "2048 MiB of heap and never used more than 203 MiB" in items["memory-oversized"]["finding"]


def test_a_log_that_says_the_same_over_and_over(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "chatty")["advice"]}
    assert '"INFO shop: Order # has no discount" was said 2000 times by 4 tasks' in items["chatty-log"]["finding"]
    assert items["chatty-log"]["place"] == "tell (advice.py:149)"


def test_attempts_that_are_thrown_away(sparkflame, folder):
    """Both ways in which Spark says so."""
    items = {item["rule"]: item for item in report(sparkflame, folder / "speculation")["advice"]}
    assert "2 attempts of 26.1 s in all were thrown away" in items["speculation"]["finding"]
    assert items["speculation"]["stage"] == 0
