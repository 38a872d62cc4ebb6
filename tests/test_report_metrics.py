"""sparkflame report with metrics: records of profilers and recordings, as series and as curves of one unit."""

import json
import shutil
import struct

import pytest

import jfr_builder

SECOND = 1_000_000_000
START_MS = 1_700_000_000_000


def recording(start_ns=START_MS * 1_000_000):
    """A JVM that used half a core, then one core; 250 of 1,000 ms collecting; once from outside, by the JDK's events."""
    types = jfr_builder.Metadata()
    types.add("sparkflame.ProcessMetrics", [("startTime", "long"), ("heapUsed", "long"), ("gcTime", "long"), ("userTime", "long"),
                                            ("systemTime", "long"), ("residentSize", "long"), ("writtenBytes", "long")], True)
    types.add("jdk.GCHeapSummary", [("startTime", "long"), ("text", "java.lang.String"), ("heapUsed", "long")], True)
    chunk = jfr_builder.Chunk(types, start_ns=start_ns, start_ticks=0)
    for second, heap, gc, user, system, resident, written in [(0, 100, 0, 1, 1, 500, 0), (1, 200, 0.25, 1.25, 1.25, 700, 4096),
                                                            (2, 150, 0.25, 2, 1.5, 600, 4096)]:
        chunk.add("sparkflame.ProcessMetrics", second * SECOND, heap, int(gc * SECOND), int(user * SECOND), int(system * SECOND),
                  resident, written)
    chunk.add("jdk.GCHeapSummary", 3 * SECOND, jfr_builder.utf8("after"), 50)
    return chunk.bytes()


def cpu_load():
    types = jfr_builder.Metadata()
    types.add("jdk.CPULoad", [("startTime", "long"), ("jvmUser", "float"), ("jvmSystem", "float"), ("machineTotal", "float")], True)
    types.add("jdk.CPUInformation", [("startTime", "long"), ("hwThreads", "int")], True)
    types.add("jdk.GarbageCollection", [("startTime", "long"), ("gcId", "int"), ("sumOfPauses", "long")], True)
    chunk = jfr_builder.Chunk(types, start_ns=START_MS * 1_000_000, start_ticks=0, ticks_per_second=1000)
    chunk.add("jdk.CPUInformation", 0, 8)
    chunk.add("jdk.CPULoad", 1000, struct.pack(">f", 0.25), struct.pack(">f", 0.125), struct.pack(">f", 0.5))
    for at, number in ((1000, 1), (2000, 2)):
        chunk.add("jdk.GarbageCollection", at, number, 100)
    return chunk.bytes()


def report(sparkflame, *paths):
    run = sparkflame("report", "-f", "json", *paths)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def curves(found):
    return {(one["curve"], one["process"]): [(time - START_MS, value) for time, value in one["points"]] for one in found["curves"]}


def test_a_recording_of_an_executor(sparkflame, tmp_path):
    (tmp_path / "exec-7.000001.jfr").write_bytes(recording())
    found = report(sparkflame, tmp_path / "exec-7.000001.jfr")
    series = {one["metric"]: one for one in found["metrics"]}
    assert (series["rss"]["process"], series["rss"]["role"], series["rss"]["unit"]) == ("executor 7", "executor", "bytes")
    assert [value for _, value in series["process_cpu_time"]["points"]] == [2e9, 2.5e9, 3.5e9]
    assert curves(found) == {
        ("cpu", "executor 7"): [(1000, 0.5), (2000, 1)], ("gc", "executor 7"): [(1000, 0.25), (2000, 0)],
        ("heap", "executor 7"): [(0, 100), (1000, 200), (2000, 150), (3000, 50)],
        ("rss", "executor 7"): [(0, 500), (1000, 700), (2000, 600)], ("written", "executor 7"): [(1000, 4096), (2000, 0)]}


def test_parts_of_one_process_are_one(sparkflame, tmp_path):
    (tmp_path / "driver.000001.jfr").write_bytes(recording())
    (tmp_path / "driver.000002.jfr").write_bytes(recording((START_MS + 10_000) * 1_000_000))
    heap = curves(report(sparkflame, tmp_path))["heap", "driver"]
    assert [time for time, _ in heap] == [0, 1000, 2000, 3000, 10_000, 11_000, 12_000, 13_000]


def test_a_recording_of_the_jdk(sparkflame, tmp_path):
    (tmp_path / "other.jfr").write_bytes(cpu_load())
    found = report(sparkflame, tmp_path / "other.jfr")
    assert curves(found) == {("cpu", "other"): [(1000, 3)], ("gc", "other"): [(2000, 0.1)]}
    assert {one["metric"] for one in found["metrics"]} == {"processors", "process_cpu_load", "system_cpu_load", "gc_count", "gc_time"}


def test_records_of_profilers(sparkflame, tmp_path):
    java = {"epochMillis": START_MS, "name": "7@host", "role": "executor", "processCpuTime": 1e9, "nonHeapMemoryTotalUsed": 10,
            "bufferPools": [{"name": "direct", "memoryUsed": 5}, {"name": "mapped", "memoryUsed": 1}],
            "gc": [{"name": "young", "collectionTime": 0}, {"name": "old", "collectionTime": 0}]}
    later = {**java, "epochMillis": START_MS + 1000, "processCpuTime": 3e9,
             "gc": [{"name": "young", "collectionTime": 100}, {"name": "old", "collectionTime": 200}]}
    python = {"pid": 42, "epochMillis": START_MS, "pmem_rss": 2048, "pmem_vms": 4096, "cpu_percent": 150}
    (tmp_path / "records.json").write_text("\n".join(map(json.dumps, [java, later, python])))
    assert curves(report(sparkflame, tmp_path / "records.json")) == {
        ("cpu", "7@host"): [(1000, 2)], ("off_heap", "7@host"): [(0, 16), (1000, 16)], ("gc", "7@host"): [(1000, 0.3)],
        ("cpu", "42"): [(0, 1.5)], ("python_rss", "42"): [(0, 2048)]}


def test_any_subset_in_one_folder(sparkflame, data, tmp_path):
    shutil.copy(data / "event_log" / "single", tmp_path / "events")
    shutil.copy(data / "spark_log" / "driver.log", tmp_path / "driver.log")
    (tmp_path / "exec-1.000001.jfr").write_bytes(recording())
    (tmp_path / "notes.txt").write_text("nothing of Spark's")
    found = report(sparkflame, tmp_path)
    assert (len(found["jobs"]), len(found["curves"]), len(found["logs"])) == (6, 5, 1)
    without = report(sparkflame, tmp_path / "events")
    assert "curves" not in without and "metrics" not in without


def test_many_points_are_thinned_out(sparkflame, tmp_path):
    lines = (json.dumps({"pid": 1, "epochMillis": START_MS + i, "pmem_rss": 999 if i == 7777 else i % 10, "pmem_vms": 1, "cpu_percent": 1})
             for i in range(20_000))
    (tmp_path / "records.json").write_text("\n".join(lines))
    found = report(sparkflame, tmp_path / "records.json")
    points = curves(found)["python_rss", "1"]
    assert 1000 < len(points) <= 2000 and (7777, 999) in points and points == sorted(points)
    assert next(len(one["points"]) for one in found["metrics"] if one["metric"] == "rss") == 20_000


@pytest.mark.parametrize("size", [100, 300, 500])
def test_a_cut_recording_gives_what_is_whole(sparkflame, tmp_path, size):
    """All of the first chunk; of the second, which is cut before its constants, nothing."""
    path, second = tmp_path / "exec-1.000001.jfr", recording((START_MS + 10_000) * 1_000_000)
    path.write_bytes(recording() + second[:-size])
    run = sparkflame("report", "-f", "json", path)
    assert run.returncode == 0 and b"not finished" in run.stderr, run.stderr
    assert [time for time, _ in curves(json.loads(run.stdout))["heap", "executor 1"]] == [0, 1000, 2000, 3000]
    path.write_bytes(second[:-size])
    run = sparkflame("report", "-f", "json", path)
    assert run.returncode == 1 and b"exec-1.000001.jfr" in run.stderr and run.stdout == b""
