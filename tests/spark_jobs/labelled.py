"""Jobs whose description has a secret, until the driver's metrics have seen executors: labelled.py. Prints the metrics."""

import json
import time
import urllib.request

from pyspark.sql import SparkSession

LIMIT_SECONDS = 900
spark = SparkSession.builder.appName("labelled job").getOrCreate()
context = spark.sparkContext
prefix = f"metrics_{context.applicationId.replace('-', '_')}_driver_plugin_org_sparkflame_SparkflamePlugin_"


def scrape():
    """{name: value} of the plugin, from the driver's PrometheusServlet"""
    with urllib.request.urlopen(f"{context.uiWebUrl}/metrics/prometheus/") as answer:
        lines = [line.split() for line in answer.read().decode().splitlines()]
    return {line[0].split(prefix)[1].split("_Value")[0]: int(line[1]) for line in lines if line[0].startswith(prefix)
            and 'type="gauges"' in line[0]}


def burn(rows):
    for _ in rows:
        yield sum(number % 7 for number in range(1_000_000))
        time.sleep(0.2)


context.setJobGroup("night", "load with password='hunter2' from t")
end, metrics = time.monotonic() + LIMIT_SECONDS, {}
while time.monotonic() < end and not (metrics.get("shippedObjects", 0) > 3 and metrics.get("samples", 0) > 100
                                      and metrics.get("pythonWorkers", 0) > 0):
    context.parallelize(range(2), 1).mapPartitions(burn).collect()
    metrics = scrape()
print("metrics", json.dumps(metrics))
spark.stop()
