#!/usr/bin/env python3
"""Compare the stacks that the agent and async-profiler could not walk, on a CPU-bound program and on a Spark SQL job, and look
whether samples of task threads carry the right task: agent_stacks.py [--peer LIBRARY] [--spark 4] [--only work,spark,tags].

One rule judges both outputs: a stack failed if it has an error frame, or if the caller of its outermost frame is unknown. Of how many: all signals that reached the handler (bench/handler_clock.c counts), so what a profiler
dropped counts as failed, too. Tasks are checked by Spark's event log."""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
for folder in ("tests", "bench", "tools"):
    sys.path.insert(0, str(ROOT / folder))
import fetch_spark  # noqa: E402
import jvm  # noqa: E402
import jvm_agent as bench  # noqa: E402
from test_jvm_agent_jfr import events, methods  # noqa: E402

FAILED = re.compile(r"\[(break_|unknown_|no_Java|not_walkable|truncated|stale|deopt|storage|GC_active|thread_exit|error)")
JOB = """
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.master("local[2]").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
rows = spark.range(0, ROWS, 1, 4).withColumn("k", F.col("id") % 5000).withColumn("h", F.sha2(F.col("id").cast("string"), 256))
sums = rows.groupBy("k").agg(F.sum("id").alias("s"), F.max("h").alias("h"))
print(rows.join(sums.withColumnRenamed("h", "g"), "k").where("substr(h, 1, 1) < substr(g, 2, 1)").orderBy("s", "id").limit(9).collect()[0])
spark.stop()
"""


def is_failed(frames):
    return frames[0] == "[unknown]" or any(FAILED.match(frame) for frame in frames)


def judge(name, profile, clock, worst):
    """Prints one line and returns the share of failures."""
    signals = int(clock.read_text().split()[0])
    stacks = jvm.read_folded(profile)
    taken = sum(count for _, count in stacks)
    failed = collections.Counter()
    for frames, count in stacks:
        if is_failed(frames):
            failed[next((frame for frame in frames if FAILED.match(frame)), frames[0])] += count
    dropped = max(signals - taken, 0)
    share = (sum(failed.values()) + dropped) / signals
    print(f"{name:32} {signals} signals, {dropped} dropped, {sum(failed.values())} failed: {share:.2%} {failed.most_common(worst)}",
          flush=True)
    return share


def environment(folder):
    clock = folder / "clock.txt"
    clock.unlink(missing_ok=True)
    return {**os.environ, "LD_PRELOAD": str(folder / "handler_clock.so"), "HANDLER_CLOCK": str(clock)}, clock


def run_work(options, library, folder):
    profile = folder / "work.collapsed"
    env, clock = environment(folder)
    subprocess.run([options.home / "bin" / "java", f"-agentpath:{library}=start,event=cpu,interval=1ms,file={profile}", "-cp",
                    str(folder), "FixedWork"], env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return profile, clock


def submit(options, agent, folder, env, settings=()):
    """Runs the SQL job in a driver with two task threads."""
    job = folder / "job.py"
    job.write_text(JOB.replace("ROWS", str(options.rows)))
    spark = fetch_spark.fetch(options.spark)
    env = {**env, "JAVA_HOME": str(options.home), "SPARK_HOME": str(spark), "PYSPARK_PYTHON": sys.executable}
    subprocess.run([spark / "bin" / "spark-submit", "--driver-java-options", f"-agentpath:{agent}", *settings, str(job)], env=env,
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_spark(options, library, folder):
    profile = folder / "spark.collapsed"
    env, clock = environment(folder)
    env["SPARK_SUBMIT_OPTS"] = ""
    submit(options, f"{library}=start,event=cpu,interval=1ms,file={profile}", folder, env)
    return profile, clock


def tasks_of(folder):
    """{task id: (stage, launch ms, finish ms)} of the event log."""
    tasks = {}
    for path in (folder / "events").rglob("*"):
        for line in path.read_text().splitlines() if path.is_file() and not path.name.startswith((".", "appstatus")) else []:
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd":
                info = event["Task Info"]
                tasks[info["Task ID"]] = (event["Stage ID"], info["Launch Time"], info["Finish Time"])
    return tasks


def milliseconds(text):
    """Of a time as `jfr print` writes it."""
    whole, fraction, zone = re.fullmatch(r"(.{19})(\.\d+)?(Z|[+-]\d\d:\d\d)", text).groups()
    moment = datetime.datetime.fromisoformat(whole + ("+00:00" if zone == "Z" else zone))
    return moment.timestamp() * 1000 + float(fraction or 0) * 1000


def check_tags(options, folder):
    recording = folder / "tags.jfr"
    (folder / "events").mkdir()
    settings = ["--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir=file://{folder}/events", "--conf",
                "spark.eventLog.compress=false"]
    submit(options, f"{jvm.LIBRARY}=start,event=cpu,interval=5ms,file={recording}", folder, dict(os.environ), settings)
    tasks = tasks_of(folder)
    changes = collections.defaultdict(list)
    for event in events(recording, "sparkflame.Labels"):
        changes[event["eventThread"]["osThreadId"]].append((milliseconds(event["startTime"]), event["labels"]))
    right, wrong = 0, collections.Counter()
    for sample in events(recording, "jdk.ExecutionSample"):
        if not any(name.endswith("Executor$TaskRunner.run") for name in methods(sample)):
            continue
        time = milliseconds(sample["startTime"])
        tag = max((change for change in changes[sample["sampledThread"]["osThreadId"]] if change[0] <= time), default=(0, ""))[1]
        labels = dict(part.split("=", 1) for part in tag.split(";") if "=" in part)
        stage, launch, finish = tasks.get(int(labels.get("task", -1)), (None, 0, 0))
        if stage is not None and str(stage) == labels["stage"] and launch - 100 <= time <= finish + 100:
            right += 1
        else:
            wrong[tag or "no tag"] += 1
    share = right / max(right + sum(wrong.values()), 1)
    print(f"tags: {right} of {right + sum(wrong.values())} samples of task threads are right ({share:.2%}), {len(tasks)} tasks; "
          f"others: {wrong.most_common(5)}", flush=True)
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=pathlib.Path, help="async-profiler's library (default: from Maven)")
    parser.add_argument("--version", default="17", help="release of Java (17)")
    parser.add_argument("--spark", default="4", help="release of Spark: 3.5 or 4 (4)")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="work,spark,tags")
    options = parser.parse_args()
    options.home = jvm.home_of(options.version)
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = options.peer or bench.peer_library(folder)
        bench.compile_clock(folder)
        jvm.compile_classes(folder, "../../bench/java/FixedWork")
        for kind, run in (("work", run_work), ("spark", run_spark)):
            shares = collections.defaultdict(list)
            for _ in range(options.rounds if kind in options.only.split(",") else 0):
                for who, library in (("ours", jvm.LIBRARY), ("async-profiler", peer)):
                    shares[who].append(judge(f"{kind} {who}", *run(options, library, folder), 4))
            if shares:
                ratio = sum(shares["ours"]) / max(sum(shares["async-profiler"]), 1e-9)
                print(f"{kind}: ours fails {ratio:.2f} times as often")
                good = good and ratio <= 0.5
        if "tags" in options.only.split(","):
            good = check_tags(options, folder) >= 0.99 and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
