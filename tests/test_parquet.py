"""Parquet files of our own writer, read by pyarrow and DuckDB."""

import pathlib
import subprocess

import duckdb
import pyarrow.parquet as pq
import pytest

import fleet
from parquet_readers import by_duckdb, by_pyarrow, check
from parquet_tables import DELTA, DICTIONARY, GROUP_ROWS, INT64, TEXT, random_table, write

QUESTIONS = (pathlib.Path(__file__).resolve().parent.parent / "sql" / "questions.sql").read_text()


@pytest.mark.parametrize("seed", range(24))
def test_random_tables_come_back(binary, tmp_path, seed):
    check(tmp_path / "out.parquet", *random_table(binary, tmp_path / "out.parquet", seed), seed)


def test_row_groups(binary, tmp_path):
    columns = [(INT64, DELTA, False), (TEXT, DICTIONARY, True), (TEXT, DELTA, False)]
    rows = GROUP_ROWS + 65_539
    table = [list(range(0, 3 * rows, 3)), [None if i % 11 == 0 else f"t{i % 700}" for i in range(rows)], [f"{i:09}" for i in range(rows)]]
    write(binary, tmp_path / "out.parquet", columns, table)
    file = pq.ParquetFile(tmp_path / "out.parquet")
    assert file.metadata.num_row_groups == 2 and file.metadata.num_rows == rows
    assert by_pyarrow(tmp_path / "out.parquet", columns) == table
    assert by_duckdb(tmp_path / "out.parquet", columns) == table
    second = file.metadata.row_group(1)
    assert (second.column(0).statistics.min, second.column(0).statistics.max) == (3 * GROUP_ROWS, 3 * (rows - 1))
    assert second.column(1).statistics.null_count == table[1][GROUP_ROWS:].count(None)
    assert (second.column(2).statistics.min, second.column(2).statistics.max) == (f"{GROUP_ROWS:09}", f"{rows - 1:09}")
    assert set(second.column(1).encodings) == {"PLAIN", "RLE", "RLE_DICTIONARY"}
    assert "DELTA_BYTE_ARRAY" in second.column(2).encodings and "DELTA_BINARY_PACKED" in second.column(0).encodings
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_texts_become_valid(binary, tmp_path):
    text = b"c0:2:0\n" + b"61ff62\n"
    with open(tmp_path / "out.parquet", "wb") as out:
        subprocess.run([binary.parent / "make_parquet"], input=text, stdout=out, check=True)
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"c0": ["a\ufffdb"]}
    assert duckdb.sql(f"SELECT * FROM '{tmp_path / 'out.parquet'}'").fetchall() == [("a\ufffdb",)]


# ---- the tables of a profile ----

@pytest.fixture(scope="module")
def fleet_tables(binary, tmp_path_factory):
    """Recordings, and the folder of their tables."""
    folder = tmp_path_factory.mktemp("tables")
    recordings = fleet.make(folder / "recordings", sequences=(1, 2))
    subprocess.run([binary, "merge", "-q", "-f", "parquet", folder / "recordings", "-o", folder / "tables"], check=True)
    return recordings, folder / "tables"


@pytest.fixture
def sql(fleet_tables):
    """Runs a query in which each table has its name."""
    with duckdb.connect() as connection:
        connection.execute("SET threads=1; SET TimeZone='UTC'")
        for path in fleet_tables[1].glob("*.parquet"):
            connection.execute(f"CREATE VIEW {path.stem} AS SELECT * FROM read_parquet('{path}')")
        connection.execute(QUESTIONS)
        yield lambda query: connection.execute(query).fetchall()


def folded(sparkflame, recordings, *options):
    done = sparkflame("convert", "-q", "-f", "folded", *options, *recordings)
    assert done.returncode == 0, done.stderr
    lines = (line.rsplit(" ", 1) for line in done.stdout.decode().splitlines())
    return {stack: int(count) for stack, count in lines}


STACKS = """WITH texts AS (SELECT stack_id, string_agg(name, ';' ORDER BY from_leaf DESC) AS stack FROM stack_frames JOIN frames USING (frame_id)
GROUP BY stack_id) SELECT stack, sum({weight})::BIGINT FROM samples JOIN texts USING (stack_id) WHERE event = '{event}' GROUP BY stack"""


@pytest.mark.parametrize("event, weight", [("cpu", "count"), ("wall", "count"), ("alloc", "value")])
def test_samples_are_those_of_folded_stacks(sparkflame, fleet_tables, sql, event, weight):
    expected = folded(sparkflame, fleet_tables[0], "-e", event, "--bare-names")
    assert dict(sql(STACKS.format(event=event, weight=weight))) == expected
    assert sql(f"SELECT sum({weight}) FROM samples WHERE event = '{event}'")[0][0] == sum(expected.values())
    assert sql(f"SELECT {weight} FROM events WHERE event = '{event}'") == [(sum(expected.values()),)]


def test_labels_are_those_of_groups(sparkflame, fleet_tables, sql):
    grouped = folded(sparkflame, fleet_tables[0], "-e", "cpu", "--by", "executor,stage")
    expected = {}
    for stack, count in grouped.items():
        executor, stage = stack.split(";")[:2]
        key = (executor.removeprefix("executor ") if "[no" not in executor else None, int(stage[6:]) if "[no" not in stage else None)
        expected[key] = expected.get(key, 0) + count
    rows = sql("SELECT executor, stage, sum(count) FROM samples WHERE event = 'cpu' GROUP BY ALL")
    assert {(executor, stage): int(count) for executor, stage, count in rows} == expected and len(expected) > 6


def test_methods_are_summed_up_by_day(sql):
    """Computed from the other tables, without the recursion of a method being counted twice."""
    slow = """WITH costs AS (SELECT CAST(time AS DATE) AS day, application, event, stack_id,
        sum(CASE WHEN weight = 'value' THEN samples.value ELSE samples.count END) AS cost
        FROM samples JOIN events USING (event) GROUP BY ALL),
      named AS (SELECT DISTINCT stack_id, name FROM stack_frames JOIN frames USING (frame_id)),
      totals AS (SELECT day, application, event, name, sum(cost) AS total FROM costs JOIN named USING (stack_id) GROUP BY ALL),
      selfs AS (SELECT day, application, event, name, sum(cost) AS self FROM costs JOIN stacks USING (stack_id)
        JOIN frames ON frame_id = leaf_frame_id GROUP BY ALL)
      SELECT t.day, t.application, t.event, t.name, coalesce(self, 0)::BIGINT, total::BIGINT FROM totals t LEFT JOIN selfs s ON
        t.day = s.day AND t.application IS NOT DISTINCT FROM s.application AND t.event = s.event AND t.name = s.name ORDER BY ALL"""
    expected = sql(slow)
    assert sql("SELECT * EXCLUDE (block) FROM methods ORDER BY ALL") == expected and len(expected) > 20


def test_applications_are_counted(sql):
    counted = sql("""SELECT application, epoch_us(min(time)), epoch_us(max(time)), count(DISTINCT executor), count(DISTINCT stage),
                     count(DISTINCT task), sum(count)::BIGINT FROM samples GROUP BY 1 ORDER BY ALL""")
    rows = sql("SELECT * EXCLUDE (block) REPLACE (epoch_us(first_time) AS first_time, epoch_us(last_time) AS last_time) FROM applications ORDER BY ALL")
    assert rows == counted and len(counted) == 3


def test_ids_are_dense_and_sorted(sql):
    for query, key in (("(SELECT DISTINCT stack_id FROM stack_frames ORDER BY 1)", "stack_id"), ("frames", "frame_id")):
        assert sql(f"SELECT {key} FROM {query}") == [(i,) for i in range(sql(f"SELECT count(*) FROM {query}")[0][0])]
    assert sql("SELECT name FROM frames") == sorted(sql("SELECT name FROM frames"), key=lambda row: row[0].encode())
    assert sql("SELECT count(*) FROM samples WHERE stack_id NOT IN (SELECT stack_id FROM stack_frames)") == [(0,)]
    assert sql("SELECT count(*) FROM stack_frames WHERE stack_id NOT IN (SELECT stack_id FROM samples)") == [(0,)]
    assert sql("SELECT count(*) FROM stacks") == sql("SELECT count(DISTINCT stack_id) FROM stack_frames")


def test_frames_of_a_stack_count_down_to_the_innermost(sql):
    rows = sql("SELECT stack_id, from_leaf FROM stack_frames")
    for (stack, number), (next_stack, next_number) in zip(rows, rows[1:] + [(None, None)]):
        assert (next_stack == stack and next_number == number - 1) or (number == 0 and next_stack != stack)


def test_a_method_is_the_first_frame_of_its_name(sql):
    assert sql("SELECT count(*) FROM method_costs WHERE method_id NOT IN (SELECT min(frame_id) FROM frames GROUP BY name)") == [(0,)]


def test_a_block_is_the_content(binary, fleet_tables, tmp_path):
    """One for all tables of a profile, in whatever order it was read; another one if a single sample differs."""
    recordings, whole = fleet_tables

    def blocks(folder):
        return {block for path in folder.glob("*.parquet") for block in pq.read_table(path, columns=["block"])["block"].to_pylist()}

    def written(name, *paths):
        subprocess.run([binary, "merge", "-q", "-f", "parquet", *paths, "-o", tmp_path / name], check=True)
        return blocks(tmp_path / name)
    assert written("again", *reversed(recordings)) == blocks(whole) and len(blocks(whole)) == 1
    (tmp_path / "a.folded").write_text("a;b 1\n")
    (tmp_path / "b.folded").write_text("a;b 2\n")
    (tmp_path / "c.folded").write_text("a;c 1\n")
    found = set().union(*(written(name, tmp_path / f"{name}.folded") for name in "abc"))
    assert len(found) == 3 and not found & blocks(whole)


def test_classes_and_packages(sparkflame, tmp_path):
    stacks = b"a/b/C$D.run_[j];main (x.py:3);libc.so.6`read;plain;java/lang/Object[];Top.run_[i];.x_[j];a/b.c/d_[k] 1\n"
    done = sparkflame("convert", "-q", "-f", "parquet", "-o", tmp_path, "-", stdin=stacks)
    assert done.returncode == 0, done.stderr
    with duckdb.connect() as connection:
        for table in ("samples", "stack_frames", "frames", "method_costs", "events"):
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{tmp_path}/{table}.parquet'")
        rows = connection.execute(QUESTIONS).execute("SELECT name, class, package FROM frame_classes").fetchall()
    expected = {"a/b/C$D.run": ("a.b.C$D", "a.b"), "Top.run": ("Top", None)}
    assert {name: (owner, package) for name, owner, package in rows if owner or package} == expected and len(rows) == 8


def test_the_schema_has_a_version(fleet_tables):
    for path in fleet_tables[1].glob("*.parquet"):
        properties = pq.ParquetFile(path).metadata.metadata
        assert properties[b"sparkflame.schema"] == b"2.0" and properties[b"sparkflame.table"] == path.stem.encode()


def test_the_schema_is_that_of_its_version(data, fleet_tables):
    """Tables that were written when the version was new have the columns of those written now, and DuckDB still reads them."""
    for path in fleet_tables[1].glob("*.parquet"):
        old = data / "parquet" / path.name
        assert pq.ParquetFile(old).metadata.metadata[b"sparkflame.schema"] == b"2.0"
        assert pq.read_schema(old).remove_metadata() == pq.read_schema(path).remove_metadata()
        assert duckdb.sql(f"SELECT count(*) FROM '{old}'").fetchall() == [(pq.read_metadata(old).num_rows,)]


def test_what_is_refused(sparkflame, fleet_tables, tmp_path):
    one = fleet_tables[0][0]
    (tmp_path / "file").write_text("x")
    for words, text in ((["-f", "parquet"], b"tables need a folder"), (["-f", "parquet", "--table", "none", "-o", "out"], b"there are: samples"),
                        (["-f", "csv", "--table", "samples"], b"has no tables"), (["-f", "parquet", "-o", tmp_path / "file"], b"is not a folder")):
        done = sparkflame("convert", one, *words)
        assert done.returncode == 2 and text in done.stderr, done.stderr


def test_a_profile_without_samples_of_an_event_is_no_table(sparkflame, fleet_tables, tmp_path):
    done = sparkflame("convert", fleet_tables[0][0], "-e", "lock", "-o", tmp_path / "out.parquet")
    assert done.returncode == 2 and b"no samples of event" in done.stderr and list((tmp_path / "out.parquet").iterdir()) == []


def test_a_failure_leaves_the_tables_of_before(sparkflame, fleet_tables, tmp_path):
    """A table that cannot be written, in the middle of them."""
    recordings, out = fleet_tables[0], tmp_path / "tables"
    assert sparkflame("convert", "-q", "-f", "parquet", recordings[0], "-o", out).returncode == 0
    (out / "frames.parquet").unlink()
    (out / "frames.parquet").mkdir()
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    done = sparkflame("convert", "-q", "-f", "parquet", recordings[1], "-o", out)
    assert done.returncode != 0 and b"frames.parquet: it is a directory" in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before and len(before) == 5
    (out / "frames.parquet").rmdir()
    assert sparkflame("convert", "-q", "-f", "parquet", recordings[1], "-o", out).returncode == 0
    assert len(list(out.iterdir())) == 6 and (out / "samples.parquet").read_bytes() != before["samples.parquet"]
