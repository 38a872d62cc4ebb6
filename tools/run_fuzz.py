#!/usr/bin/env python3
"""Run the fuzz targets of build-asan: one per reader, over its sample data, and those with a separate file."""

import argparse
import concurrent.futures
import pathlib
import shutil
import sys
import tempfile

from check_tables import names_in
from test_results import ROOT, Results, environment, run
from test_steps import ASAN_SETUP, JOBS, SANITIZERS, meson_build

FOLDER = ROOT / "build-asan" / "fuzz"
# An input stays small, so that a run tries many.
MOST_INPUT_BYTES = 64 * 1024
# But the memory that a Python's stacks take, and a whole event log.
MOST_BYTES_OF = {"python_memory": 96 * 1024, "event_log": 256 * 1024}
# For one input; wide, since a sanitizer on a busy machine is slow.
INPUT_LIMIT_SECONDS = 300


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="inputs per target")
    parser.add_argument("--seconds", type=int, default=0, metavar="N", help="seconds per target")
    parser.add_argument("--only", action="append", metavar="NAME", help="this target (may be repeated)")
    parser.add_argument("--corpus", metavar="FOLDER", help="keep what is found here, to go on from it next time")
    parser.add_argument("--build", action="store_true", help="build the targets first")
    chosen = parser.parse_args()
    if not chosen.runs and not chosen.seconds:
        parser.error("give --runs or --seconds")
    return chosen


def targets():
    own = {path.stem[len("fuzz_"):] for path in (ROOT / "fuzz").glob("fuzz_*.c")} - {"reader"}
    own |= {path.stem for path in (ROOT / "fuzz").glob("agent_*.c")}
    return names_in("READER", "src/formats/reader_table.def") + sorted(own)


def prepare(name, corpus):
    """Seeds that are made, not kept."""
    corpus.mkdir(parents=True, exist_ok=True)
    if name == "elf":
        run(["clang", "-shared", "-fPIC", "-nostdlib", "-Os", "-funwind-tables", "-o", corpus / "seed",
             ROOT / "fuzz" / "elf_seed.c"])


def seed_folders(name):
    return [folder for folder in (ROOT / "tests" / "data" / name, ROOT / "fuzz" / "seeds" / name) if folder.is_dir()]


def check_seeds(name):
    """libFuzzer cuts what is too long without a word."""
    limit = MOST_BYTES_OF.get(name, MOST_INPUT_BYTES)
    return [f"{path} has more than {limit} bytes, the limit of fuzz_{name}" for folder in seed_folders(name)
            for path in sorted(folder.iterdir()) if path.stat().st_size > limit]


def run_target(name, corpus, chosen):
    """(exit status, output) of one target. libFuzzer writes into its first folder, so that is a scratch one."""
    artifacts = ROOT / "build-asan" / "fuzz-findings"
    artifacts.mkdir(parents=True, exist_ok=True)
    prepare(name, corpus)
    command = [FOLDER / f"fuzz_{name}", f"-artifact_prefix={artifacts}/{name}-", f"-max_len={MOST_BYTES_OF.get(name, MOST_INPUT_BYTES)}",
               f"-timeout={INPUT_LIMIT_SECONDS}", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1",
               "-close_fd_mask=1"]
    if chosen.runs:
        # The same inputs each time: a check that passes once passes again.
        command += [f"-runs={chosen.runs}", "-seed=1"]
    if chosen.seconds:
        command += [f"-max_total_time={chosen.seconds}"]
    command += [corpus, *seed_folders(name)]
    too_long = check_seeds(name)
    if too_long:
        return 1, "ERROR: " + "\n".join(too_long)
    sanitizers = dict(SANITIZERS)
    if name.startswith("agent_"):
        # With the agent linked, 32 bytes of libFuzzer's main() are reported as a leak at the end.
        sanitizers["LSAN_OPTIONS"] = "leak_check_at_exit=0"
    return run(command, env=environment(**sanitizers), limit_seconds=max(3600, 3 * chosen.seconds))


def telling(output):
    """The report of a failed run without the progress lines before it."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if "ERROR:" in line or "runtime error" in line), 0)
    return "\n".join(lines[first:first + 40])


def main():
    chosen = arguments()
    if chosen.build and not meson_build(Results(), "build-asan", *ASAN_SETUP, env=environment(CC="clang")):
        return 1
    names = [name for name in targets() if not chosen.only or name in chosen.only]
    scratch = pathlib.Path(chosen.corpus).resolve() if chosen.corpus else pathlib.Path(tempfile.mkdtemp())
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = list(pool.map(lambda name: run_target(name, scratch / name, chosen), names))
    for number, (name, (status, output)) in enumerate(zip(names, runs), 1):
        failed += status != 0
        executed = [line for line in output.splitlines() if "number_of_executed_units" in line]
        if status != 0:
            print("\n".join("# " + line for line in telling(output).splitlines()))
        print(f"{'ok' if status == 0 else 'not ok'} {number} - {name}", *executed, flush=True)
    if not chosen.corpus:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"1..{len(names)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
