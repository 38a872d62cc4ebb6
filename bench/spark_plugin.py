#!/usr/bin/env python3
"""Measure the Spark plugin beside async-profiler as Spark's own profiler plugin drives it: spark_plugin.py [--runs N]

The same fixed work (spark_work.py) runs in turn in one executor of two processors with each of them, by the arguments that are
the default of Spark's plugin: same events, same intervals. java/PeerPlugin.java gives async-profiler (from Maven) the commands
that Spark's plugin gives it. For each: CPU time in handlers (handler_clock.c) and of its own threads; samples of each event;
bytes for each minute of the executor, raw and gzipped; and, with --close, how many of the tasks that the event log has are named in
the recording, and how many ticks of the wall clock became samples of the job's own threads. --keep FOLDER keeps the recordings
and the figures, and a further call with it adds to them: ten runs of each need not be made at once."""

import argparse
import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests"))
import jvm  # noqa: E402
import jvm_agent  # noqa: E402
import spark  # noqa: E402

ARGUMENTS = "event=wall,interval=10ms,alloc=2m,lock=10ms,chunktime=300s"
THREADS = {"none": [], "ours": ["Sparkflame", "sparkflame"], "peer": ["Async-profiler", "profilerOutput"]}
EVENTS = ("wall", "alloc", "lock")
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "m": 60}
SAMPLE = re.compile(r'startTime = (\S+).*\n  sampledThread = "(.*)" \((.*)\)\n.*\n  samples = ([\d,]+)\n  timeSpan = ([\d.]+) (\w+)')


def build_peer(options, folder):
    """Class path of the peer's plugin, and its library."""
    library = next(folder.rglob("libasyncProfiler.so"), None) or pathlib.Path(jvm_agent.peer_library(folder))
    archive = next(folder.glob("async-profiler-*.jar"))
    jars = spark.fetch_spark.fetch(options.spark) / "jars"
    subprocess.run([jvm.system_home() / "bin" / "javac", "-nowarn", "-cp", f"{jars}/*:{archive}", "-d", folder / "classes",
                    HERE / "java" / "PeerPlugin.java"], check=True, stdin=subprocess.DEVNULL)
    jar = folder / "peer.jar"
    with zipfile.ZipFile(jar, "w") as output:
        for path in (folder / "classes").iterdir():
            output.write(path, path.name)
    return f"{jar}:{archive}", library


def settings(name, options, folder, peer):
    if name == "none":
        return {"spark.plugins": None}
    if name == "ours":
        return {"spark.sparkflame.args": options.arguments, "spark.sparkflame.interval": f"{options.interval}s",
                "spark.sparkflame.outputDir": (folder / "out").as_uri(), "spark.sparkflame.driver.enabled": "false"}
    return {"spark.plugins": "PeerPlugin", "spark.driver.extraClassPath": peer[0], "spark.executor.extraClassPath": peer[0],
            "spark.peer.library": peer[1], "spark.peer.args": options.arguments, "spark.peer.seconds": options.interval,
            "spark.peer.localDir": folder / "local", "spark.peer.outputDir": (folder / "out").as_uri()}


def count_samples(recordings, event):
    """Weights of the samples, as the readers of both see them: ticks, bytes or nanoseconds; and how many there are."""
    done = subprocess.run([HERE.parent / "build" / "sparkflame", "convert", "-q", "-e", event, "-f", "folded", *recordings],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines())


def seconds_of(text):
    """Of the day, of `12:34:56.789`."""
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def look_at(recordings):
    """What the JDK prints of them: the numbers of all tasks that are named, and for each thread its name, the seconds from its
    first wall-clock sample to its last, and how many these are."""
    tasks, threads = set(), {}
    for path in recordings:
        text = subprocess.run([jvm.system_home() / "bin" / "jfr", "print", "--events", "sparkflame.Labels,WallClockSample",
                               "--stack-depth", "1", path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
        tasks.update(map(int, re.findall(r"(?:\btask=|\(TID )(\d+)", text)))
        for start, name, number, count, span, unit in SAMPLE.findall(text):
            begin = seconds_of(start)
            end = begin + float(span) * UNITS[unit]
            known = threads.get(number, (name, begin, end, 0))
            threads[number] = name, min(known[1], begin), max(known[2], end), known[3] + int(count.replace(",", ""))
    return tasks, [(name, end - begin, count) for name, begin, end, count in threads.values()]


def recordings_of(folder):
    return [path for path in sorted((folder / "out").rglob("*.jfr")) if path.is_file()]


def look_closely(name, result, folder, options):
    """Tasks that are named; and how many ticks of the wall clock became samples in the lives of the job's own threads: that of
    one tick more than lies between its first sample and its last. Lives themselves differ from run to run."""
    tasks, threads = look_at(recordings_of(folder))
    finished = set(spark.finished_tasks(folder / "run"))
    result["tasks_named"] = 100 * len(finished & tasks) / len(finished)
    threads = [(seconds, count) for thread, seconds, count in threads if not thread.startswith(tuple(THREADS[name]))]
    result["job_wall"] = sum(count for _, count in threads)
    result["thread_s"] = sum(seconds + options.tick for seconds, _ in threads)
    result["ticks_seen"] = 100 * result["job_wall"] * options.tick / result["thread_s"]


def measure(name, options, folder, peer):
    used, clock = folder / "used.json", folder / "clock.txt"
    folder.mkdir()
    done = spark.submit(options.spark, folder / "run", HERE / "spark_work.py", options.rounds, used, *THREADS[name],
                        master="local-cluster[1,2,1024]",
                        conf={**settings(name, options, folder, peer), "spark.executorEnv.LD_PRELOAD": options.clock,
                              "spark.executorEnv.HANDLER_CLOCK": clock, "spark.log.level": "WARN"})
    assert done.returncode == 0, done.log[-5000:]
    result = json.loads(used.read_text())
    result["folder"] = folder.name
    recordings = recordings_of(folder) if name != "none" else []
    if recordings:
        calls, total_ns, _, median_ns, clock_ns = map(int, clock.read_text().split())
        result.update(signals=calls, handler_ms=(total_ns - calls * clock_ns) / 1e6, median_us=(median_ns - clock_ns) / 1e3,
                      own_threads_ms=sum(result["threads"].values()) / 1e6)
        result["both_ms"] = result["handler_ms"] + result["own_threads_ms"]
        minutes = result["seconds"] / 60
        result["kb_minute"] = sum(path.stat().st_size for path in recordings) / 1000 / minutes
        result["gz_kb_minute"] = sum(len(gzip.compress(path.read_bytes())) for path in recordings) / 1000 / minutes
        result.update({event: count_samples(recordings, event) for event in EVENTS})
        result["tasks"] = len(spark.finished_tasks(folder / "run"))
    result["cpu_s"] = result["process"] / 100
    return result


def show(name, results):
    keys = [key for key in ("cpu_s", "seconds", "signals", "handler_ms", "median_us", "own_threads_ms", "both_ms", *EVENTS, "job_wall",
                            "thread_s", "ticks_seen", "kb_minute", "gz_kb_minute", "tasks", "tasks_named") if key in results[0]]
    for key in keys:
        values = [result[key] for result in results if key in result]
        print(f"{name:6} {key:16} {len(values):2} runs, median {statistics.median(values):12.2f}  least {min(values):12.2f}  most {max(values):12.2f}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=8, help="of the fixed work in each run (8)")
    parser.add_argument("--interval", type=int, default=30, help="seconds between two shipments (30, as both have it)")
    parser.add_argument("--spark", default="4")
    parser.add_argument("--arguments", default=ARGUMENTS)
    parser.add_argument("--cases", default="ours,peer", help="also none, separated by commas (ours,peer)")
    parser.add_argument("--close", action="store_true", help="look for tasks and threads in all recordings there are, also with "
                        "--runs 0: slow, the JDK prints all samples")
    parser.add_argument("--tick", type=float, default=0.01, help="seconds between two wall-clock samples, by the arguments (0.01)")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for recordings and results.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or pathlib.Path(name)
        folder.mkdir(exist_ok=True)
        options.clock = jvm_agent.compile_clock(folder)
        peer = build_peer(options, folder)
        kept = folder / "results.json"
        results = json.loads(kept.read_text()) if kept.exists() else {}
        for _ in range(options.runs):
            for case in options.cases.split(","):
                results.setdefault(case, []).append(measure(case, options, folder / f"{case}-{time.time_ns()}", peer))
            kept.write_text(json.dumps(results))
        for case, found in results.items():
            for result in found if options.close and case != "none" else []:
                if "ticks_seen" not in result:
                    look_closely(case, result, folder / result["folder"], options)
            show(case, found)
        kept.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
