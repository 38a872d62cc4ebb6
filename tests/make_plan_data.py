"""Makes a file of tests/data/plans from the event log of tests/spark_jobs/plans.py, and those of tests/data/healthy and tests/data/what_if
from tpc.py and waits.py: make_plan_data.py LOG OUT.gz. Keeps what the rules
look at: stages with their final counters, tasks without, the plans as Spark ran them last; no paths and no names of the machine."""

import gzip
import json
import pathlib
import re
import sys

UNWANTED = ("TaskStart", "TaskGettingResult", "UnpersistRDD", "BlockUpdated", "AdaptiveSQLMetricUpdates", "ResourceProfileAdded",
            "StageExecutorMetrics")
PROPERTIES = ("spark.executor.memory", "spark.app.name", "spark.master", "spark.app.id", "spark.sql.adaptive.enabled")


def shrink(event, last_plans, number):
    name = event["Event"].split(".")[-1]
    if name.endswith(UNWANTED):
        return None
    if name.endswith("EnvironmentUpdate"):
        kept = {key: value for key, value in event["Spark Properties"].items() if key in PROPERTIES}
        return {"Event": event["Event"], "JVM Information": {"Java Version": event["JVM Information"]["Java Version"]}, "Spark Properties": kept}
    if name.endswith("AdaptiveExecutionUpdate") and last_plans.get(event["executionId"]) != number:
        return None
    for info in [event.get("Task Info"), event.get("Stage Info"), *event.get("Stage Infos", [])]:
        if info is not None:
            is_end = name.endswith("StageCompleted")
            info["Accumulables"] = [{"ID": one["ID"], "Name": one["Name"], "Value": one["Value"]} for one in info.get("Accumulables", [])
                                    if is_end and one.get("Metadata") == "sql"]
            info["Details"] = ""
            for data_set in info.get("RDD Info", []):
                for key in set(data_set) - {"RDD ID", "Parent IDs"}:
                    del data_set[key]
    if "Stage Infos" in event and name.endswith("JobStart"):
        event["Properties"] = {key: value for key, value in event.get("Properties", {}).items()
                               if key in ("spark.job.description", "spark.sql.execution.id")}
    else:
        event.pop("Properties", None)
    for key in ("details", "modifiedConfigs", "physicalPlanDescription", "Task Executor Metrics", "jobTags"):
        event.pop(key, None)
    return event


def without_paths(text):
    text = re.sub(r"/[\w/.-]+/(facts|names|lineitem|orders|customer|part|supplier|nation)\b", r"/data/\1", text)
    text = text.replace('"User":"root"', '"User":"user"')
    text = re.sub(r"/[\w/.@-]*/(\w+\.(?:py|zip))", r"/job/\1", text)
    return re.sub(r'("Host":|"Host Name":)"[^"]*"', r'\1"worker"', text)


def main(log, out):
    events = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    last_plans = {event["executionId"]: number for number, event in enumerate(events) if event["Event"].endswith("AdaptiveExecutionUpdate")}
    kept = [shrink(event, last_plans, number) for number, event in enumerate(events)]
    lines = [without_paths(json.dumps(event, separators=(",", ":"))) + "\n" for event in kept if event]
    pathlib.Path(out).write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
