#!/usr/bin/env python3
"""How large the tables of an application are beside its recordings: parquet_size.py [FOLDER…] [--rounds N…] [--build FOLDER]
[--resolution SECONDS].

Each folder has the recordings of an application as the plugin ships them. Without one, the job of `make demo` runs, so many rounds of it: SQL and
Python in a driver and two executors of one processor each. Sizes of recordings are those after gzip -6, object by object. --keep FOLDER keeps them."""

import argparse
import gzip
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import demo  # noqa: E402

GOAL = 0.3


def compressed_size(path):
    data = path.read_bytes()
    return len(data) if path.name.endswith(".gz") else len(gzip.compress(data, 6))


def recordings_of(folder):
    return [path for path in sorted(folder.rglob("*.jfr*")) if not path.name.startswith(".")]


def tables_of(build, folder, resolution, out):
    """{table: bytes}"""
    subprocess.run([build / "sparkflame", "merge", "-q", "-f", "parquet", "--resolution", str(resolution), "-o", out, folder], check=True)
    return {path.stem: path.stat().st_size for path in sorted(out.glob("*.parquet"))}


def row(build, folder, resolution, scratch):
    """(a line of the table, whether the goal is reached)"""
    paths = recordings_of(folder)
    compressed = sum(map(compressed_size, paths))
    tables = tables_of(build, folder, resolution, scratch)
    share = sum(tables.values()) / compressed
    parts = ", ".join(f"{name} {size / compressed:.3f}" for name, size in sorted(tables.items(), key=lambda item: -item[1])[:5])
    raw = sum(path.stat().st_size for path in paths)
    name = folder.parent.parent.name if folder.parent.name == "recordings" else folder.name
    return (f"| {name} | {len(paths)} | {raw / 1e6:.2f} | {compressed / 1e6:.2f} | {sum(tables.values()) / 1e6:.2f} | {share:.2f} | {parts} |",
            share <= GOAL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--resolution", type=float, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        home = arguments.keep.resolve() if arguments.keep else scratch
        folders = arguments.folders or [demo.run_job(arguments.build.resolve(), home / f"rounds-{rounds}", ROOT / "bench" / "parquet_job.py", rounds)
                                        for rounds in arguments.rounds]
        print("| application | objects | MB | MB with gzip | MB of tables | tables / gzip | of which |\n|---|---|---|---|---|---|---|")
        found = [row(arguments.build, folder, arguments.resolution, scratch / f"tables-{number}") for number, folder in enumerate(folders)]
        for line, _ in found:
            print(line)
    return 0 if all(good for _, good in found) else 1


if __name__ == "__main__":
    sys.exit(main())
