"""The tables of a profile, and the questions about them: Spark and DuckDB read the same and answer the same."""

import collections
import json
import re
import subprocess

import duckdb
import pytest

import fleet
import parquet_tables
import spark

QUESTIONS = (spark.ROOT / "sql" / "questions.sql").read_text()
VIEWS = [name for name in re.findall(r"VIEW (\w+)", QUESTIONS) if name not in ("costs", "stacks", "frame_classes", "methods")]
SEEDS = range(100, 104)
APPLICATIONS = 40


@pytest.fixture(scope="module")
def tables(binary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    fleet.make(folder / "recordings", applications=APPLICATIONS, executors=4, sequences=(1, 3000, 4500), samples=20)
    # Neither application nor day, and a method below the least share.
    (folder / "recordings" / "other.folded").write_text("main;org/example/Common.run 5000\nmain;org/example/Rare.run 1\n")
    subprocess.run([binary, "merge", "-q", "-f", "parquet", folder / "recordings", "-o", folder / "tables"], check=True)
    return folder / "tables"


@pytest.fixture(scope="module")
def connection(tables):
    with duckdb.connect() as connection:
        connection.execute("SET threads=1; SET TimeZone='UTC'")
        for path in tables.glob("*.parquet"):
            connection.execute(f"CREATE VIEW {path.stem} AS SELECT * FROM read_parquet('{path}')")
        connection.execute(QUESTIONS)
        yield connection


@pytest.fixture(scope="module", params=["3.5", "4"])
def found(request, binary, tables, tmp_path_factory):
    """(what Spark read, the random tables)"""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "random").mkdir()
    expected = {f"t{seed}": parquet_tables.random_table(binary, folder / "random" / f"t{seed}.parquet", seed)[1] for seed in SEEDS}
    questions = folder / "questions.sql"
    questions.write_text(QUESTIONS)
    done = spark.submit(request.param, folder / "job", "read_parquet.py", folder / "random", tables, questions,
                        conf={"spark.plugins": None, "spark.sql.session.timeZone": "UTC", "spark.log.level": "WARN"})
    line = next((line for line in done.log.splitlines() if line.startswith("FOUND ")), None)
    assert line is not None, done.log[-5000:]
    return json.loads(line[6:]), expected


def as_texts(rows):
    """Rows in any order; doubles of sums in another order differ in the last digit."""
    return sorted(tuple(f"{value:.9g}" if isinstance(value, float) else str(value) for value in row) for row in rows)


def test_spark_reads_random_tables(found):
    rows, expected = found
    for vectorized in ("true", "false"):
        for name, columns in expected.items():
            assert rows[f"{name} {vectorized}"] == columns


def test_several_folders_answer_like_one(binary, connection, tables, tmp_path):
    """Ids of stacks and frames mean other things in each."""
    recordings = tables.parent / "recordings"
    parts = {"even": recordings.glob("team/app-*[02468]"), "odd": recordings.glob("team/app-*[13579]"), "other": [recordings / "other.folded"]}
    for name, paths in parts.items():
        subprocess.run([binary, "merge", "-q", "-f", "parquet", *paths, "-o", tmp_path / name], check=True)
    with duckdb.connect() as several:
        several.execute("SET threads=1; SET TimeZone='UTC'")
        for path in tables.glob("*.parquet"):
            several.execute(f"CREATE VIEW {path.stem} AS SELECT * FROM read_parquet('{tmp_path}/*/{path.name}')")
        several.execute(QUESTIONS)
        for view in VIEWS:
            query = f"SELECT * FROM {view}"
            assert as_texts(several.execute(query).fetchall()) == as_texts(connection.execute(query).fetchall()), view


def test_spark_and_duckdb_answer_the_same(found, connection):
    for view in VIEWS:
        own = as_texts(connection.execute(f"SELECT * FROM {view}").fetchall())
        assert as_texts(found[0][view]) == own and own != []


@pytest.fixture(scope="module")
def samples(connection):
    """Each sample with its cost and its frames, outermost first, from the tables that views use."""
    def rows(query):
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]
    frames = {row["frame_id"]: row for row in rows("SELECT * FROM frame_classes")}
    weights = {row["event"]: row["weight"] for row in rows("SELECT * FROM events")}
    stacks = collections.defaultdict(list)
    for row in rows("SELECT * FROM stack_frames ORDER BY stack_id, from_leaf DESC"):
        stacks[row["stack_id"]].append(frames[row["frame_id"]])
    return [{**row, "cost": row[weights[row["event"]]], "frames": stacks[row["stack_id"]]}
            for row in rows("SELECT * REPLACE (epoch_us(time) AS time), CAST(time AS DATE) AS day FROM samples")]


def total(samples, key):
    """The sum of costs for each key that `key` gives of a sample."""
    sums = collections.Counter()
    for sample in samples:
        for each in key(sample):
            sums[each] += sample["cost"]
    return sums


def check(connection, query, expected):
    assert {row[:-1]: row[-1] for row in connection.execute(query).fetchall()} == dict(expected) and len(expected) > 3


LEAST_SHARE = 1000


@pytest.fixture(scope="module")
def methods(samples):
    """{(event, method, application, day): (self, total)}, without what is below a thousandth of the event in that application on that day."""
    leaf = total(samples, lambda s: [(s["event"], s["frames"][-1]["name"], s["application"], s["day"])])
    anywhere = total(samples, lambda s: {(s["event"], frame["name"], s["application"], s["day"]) for frame in s["frames"]})
    all_of_it = total(samples, lambda s: [(s["event"], s["application"], s["day"])])
    kept = {key: (leaf[key], cost) for key, cost in anywhere.items() if cost >= all_of_it[key[0], key[2], key[3]] // LEAST_SHARE}
    assert len({key[2] for key in kept}) > APPLICATIONS and len({key[3] for key in kept}) > 2 and 0 < len(anywhere) - len(kept) < len(kept)
    return kept


def sums(methods, parts):
    """Of self and total, by some of the parts of the key."""
    found = collections.defaultdict(lambda: (0, 0))
    for key, (own, anywhere) in methods.items():
        short = tuple(key[part] for part in parts)
        found[short] = (found[short][0] + own, found[short][1] + anywhere)
    return found


EVENT, METHOD, APPLICATION, DAY = range(4)


def test_methods_are_what_a_slow_computation_finds(connection, methods):
    dated = {key: costs for key, costs in methods.items() if key[DAY] is not None}
    for view, parts in (("top_methods", (EVENT, METHOD)), ("method_applications", (EVENT, METHOD, APPLICATION)), ("method_trend", (EVENT, METHOD, DAY))):
        names = ", ".join(("event", "method", "application", "day")[part] for part in parts)
        expected = sums(dated if view == "method_trend" else methods, parts)
        check(connection, f"SELECT {names}, self::BIGINT FROM {view}", {key: own for key, (own, _) in expected.items()})
        check(connection, f"SELECT {names}, total::BIGINT FROM {view}", {key: anywhere for key, (_, anywhere) in expected.items()})
    applications = collections.defaultdict(set)
    for event, name, application, _ in methods:
        applications[event, name] |= {application} - {None}
    check(connection, "SELECT event, method, applications FROM top_methods", {key: len(found) for key, found in applications.items()})


def test_days_are_what_a_slow_computation_finds(connection, methods):
    dated = {key: costs for key, costs in methods.items() if key[DAY] is not None}
    daily, days, changes = sums(dated, (EVENT, METHOD, DAY)), collections.defaultdict(list), {}
    for event, name, day in sorted(daily):
        seen = days[event, name]
        if seen:
            changes[event, name, day] = tuple(new - old for new, old in zip(daily[event, name, day], daily[event, name, seen[-1]]))
        seen.append(day)
    for number, column in enumerate(("self_change", "total_change")):
        check(connection, f"SELECT event, method, day, {column}::BIGINT FROM method_trend WHERE {column} IS NOT NULL",
              {key: change[number] for key, change in changes.items()})
    for column, value in (("days", len), ("first_day", min), ("last_day", max)):
        check(connection, f"SELECT event, method, {column} FROM method_days WHERE days > 0", {key: value(seen) for key, seen in days.items()})
    assert connection.execute("SELECT method, self::BIGINT FROM method_days WHERE days = 0 ORDER BY self").fetchall() == [("main", 0), ("org/example/Common.run", 5000)]


def test_groups_are_what_a_slow_computation_finds(connection, samples):
    packages = total(samples, lambda s: {(s["event"], frame["package"]) for frame in s["frames"] if frame["package"]})
    check(connection, "SELECT event, package, total::BIGINT FROM package_totals", packages)
    kinds = total(samples, lambda s: [(s["application"], s["event"], s["frames"][-1]["kind"])])
    check(connection, "SELECT application, event, kind, self::BIGINT FROM kinds_of_code", kinds)
    waits = total(samples, lambda s: [(s["application"], s["stage"], s["state"], s["frames"][-1]["name"])]
                  if s["event"] == "wall" and s["state"] not in (None, "runnable") and s["stage"] is not None else [])
    check(connection, "SELECT application, stage, state, method, cost::BIGINT FROM waits", waits)
    stages = total(samples, lambda s: [(s["application"], s["event"], s["stage"])] if s["stage"] is not None else [])
    check(connection, "SELECT application, event, stage, cost::BIGINT FROM stage_costs", stages)
    for label in ("task", "executor"):
        met = collections.defaultdict(set)
        for s in samples:
            if s["stage"] is not None:
                met[s["application"], s["event"], s["stage"]] |= {s[label]} - {None}
        check(connection, f"SELECT application, event, stage, {label}s FROM stage_costs", {key: len(found) for key, found in met.items()})
    activities = total(samples, lambda s: [(s["application"], s["event"], "tasks" if s["task"] is not None else "other")])
    check(connection, "SELECT application, event, activity, cost::BIGINT FROM thread_groups", activities)
    executors = total(samples, lambda s: [(s["application"], s["event"], s["executor"])] if s["executor"] not in (None, "driver") else [])
    means = {pair: sum(cost for key, cost in executors.items() if key[:2] == pair) / sum(key[:2] == pair for key in executors)
             for pair in {key[:2] for key in executors}}
    ratios = {key: pytest.approx(cost / means[key[:2]]) for key, cost in executors.items()}
    check(connection, "SELECT application, event, executor, ratio FROM executor_peers", ratios)
