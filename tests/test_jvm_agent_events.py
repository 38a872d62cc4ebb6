"""Allocations, live objects and locks in real JVMs."""

import math

import pytest

import jvm

VERSIONS = ["11", "17", "21", "25"]
# 3016 and 1016 bytes including headers, equally often.
BYTES_SHARE = 3016 / (3016 + 1016)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Allocates")


def value_of(stacks, method, leaf):
    return sum(count for frames, count in stacks if method in frames and frames[-1].startswith(leaf))


@pytest.mark.parametrize("version", VERSIONS)
def test_allocations_by_class_and_place(version, classes, tmp_path):
    path = tmp_path / "alloc.folded"
    jvm.run_java(jvm.home_of(version), classes, f"start,event=alloc,interval=64k,total,file={path}", "Allocates")
    stacks = jvm.read_folded(path)
    of_bytes = value_of(stacks, "Allocates.bytes", "byte[]")
    of_longs = value_of(stacks, "Allocates.longs", "long[]")
    samples = (of_bytes + of_longs) / 65536
    assert samples > 5000
    assert abs(of_bytes / (of_bytes + of_longs) - BYTES_SHARE) < 0.02 + 4 * math.sqrt(0.19 / samples)
    assert all(frames[0] == "Allocates.main" for frames, _ in stacks if "Allocates.bytes" in frames)


@pytest.mark.parametrize("version", ["17", "25"])
def test_live_objects(version, classes, tmp_path):
    path = tmp_path / "live.folded"
    jvm.run_java(jvm.home_of(version), classes, f"start,event=alloc,interval=64k,live,total,file={path}", "Allocates",
                 options=["-Xmx64m"])
    stacks = jvm.read_folded(path)
    kept = value_of(stacks, "Allocates.keeps", "int[]")
    # 200 arrays of 100,016 bytes; each is sampled with probability 0.78 and then stands for 128 kB.
    assert abs(kept - 200 * 100_016) < 5 * math.sqrt(200 * 0.78 * 0.22) * 128_000, stacks
    assert value_of(stacks, "Allocates.bytes", "byte[]") < kept / 20, stacks


@pytest.mark.parametrize("version", ["17", "25"])
def test_waiting_for_monitors(version, classes, tmp_path):
    path = tmp_path / "lock.folded"
    jvm.run_java(jvm.home_of(version), classes, f"start,event=lock,total,threads,file={path}", "Allocates")
    waited = [(frames, count) for frames, count in jvm.read_folded(path) if "Allocates.holds" in frames]
    assert waited, path.read_text()
    assert all(frames[-1] == "java.lang.Object" for frames, _ in waited)
    # All three wait 20 ms, then each for the previous ones, which hold the lock for 60 ms.
    assert sum(count for _, count in waited) > 200_000_000
    assert all(frames[0].startswith("[waiter-") for frames, _ in waited)


def test_several_events_at_once(classes, tmp_path, sparkflame):
    path = tmp_path / "all.jfr"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=cpu,interval=1ms,alloc=64k,lock=1us,wall=10ms,live,file={path}",
                 "Allocates")
    for event, method in [("alloc", "Allocates.bytes"), ("lock", "Allocates.holds"), ("live", "Allocates.keeps"),
                          ("wall", "Allocates.holds"), ("cpu", "Allocates")]:
        folded = tmp_path / f"{event}.folded"
        done = sparkflame("convert", path, "--event", event, "-o", folded)
        assert done.returncode == 0, done.stderr
        assert method in folded.read_text(), f"{event}:\n{folded.read_text()[:2000]}"
