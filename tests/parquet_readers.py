"""What pyarrow and DuckDB read of the tables of parquet_tables.py, and whether that is right."""

import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from parquet_tables import DATE, INT32, INT64, TEXT, TIMESTAMP

ARROW = {INT32: pa.int32(), INT64: pa.int64(), TEXT: pa.string(), TIMESTAMP: pa.timestamp("us", tz="UTC"), DATE: pa.date32()}


def by_pyarrow(path, columns):
    table = pq.read_table(path)
    assert [field.type for field in table.schema] == [ARROW[kind] for kind, _, _ in columns]
    assert [field.nullable for field in table.schema] == [optional for _, _, optional in columns]
    plain = {INT32: pa.int32(), DATE: pa.int32()}
    return [table.column(i).to_pylist() if kind == TEXT else table.column(i).cast(plain.get(kind, pa.int64())).to_pylist()
            for i, (kind, _, _) in enumerate(columns)]


def by_duckdb(path, columns):
    as_number = {TIMESTAMP: "epoch_us(c{0})", DATE: "datediff('day', DATE '1970-01-01', c{0})"}
    wanted = ", ".join(as_number.get(kind, "c{0}").format(i) for i, (kind, _, _) in enumerate(columns))
    with duckdb.connect() as connection:
        connection.execute("SET threads=1")
        rows = connection.execute(f"SELECT {wanted} FROM read_parquet('{path}', file_row_number=true) ORDER BY file_row_number").fetchall()
    return [list(column) for column in zip(*rows)] or [[] for _ in columns]


def check_statistics(path, columns, expected):
    """Those of each row group: readers skip groups by them. Texts may be bounds only."""
    metadata, begin = pq.read_metadata(path), 0
    for group in range(metadata.num_row_groups):
        end = begin + metadata.row_group(group).num_rows
        for i, (kind, _, _) in enumerate(columns):
            values = [value for value in expected[i][begin:end] if value is not None]
            found = metadata.row_group(group).column(i).statistics
            if found is None:
                continue
            assert found.null_count == end - begin - len(values), (group, i)
            if found.has_min_max and kind in (INT32, INT64):
                assert (found.min, found.max) == (min(values), max(values)), (group, i)
            if found.has_min_max and kind == TEXT:
                texts = [value.encode() for value in values]
                assert found.min.encode() <= min(texts) and max(texts) <= found.max.encode(), (group, i)
        begin = end
    assert begin == len(expected[0])


def check_filters(path, columns, expected, dice):
    """Rows that readers look up by a value, for which they use statistics and dictionaries."""
    with duckdb.connect() as connection:
        connection.execute("SET threads=1")
        for i, (kind, _, _) in enumerate(columns):
            values = [value for value in expected[i] if value is not None]
            if kind not in (INT32, INT64, TEXT) or not values:
                continue
            for wanted in dice.sample(values, min(2, len(values))) + ["none of them" if kind == TEXT else 77_777]:
                count = values.count(wanted)
                assert pq.read_table(path, columns=[f"c{i}"], filters=[(f"c{i}", "==", wanted)]).num_rows == count, (i, wanted)
                query = f"SELECT count(*) FROM read_parquet('{path}') WHERE c{i} = ?"
                assert connection.execute(query, [wanted]).fetchall() == [(count,)], (i, wanted)


def check(path, columns, expected, seed):
    assert by_pyarrow(path, columns) == expected
    assert by_duckdb(path, columns) == expected
    check_statistics(path, columns, expected)
    check_filters(path, columns, expected, random.Random(seed))
