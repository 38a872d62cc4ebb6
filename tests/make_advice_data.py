"""Makes a folder of tests/data/advice from what tools/riddles.py, or a job of tests/spark_jobs/advice.py run the same way,
left behind: make_advice_data.py SPARKFLAME FROM TO [PATH=OTHER…]. Keeps what the rules look at, and nothing of the machine:
each path is replaced by another one of the same length, so that recordings stay whole."""

import gzip
import json
import pathlib
import subprocess
import sys

PATHS = []
UNWANTED_EVENTS = ("TaskStart", "TaskGettingResult", "UnpersistRDD", "BlockUpdated", "AdaptiveSQLMetricUpdates")
PROPERTIES = ("spark.executor.memory", "spark.app.name", "spark.master", "spark.app.id")
COUNTERS = ("Python workers",)
STEP_MS = 5000
MOST_LOG_BYTES = 1_000_000


def clean(data):
    for path, other in PATHS:
        assert len(path) == len(other)
        data = data.replace(path, other)
    return data


def store(path, data):
    path.write_bytes(gzip.compress(clean(data), 9, mtime=0))


def shrink_event(event):
    if event["Event"].endswith(UNWANTED_EVENTS):
        return None
    if event["Event"].endswith("EnvironmentUpdate"):
        properties = {key: value for key, value in event["Spark Properties"].items() if key in PROPERTIES}
        return {"Event": event["Event"], "JVM Information": event["JVM Information"], "Spark Properties": properties}
    for info in [event.get("Task Info"), event.get("Stage Info"), *event.get("Stage Infos", [])]:
        if info is not None:
            info["Accumulables"] = [one for one in info.get("Accumulables", [])
                                    if "Task Info" not in event and one.get("Name", "").endswith(COUNTERS)]
            info["Details"] = ""
            info.pop("RDD Info", None) if "Task Info" in event else None
    event.pop("Properties", None) if "Job ID" not in event else None
    if "Properties" in event:
        event["Properties"] = {key: value for key, value in event["Properties"].items()
                               if key in ("spark.job.description", "spark.sql.execution.id")}
    for key in ("details", "modifiedConfigs"):
        event.pop(key, None)
    return event


def shrink_events(path, to):
    events = [shrink_event(json.loads(line)) for line in path.read_text().splitlines()]
    stages = sorted({event["Stage ID"] for event in events if event and "Stage ID" in event})
    store(to / "events.gz", "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events if event).encode())
    return ",".join(map(str, stages))


def shrink_samples(program, folder, to, stages):
    for event in ("cpu", "lock"):
        out = to / f"{event}.new.pb.gz"
        subprocess.run([program, "convert", "-q", "-e", event, "--stage", stages, folder, "-o", out], check=False)
        if out.exists():
            store(to / f"{event}.pb.gz", gzip.decompress(out.read_bytes()))
            out.unlink()


def shrink_metrics(program, folder, to):
    """Numbers of executors as records of Uber's profiler."""
    done = subprocess.run([program, "metrics", "-q", "-f", "json", folder], stdout=subprocess.PIPE, check=True)
    keys = {"system_cpu_load": "systemCpuLoad", "process_cpu_load": "processCpuLoad", "heap_used": "heapMemoryTotalUsed",
            "rss": "vmRSS"}
    records, last = {}, {}
    for series in json.loads(done.stdout)["metrics"]:
        if series["metric"] not in keys or series["role"] != "executor":
            continue
        for time_ms, value in series["points"]:
            slot = (series["process"], time_ms // STEP_MS)
            if last.get((slot, series["metric"])) is None:
                last[slot, series["metric"]] = True
                record = records.setdefault(slot, {"epochMillis": time_ms, "name": series["process"], "role": "executor"})
                record[keys[series["metric"]]] = value
    store(to / "metrics.json.gz", "".join(json.dumps(record) + "\n" for record in records.values()).encode())


def main(program, folder, to, *paths):
    PATHS.extend(tuple(path.encode().split(b"=")) for path in paths)
    folder, to = pathlib.Path(folder), pathlib.Path(to)
    to.mkdir(parents=True, exist_ok=True)
    stages = shrink_events(next((folder / "events").iterdir()), to)
    for path in (folder / "logs").glob("*.log"):
        if 0 < path.stat().st_size < MOST_LOG_BYTES:
            lines = [line for line in path.read_bytes().splitlines(keepends=True) if len(line) < 2000 and b"sparkflame" not in line]
            store(to / f"{path.name}.gz", b"".join(lines))
    for path in (folder / "profiles").glob("*.json") if (folder / "profiles").exists() else []:
        store(to / f"{path.name}.gz", path.read_bytes())
    shrink_samples(program, folder / "recordings", to, stages)
    shrink_metrics(program, folder / "recordings", to)


if __name__ == "__main__":
    main(*sys.argv[1:])
