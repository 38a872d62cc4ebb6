"""Recordings with more stacks than fit in memory: tables are renewed, and shares, sums and the limit are correct."""

import pytest

import jvm
import weeks
from spark import fetch_spark
from test_jvm_agent_jfr import events, summary

LIMIT_KB = 32 << 10
MANY_MS, HOT_MS = 4000, 1500


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), weeks.PROGRAM)


@pytest.mark.parametrize("output", ["out.jfr", "out.collapsed"])
def test_a_hot_method_at_the_end_has_its_share(output, classes, tmp_path):
    """Without renewal the tables are full after some seconds, and the method has no samples."""
    path = tmp_path / output
    found = weeks.measure(jvm.home_of("17"), classes, path, ",alloc=4k,memlimit=32m", MANY_MS, HOT_MS)
    print(found)
    assert found["paths"] > 1000000
    assert abs(found["hot_share"] - found["true_share"]) < jvm.share_error(found["true_share"], found["samples"])
    assert abs(found["cpu_ratio"] - 1) < 0.02 + 2 * 4 / (MANY_MS + HOT_MS), found
    assert found["agent_kb"] < 1.1 * LIMIT_KB
    if path.suffix == ".jfr":
        chunks, counts = summary(path)
        assert chunks > 3 and counts["jdk.ObjectAllocationInNewTLAB"] > 20000
        last = events(path, "sparkflame.AgentStatistics")[-1]
        assert int(last["dropped"]) == 0
    else:
        lines = [line.rsplit(" ", 1)[0] for line in path.read_text().splitlines()]
        assert len(set(lines)) < len(lines)  # of several tables


def test_a_hot_method_after_many_generated_classes_has_its_share(tmp_path):
    jars = fetch_spark.fetch("3.5") / "jars"
    classes = jvm.compile_classes(tmp_path / "classes", weeks.PROGRAM, "GeneratedSql", "org/sparkflame/Agent", class_path=f"{jars}/*")
    path = tmp_path / "out.jfr"
    found = weeks.measure_sql(jvm.home_of("17"), classes, jars, path, ",alloc=64k,memlimit=32m", 100, 5000)
    print(found)
    assert abs(found["hot_share"] - found["true_share"]) < jvm.share_error(found["true_share"], found["samples"])
    assert abs(found["cpu_ratio"] - 1) < 0.02, found
    assert found["agent_kb"] < 1.1 * LIMIT_KB and summary(path)[0] > 2


def test_too_small_a_limit_is_raised_and_logged(classes, tmp_path):
    log = tmp_path / "log"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=ctimer,memlimit=1m,file={tmp_path}/out.jfr,log={log}",
                 weeks.PROGRAM, 300, 100, 1)
    assert "memlimit=1048576 is too small: using 16777216 bytes" in log.read_text()


def test_what_is_dropped_is_logged_and_recorded(classes, tmp_path):
    """Each object is a sample with a different stack: more than any writer can process."""
    path, log = tmp_path / "out.jfr", tmp_path / "log"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=ctimer,alloc=1,memlimit=16m,file={path},log={log}",
                 weeks.PROGRAM, 2000, 100, 2)
    assert "dropped: " in log.read_text() and "samples whose stacks did not fit" in log.read_text()
    last = events(path, "sparkflame.AgentStatistics")[-1]
    assert "storage_overflow=" in last["failures"], last
