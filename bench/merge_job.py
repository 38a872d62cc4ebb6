#!/usr/bin/env python3
"""Merge thousands of objects by a Spark job and on one machine, and compare each output byte by byte: merge_job.py [--objects N] [--mb N]
[--from FOLDER] [--formats NAME…] [--keep FOLDER] [--build FOLDER] [--task-bytes BYTES].

Objects are made of the recordings in the folder (default: of examples/word_counts.jfr.gz), several chunks each until they have the size, in the layout in
which executors ship them. The job runs on local-cluster, with two executors of one processor. CPU time of the job is that of all its processes, which start
cold. Exit status 1: an output differs, or the sum of samples is not that of the parts."""

import argparse
import gzip
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import fetch_spark  # noqa: E402

OUTPUTS = {"folded": ["-e", "cpu"], "pprof": [], "html": [], "jfr": [], "speedscope": [], "parquet": []}
EXECUTORS = 40
VERSION = "4"


def sources(folder):
    if folder:
        return [path.read_bytes() for path in sorted(folder.rglob("*.jfr"))]
    return [gzip.decompress((ROOT / "examples" / "word_counts.jfr.gz").read_bytes())]


def make(folder, recordings, count, size):
    """Object i begins with another recording than object i + 1. Returns how often each recording is there, and the bytes."""
    used, total, at = [0] * len(recordings), 0, 0
    for number in range(count):
        home = folder / "team" / f"app-{number % 4}" / str(number // 4 % EXECUTORS + 1)
        home.mkdir(parents=True, exist_ok=True)
        with open(home / f"{number // (4 * EXECUTORS) + 1:06}.jfr", "wb") as out:
            while out.tell() < size:
                out.write(recordings[at % len(recordings)])
                used[at % len(recordings)] += 1
                at += 1
            total += out.tell()
        at += 1
    return used, total


def cpu_of(call):
    """(what it returns, CPU seconds of processes that ended meanwhile, seconds)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    found = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def start_job(build, scratch, log, name, options, task_bytes, objects, out):
    home = fetch_spark.fetch(VERSION)
    words = [home / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]", "--class", "org.sparkflame.MergeProfiles", "--conf", "spark.ui.enabled=false",
             "--conf", f"spark.local.dir={scratch / 'local'}", build / "sparkflame-plugin.jar", "--sparkflame", build / "sparkflame", "--task-bytes",
             str(task_bytes), "-f", name, objects.as_uri(), out.as_uri(), "--", *options]
    return subprocess.Popen(words, cwd=scratch, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"})


def run_job(build, scratch, *arguments):
    with open(scratch / "job.log", "w", encoding="utf-8") as log:
        if start_job(build, scratch, log, *arguments).wait() != 0:
            sys.exit(f"the job failed: {(scratch / 'job.log').read_text(encoding='utf-8')[-3000:]}")


def contents(path):
    return {each.name: each.read_bytes() for each in sorted(path.iterdir()) if not each.name.startswith(".")} if path.is_dir() else path.read_bytes()


def samples_in(build, path):
    """Of CPU time, as folded stacks have them."""
    done = subprocess.run([build / "sparkflame", "convert", "-q", "-e", "cpu", "-f", "folded", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return sum(int(line.rsplit(b" ", 1)[1]) for line in done.stdout.splitlines())


def check_total(build, scratch, recordings, used, merged):
    """The sum of the parts: that of each recording, as often as it is there."""
    expected = 0
    for recording, times in zip(recordings, used):
        (scratch / "part.jfr").write_bytes(recording)
        expected += times * samples_in(build, scratch / "part.jfr")
    found = sum(int(line.rsplit(b" ", 1)[1]) for line in merged.splitlines())
    print(f"samples: {found}, of the parts {expected}", flush=True)
    return found == expected


def compare(arguments, scratch, objects, name):
    """(whether both are the same, bytes that the job wrote)"""
    build, own, theirs = arguments.build.resolve(), scratch / f"own.{name}", scratch / f"job.{name}"
    words = [build / "sparkflame", "merge", "-q", "-f", name, *OUTPUTS[name], "-o", own, objects]
    _, cpu, wall = cpu_of(lambda: subprocess.run(words, stdin=subprocess.DEVNULL, check=True))
    _, job_cpu, job_wall = cpu_of(lambda: run_job(build, scratch, name, OUTPUTS[name], arguments.task_bytes, objects, theirs))
    found = contents(theirs)
    same = found == contents(own)
    size = sum(map(len, found.values())) if isinstance(found, dict) else len(found)
    print(f"| {name} | {cpu:.1f} | {wall:.0f} | {job_cpu:.1f} | {job_wall:.0f} | {job_cpu / cpu:.2f} | {size / 1e6:.2f} | {'same' if same else 'DIFFERENT'} |", flush=True)
    return same, found


def run(arguments, scratch):
    recordings = sources(arguments.source)
    objects = scratch / "objects"
    used, total = make(objects, recordings, arguments.objects, arguments.mb * 1_000_000 // arguments.objects)
    print(f"{arguments.objects} objects, {total / 1e9:.2f} GB, of {len(recordings)} recordings\n", flush=True)
    good = True
    print("| output | CPU s of one machine | s | CPU s of the job, cold | s | CPU of the job / one machine | MB | bytes |\n|---|---|---|---|---|---|---|---|", flush=True)
    for name in arguments.formats:
        same, found = compare(arguments, scratch, objects, name)
        good &= same
        if name == "folded":
            good &= check_total(arguments.build.resolve(), scratch, recordings, used, found)
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--mb", type=int, default=4100)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--formats", nargs="+", choices=OUTPUTS, default=list(OUTPUTS))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--task-bytes", type=int, default=64 << 20)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True)
        return run(arguments, arguments.keep.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        return run(arguments, pathlib.Path(scratch))


if __name__ == "__main__":
    sys.exit(main())
