"""sparkflame metrics: numbers over time from records of Uber's JVM profiler and of PySpark profilers."""

import csv
import io
import json

JAVA = {"epochMillis": 1000, "name": "7@host", "host": "host", "processUuid": "x", "appId": None, "role": "executor",
        "processCpuLoad": 0.25, "systemCpuLoad": "NaN", "heapMemoryTotalUsed": 1.5E7, "vmRSS": 4096,
        "gc": [{"name": "G1 Young Generation", "collectionCount": 3, "collectionTime": 12},
               {"name": "G1 Old Generation", "collectionCount": 0, "collectionTime": 0}],
        "memoryPools": [{"name": "CodeHeap 'profiled nmethods'", "type": "Non-heap memory", "usageUsed": 10}]}
PYTHON = {"pid": 42, "epochMillis": 1500, "pmem_rss": 2048, "pmem_vms": 4096, "cpu_percent": 99.5}


def records(*changes):
    return "\n".join(json.dumps(change) for change in changes).encode()


def series(sparkflame, stdin):
    run = sparkflame("metrics", "-f", "json", "-", stdin=stdin)
    assert run.returncode == 0, run.stderr
    return {(one["process"], one["metric"], one["part"]): one for one in json.loads(run.stdout)["metrics"]}


def test_kinds_and_processes_mixed(sparkflame):
    text = records(JAVA, PYTHON, {**JAVA, "epochMillis": 2000, "systemCpuLoad": 0.5, "heapMemoryTotalUsed": 2E7},
                   {"epochMillis": 1, "stacktrace": ["a"], "count": 3})
    found = series(sparkflame, text)
    assert found["7@host", "heap_used", None]["points"] == [[1000, 1.5E7], [2000, 2E7]]
    assert found["7@host", "heap_used", None]["unit"] == "bytes"
    assert found["7@host", "heap_used", None]["role"] == "executor"
    assert found["7@host", "system_cpu_load", None]["points"] == [[2000, 0.5]]
    assert found["7@host", "gc_count", "G1 Young Generation"]["points"] == [[1000, 3], [2000, 3]]
    assert found["7@host", "pool_used", "CodeHeap 'profiled nmethods'"]["points"][0] == [1000, 10]
    assert found["42", "rss", None]["points"] == [[1500, 2048]]
    assert found["42", "rss", None]["role"] == "python"


def test_inside_a_console_log(sparkflame):
    line = b"1550400755478 com.uber.profiling.reporters.ConsoleOutputReporter - CpuAndMemory: " + records(JAVA)
    assert series(sparkflame, b"other text\n" + line)["7@host", "rss", None]["points"] == [[1000, 4096]]


def test_points_come_in_order_of_time(sparkflame):
    text = records({**PYTHON, "epochMillis": 9}, {**PYTHON, "epochMillis": 3}, {**PYTHON, "epochMillis": 6})
    assert [time for time, _ in series(sparkflame, text)["42", "rss", None]["points"]] == [3, 6, 9]


def test_csv(sparkflame):
    run = sparkflame("metrics", "-f", "csv", "-", stdin=records(PYTHON, {**PYTHON, "epochMillis": 1600}))
    rows = list(csv.DictReader(io.StringIO(run.stdout.decode())))
    assert [row["value"] for row in rows if row["metric"] == "rss"] == ["2048", "2048"]


def test_a_table(sparkflame):
    run = sparkflame("metrics", "-", stdin=records(JAVA))
    assert b"heap_used" in run.stdout and b"14.3 MiB" in run.stdout


def test_broken_records_are_passed_over_with_a_notice(sparkflame):
    run = sparkflame("metrics", "-f", "csv", "-", stdin=records(PYTHON) + b'\n{"pid": 1, "epoch\n' + records(PYTHON))
    assert run.returncode == 0
    assert b"1 broken record skipped, first in line 2" in run.stderr
    assert run.stdout.count(b",rss,") == 2


def test_no_metrics(sparkflame):
    run = sparkflame("metrics", "-", stdin=b"plain text\n")
    assert run.returncode == 1 and b"contains no metrics" in run.stderr
