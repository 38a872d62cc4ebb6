"""The report's advice, on recordings of real jobs (tests/data/advice, made by make_advice_data.py): each rule speaks where it
should, and only there."""

import json
import pathlib
import re

import pytest

import event_log_writer

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
    "speculation": ("speculation", "straggler"), "failures": ("loss", "speculation"), "stage-retries": ("retries", "loss"), "large-results": ("scans", "joins"),
    "python-serialisation": ("stages", "chatty"),
    "udf-hot-line": ("straggler", "slacker"), "regex": ("stages", "chatty"), "date-parsing": ("stages", "chatty"),
    "reflection": ("stages", "calm"), "logging": ("stages", "chatty"), "locks": ("stages", "calm"),
    "small-files": ("stages", "calm"), "repeated-setup": ("heckler", "chatty"), "chatty-log": ("chatty", "heckler"),
    "python-memory": ("loss", "straggler"), "memory-oversized": ("calm", "fatso"), "memory-undersized": ("fatso", "calm"),
    "executor-lost": ("loss", "speculation"), "idle-cores": ("loss", "calm"), "driver-bound": ("hermit", "calm"),
    "nested-loop": ("joins", "scans"), "cartesian": ("joins", "scans"), "missed-broadcast": ("scans", "joins"),
    "exploding-join": ("joins", "scans"), "global-window": ("joins", "scans"), "no-pushdown": ("scans", "joins"),
    "aqe-off": ("joins", "calm"), "repeated-scans": ("scans", "joins"), "cached-once": ("scans", "joins"),
}


def report(sparkflame, *paths):
    run = sparkflame("report", "-f", "json", *paths)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def folder(data):
    return data / "advice"


def rules_of_stages(whole):
    """[(expected rule, rules that fired)] of each stage."""
    shown = {stage: job["description"] for job in whole["jobs"] for stage in job["stages"]}
    return [(shown[stage["id"]], {item["rule"] for item in whole["advice"] if item.get("stage") == stage["id"]})
            for stage in whole["stages"]]


def test_each_rule_has_a_job_that_shows_it_and_one_that_does_not(sparkflame, folder):
    table = (ROOT / "src" / "spark" / "advice" / "advice_rules.def").read_text()
    assert re.findall(r'^(?:STAGE|APPLICATION)_RULE\("([^"]+)"', table, re.MULTILINE) == list(SHOWN_BY)
    jobs = [*folder.iterdir(), *(folder.parent / "plans").iterdir()]
    spoke = {job.name.removesuffix(".gz"): {item["rule"] for item in report(sparkflame, job)["advice"]} for job in jobs}
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
    assert "failures" in items
    others = report(sparkflame, folder / "heckler")["advice"]
    assert not {item["rule"] for item in others} & {"executor-lost", "python-memory", "failures"}


RIDDLES = {
    "straggler": ("skew", "some records are more expensive; most samples of the stage are in squares (straggler.py:11)"),
    "fatso": ("gc", "garbage collection took 22 % of the tasks' time"),
    "slacker": ("waiting", "mostly in ask (slacker.py:13)"),
    "heckler": ("repeated-setup", "Checking the set-up: # words known\" was logged 1500 times by 3 tasks"),
}


@pytest.mark.parametrize("name", RIDDLES)
def test_the_cause_of_a_riddle_is_named(sparkflame, folder, name):
    """The job's own cause is named, and no other riddle's."""
    rule, finding = RIDDLES[name]
    items = {item["rule"]: item for item in reversed(report(sparkflame, folder / name)["advice"])}
    assert finding in items[rule]["finding"], items
    others = {other for other, _ in RIDDLES.values()} - {rule}
    assert not others & items.keys(), items.keys()


# What the page and the text say first of each job in examples/riddles, as recorded.
FIRST_LINES = {
    "advice/straggler": "[skew] stage 1.0", "advice/fatso": "[gc] stage 0.0", "advice/slacker": "[waiting] stage 0.0",
    "advice/heckler": "[repeated-setup] ", "plans/carrier.gz": "[missed-broadcast] ", "plans/idler.gz": "[idle-cores] ",
    "plans/hermit.gz": "[driver-bound] ", "advice/loss": "[executor-lost] ", "advice/sound": "nothing; no rule found anything that would save a second",
}


@pytest.mark.parametrize("job", FIRST_LINES)
def test_the_first_line_of_a_riddle(sparkflame, data, job):
    text = sparkflame("report", data / job).stdout.decode()
    (line,) = [line for line in text.splitlines() if line.startswith("  Do this first: ")]
    assert line.startswith(f"  Do this first: {FIRST_LINES[job]}"), line
    first = report(sparkflame, data / job)["advice"][0]
    says_nothing = FIRST_LINES[job].startswith("nothing")
    assert (first["severity"] < 1) == says_nothing and (says_nothing or first["finding"] in line)


def test_every_riddle_has_a_first_line():
    jobs = {path.stem for path in (ROOT / "examples" / "riddles").glob("*.py")} - {"riddle"}
    assert jobs == {pathlib.Path(job).stem for job in FIRST_LINES} - {"loss"} and len(jobs) == 8


def test_a_sound_job_gets_no_advice(sparkflame, folder):
    """But that the machine had other things to do, which its metrics show; the event log alone shows that tasks got little of a CPU, and blames
    nothing else for it."""
    assert {item["rule"] for item in report(sparkflame, folder / "sound")["advice"]} <= MACHINE
    assert report(sparkflame, folder / "sound" / "events.gz")["advice"] == []


def test_a_heap_that_is_too_small(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "fatso")["advice"]}
    assert "executors filled 493 of their 512 MiB of heap (garbage included); collection took 21 %" in items["memory-undersized"]["finding"]
    for other in ("calm", "straggler", "slacker", "heckler", "loss"):
        assert "memory-undersized" not in {item["rule"] for item in report(sparkflame, folder / other)["advice"]}


def test_a_job_with_nothing_wrong_but_too_much_memory(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "calm")["advice"]}
    assert items.keys() - MACHINE == {"memory-oversized"}
    assert "2048 MiB of heap and never used more than 203 MiB" in items["memory-oversized"]["finding"]


def test_a_log_that_says_the_same_over_and_over(sparkflame, folder):
    items = {item["rule"]: item for item in report(sparkflame, folder / "chatty")["advice"]}
    assert '"INFO shop: Order # has no discount" was logged 2000 times by 4 tasks' in items["chatty-log"]["finding"]
    assert items["chatty-log"]["place"] == "tell (advice.py:149)"


def test_attempts_that_are_thrown_away(sparkflame, folder):
    """Both ways in which Spark logs it."""
    items = {item["rule"]: item for item in report(sparkflame, folder / "speculation")["advice"]}
    assert "2 attempts of 26.1 s in all were discarded" in items["speculation"]["finding"]
    assert items["speculation"]["stage"] == 0


PLANS = ["joins", "scans"]
# What else is true of a query that shows something.
BESIDES_OF_PLANS = {"missed-broadcast": {"aqe-off"}, "almost missed-broadcast": {"aqe-off"}}


@pytest.mark.parametrize("name", PLANS)
def test_each_query_shows_what_it_was_made_to_show(sparkflame, data, name):
    """Each rule of plans speaks of its query, and not of the one that looks alike."""
    whole = report(sparkflame, data / "plans" / f"{name}.gz")
    shown = {job["sql_execution"]: job["description"] for job in whole["jobs"] if job["sql_execution"] is not None}
    assert len(shown) >= 10
    for query in whole["sql"]:
        rules = {item["rule"] for item in whole["advice"] if item.get("sql") == query["id"]}
        description = shown.get(query["id"], "data")
        expected = set() if description.startswith("almost") or description in ("data", "large-results") else {description}
        assert expected <= rules <= expected | BESIDES_OF_PLANS.get(description, set()), (query["id"], description, rules)


def test_each_rule_is_described(sparkflame):
    table = (ROOT / "src" / "spark" / "advice" / "advice_rules.def").read_text()
    page = (ROOT / "docs" / "ADVICE.md").read_text()
    assert re.findall(r"^### (.+)$", page, re.MULTILINE) == re.findall(r'RULE\("([^"]+)"', table)


def test_rules_can_be_left_out(sparkflame, folder):
    run = sparkflame("report", "-f", "json", "--disable-rule", "skew", "--disable-rule", "locks", folder / "straggler")
    rules = {item["rule"] for item in json.loads(run.stdout)["advice"]}
    assert rules and not rules & {"skew", "locks"}
    run = sparkflame("report", "--disable-rule", "sekw", folder / "straggler")
    assert run.returncode == 2 and b"no rule of advice is named sekw; there are: skew spill" in run.stderr


def test_savings_are_of_one_currency(sparkflame, folder):
    """Time of the application, and core time; most important first; never more than there is."""
    for job in folder.iterdir():
        whole = report(sparkflame, job)
        took = whole["application"]["end_ms"] - whole["application"]["start_ms"]
        weights = {"low": 0.4, "medium": 0.7, "high": 1}
        cores = whole["time_spent"]["core_ms"] / took
        severities = [weights[item["certainty"]] * max(item["saved_wall_ms"], item["saved_core_ms"] / cores / 4) for item in whole["advice"]]
        assert all(later <= earlier + 2 for earlier, later in zip(severities, severities[1:])), (job, severities)
        for number, item in enumerate(whole["advice"]):
            assert 0 <= item["saved_wall_ms"] < took and 0 <= item["saved_core_ms"] <= whole["time_spent"]["core_ms"], item
            assert item["how"] and item["docs"] == f"docs/ADVICE.md#{item['rule']}"
            assert item["group"] <= number and whole["advice"][item["group"]]["rule"] == item["rule"]


def test_a_saving_is_that_of_the_simulation(sparkflame, tmp_path):
    """Nine tasks of 10 s and one of 60 s, which starts first, on five cores: divided into four of 15 s, the stage takes 35 s."""
    log = event_log_writer.EventLog()
    log.executor(0, 5)
    tasks = [(0, 0, 60_000), *((0, 10_000 * (index // 4), 10_000 * (index // 4) + 10_000) for index in range(9))]
    log.job(0, 0, 60_000, [log.stage(0, 0, 60_000, tasks)])
    (item,) = [item for item in report(sparkflame, log.write(tmp_path / "log", 60_000))["advice"] if item["rule"] == "skew"]
    assert (item["saved_wall_ms"], item["saved_core_ms"]) == (25_000, 125_000)
    assert item["how"] == "simulated with tasks of at most 15.0 s"


def test_good_queries_get_no_advice(sparkflame, data):
    """Ten queries in the manner of TPC-H, recorded on a machine that had a hundred times as much to do as processors."""
    items = report(sparkflame, data / "plans" / "healthy.gz")["advice"]
    assert not [item for item in items if "sql" in item]
    assert items == []


HEALTHY = ["best_orders_of_a_day", "forecast_revenue", "large_volume_customers", "local_supplier_volume", "order_priority", "pricing_summary",
           "promotion_effect", "returned_items", "rollup_by_month", "shipping_priority"]


@pytest.mark.parametrize("job", HEALTHY)
def test_a_well_behaved_job_gets_no_advice(sparkflame, data, job):
    """Applications of a query in the manner of TPC-H each (tests/spark_jobs/tpc.py), recorded on a machine with forty times as much to do
    as processors."""
    whole = report(sparkflame, data / "healthy" / f"{job}.gz")
    assert whole["advice"] == [] and whole["application"]["name"] == job.replace("_", " ") and len(whole["stages"]) > 1


def test_a_slow_driver_in_local_mode(sparkflame, tmp_path):
    """40 s between two jobs of a driver whose tasks got a fifth of a CPU, and of one whose tasks got all that they wanted."""
    for cpu_ms, speaks in ((10, False), (80, True)):
        metrics = {"Executor Deserialize Time": 100, "Executor Deserialize CPU Time": cpu_ms * 10**6}
        log = event_log_writer.EventLog()
        log.executor("driver", 2)
        for number, start in ((0, 0), (1, 60_000)):
            log.job(number, start, start + 20_000, [log.stage(number, start, start + 20_000, [("driver", start, start + 20_000, metrics)] * 2)])
        rules = {item["rule"] for item in report(sparkflame, log.write(tmp_path / f"local-{cpu_ms}", 80_000))["advice"]}
        assert ("driver-bound" in rules) == speaks


def test_findings_on_one_query_are_one(sparkflame, data):
    """A loop runs it with another number each time; others of the rule are of other queries."""
    items = [item for item in report(sparkflame, data / "plans" / "carrier.gz")["advice"] if item["rule"] == "missed-broadcast"]
    assert [(item["sql"], item["group"]) for item in items] == [(0, 0), (1, 0)]
    text = sparkflame("report", data / "plans" / "carrier.gz").stdout.decode()
    assert text.count("[missed-broadcast]") == 2 and "      the same: " in text.split("[missed-broadcast]")[2].split("[")[0]
    whole = report(sparkflame, data / "plans" / "joins.gz")["advice"]
    groups = {(item["group"], item["rule"]): item["sql"] for item in whole if "sql" in item}
    assert len(groups) == len([item for item in whole if "sql" in item])


def test_a_stage_that_ran_again(sparkflame, data):
    items = report(sparkflame, data / "plans" / "retries.gz")["advice"]
    (again,) = [item for item in items if item["rule"] == "stage-retries" and item["stage"] == 0]
    assert again["attempt"] == 1 and "ran again (attempt 1) because shuffle data was lost: 5 tasks" in again["finding"]
    assert items[0]["rule"] == "stage-retries" and "executor-lost" in {item["rule"] for item in items}


def test_what_an_aborted_attempt_lost(sparkflame, data):
    """Attempt 0 of stage 1 was aborted when a task could not fetch: attempt 1 does the rest, and repeats no more than that task."""
    (again,) = [item for item in report(sparkflame, data / "plans" / "retries.gz")["advice"] if item["rule"] == "stage-retries" and item["stage"] == 1]
    assert (again["certainty"], again["saved_wall_ms"], again["saved_core_ms"]) == ("medium", 0, 26_009)
    assert again["how"] == "the time of tasks that the aborted attempt lost"


# ---- plans that are made up ----

MIB = 1 << 20


def rules_of(sparkflame, tmp_path, plan, counters):
    log = event_log_writer.EventLog()
    log.executor(0, 2)
    log.job(0, 0, 60_000, [log.stage(0, 0, 60_000, [(0, 0, 60_000)] * 2)], **{"spark.sql.execution.id": "0"})
    log.query(0, 0, 60_000, plan, counters)
    return {item["rule"] for item in report(sparkflame, log.write(tmp_path / "log", 60_000))["advice"] if item.get("sql") == 0}


def scan(number, partitions="", data="", pushed="", reads=100 * MIB):
    detail = (f"FileScan parquet [a#1] Batched: true, DataFilters: [{data}, Format: Parquet, Location: InMemoryFileIndex(1 paths)[file:/t], "
              f"PartitionFilters: [{partitions}], PushedFilters: [{pushed}], ReadSchema: struct<a:int>").replace("[, Format", "[], Format")
    return (event_log_writer.operator("Scan parquet ", detail, counters=[("size of files read", 10 * number), ("number of output rows", 10 * number + 1)]),
            [(10 * number, reads), (10 * number + 1, 5_000_000)])


# What stands above the second scan, the partitions that it reads, and whether it counts.
SECOND_SCANS = {
    "twice": ("Project", "", True),
    "another partition": ("Project", "isnotnull(day#2), (day#2 = 3)", False),
    "reused exchange": ("ReusedExchange", "", False),
    "reused subquery": ("ReusedSubquery", "", False),
    "cached": ("InMemoryTableScan", "", False),
    "cached table": ("Scan In-memory table t", "", False),
}


@pytest.mark.parametrize("case", SECOND_SCANS)
def test_files_that_are_read_again(sparkflame, tmp_path, case):
    above, partitions, counts = SECOND_SCANS[case]
    (one, first), (other, second) = scan(1), scan(2, partitions)
    plan = event_log_writer.operator("Union", children=[one, event_log_writer.operator(above, children=[other])])
    assert ("repeated-scans" in rules_of(sparkflame, tmp_path, plan, first + second)) == counts


@pytest.mark.parametrize("data, speaks", [("isnotnull(a#1), (cast(a#1 as string) = 3)]", True),
                                          ("isnotnull(a#1), isnotnull(b#2), (cast(a#1 as string) = 3), (cast(b#2 as string...", False)])
def test_lists_that_spark_cut_are_not_judged(sparkflame, tmp_path, data, speaks):
    read, counters = scan(1, data=data)
    plan = event_log_writer.operator("Filter", children=[read], counters=[("number of output rows", 1)])
    assert ("no-pushdown" in rules_of(sparkflame, tmp_path, plan, [*counters, (1, 10)])) == speaks


@pytest.mark.parametrize("second_start, speaks", [(30_000, True), (70_000, False)])
def test_memory_of_workers_that_lived_together(sparkflame, tmp_path, second_start, speaks):
    """Two workers of an executor that grow to 300 MiB each, of 600 MiB: 50 s long, and at one time or one after the other."""
    log = event_log_writer.EventLog(properties={"spark.executor.memoryOverhead": "600m"})
    log.executor(0, 2)
    log.job(0, 0, 200_000, [log.stage(0, 0, 200_000, [(0, 0, 200_000)])])
    records = [{"epochMillis": event_log_writer.START_MS + start + 25_000 * step, "name": f"Python {pid} of executor 0", "role": "python",
                "vmRSS": (50 + 125 * step) * MIB} for pid, start in ((7, 0), (8, second_start)) for step in range(3)]
    (tmp_path / "metrics.json").write_text("".join(json.dumps(record) + "\n" for record in records))
    whole = report(sparkflame, log.write(tmp_path / "log", 200_000), tmp_path / "metrics.json")
    assert ("python-memory" in {item["rule"] for item in whole["advice"]}) == speaks
