#!/usr/bin/env python3
"""Random tables by our Parquet writer, read by pyarrow and DuckDB, until the time is over: fuzz_parquet.py --seconds N [--seed N] [--build FOLDER].

The same tables as in tests/test_parquet.py, from another seed on, and now and then larger ones, of many rows or several row groups. Prints the seed of
one that does not come back, and leaves its file."""

import argparse
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import parquet_readers  # noqa: E402
import parquet_tables  # noqa: E402

FIRST_SEED = 1000
LARGE = [65_535, 65_536, 3 * 65_536 + 7, parquet_tables.GROUP_ROWS - 1, parquet_tables.GROUP_ROWS, parquet_tables.GROUP_ROWS + 129]
# One in so many is large: they take minutes.
LARGE_EVERY = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    binary, path = arguments.build / "sparkflame", arguments.build / "fuzz.parquet"
    end, seed, rows = time.monotonic() + arguments.seconds, arguments.seed, 0
    while time.monotonic() < end:
        is_large = (seed - arguments.seed) % LARGE_EVERY == LARGE_EVERY - 1
        try:
            columns, expected = parquet_tables.random_table(binary, path, seed, LARGE if is_large else parquet_tables.SIZES)
            parquet_readers.check(path, columns, expected, seed)
        except Exception:
            print(f"seed {seed}: {path} does not have what was written", flush=True)
            raise
        rows += len(expected[0])
        seed += 1
    path.unlink(missing_ok=True)
    print(f"{seed - arguments.seed} tables with {rows} rows of {len(parquet_tables.TYPES) * 3} columns came back")


if __name__ == "__main__":
    main()
