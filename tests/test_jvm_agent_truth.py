"""The agent's numbers are correct: shares of CPU time, and the sum of all samples."""

import re

import pytest

import jvm
from measuring import mostly

ONE_CARRIER = ("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
SHARE_RUNS = 2


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "org/sparkflame/Agent", "Shares", "Sums")


def measure(version, classes, folder, agent, *arguments, options=()):
    """[(frames, count)], and the program's own measurement: {"partDeep": ns, …, "total": ns, "thread": ns}."""
    path = folder / "truth.folded"
    done = jvm.run_java(jvm.home_of(version), classes, f"start,{agent},file={path}", "Shares", *arguments, options=options)
    return jvm.read_folded(path), {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", done.stdout, re.MULTILINE)}


def wrong_share(stacks, spent):
    """None if each part has its share of the samples, else the one that has not."""
    parts = {f"Shares.{name}": ns for name, ns in spent.items() if name.startswith("part")}
    found, samples = jvm.shares_of(stacks, list(parts))
    for name, ns in parts.items():
        share = ns / sum(parts.values())
        if abs(found[name] - share) > jvm.share_error(share, samples):
            return f"{name}: {found[name]:.3f} of {samples} samples, but {share:.3f} of the time"
    return None if samples > 100 else f"only {samples} samples"


def wrong_sum(stacks, spent, interval_ms, tolerance):
    """All samples of the thread, times the interval, are its CPU time: within the tolerance and an interval at each end."""
    sampled_ms = sum(count for frames, count in stacks if "Shares.work" in frames) * interval_ms
    true_ms = spent["thread"] / 1e6
    if abs(sampled_ms - true_ms) <= tolerance * true_ms + 2 * interval_ms:
        return None
    return f"{sampled_ms} ms of samples, but {true_ms:.0f} ms of CPU time"


def pooled(*arguments, **more):
    """Stacks and times of several runs together: enough samples to detect a share that is 5 points off."""
    stacks, spent = [], {}
    for _ in range(SHARE_RUNS):
        found, times = measure(*arguments, **more)
        stacks += found
        spent = {name: spent.get(name, 0) + ns for name, ns in times.items()}
    return stacks, spent


@pytest.mark.parametrize("version", ["17", "25"])
@pytest.mark.parametrize("options", [(), ("-Xint",)], ids=["compiled", "interpreted"])
def test_shares(version, options, classes, tmp_path):
    """Recursive, inlined, lambda, arraycopy, SHA-256 and C code through JNI; compiled, and interpreted only."""
    wrong = wrong_share(*pooled(version, classes, tmp_path, "event=ctimer,interval=1ms", 1200, options=options))
    assert wrong is None, wrong


@pytest.mark.parametrize("version", ["21", "25"])
def test_shares_of_a_virtual_thread(version, classes, tmp_path):
    stacks, spent = pooled(version, classes, tmp_path, "event=ctimer,interval=1ms", 1200, "virtual", options=ONE_CARRIER)
    parts = [(frames, count) for frames, count in stacks if any(frame.startswith("Shares.part") for frame in frames)]
    total = sum(count for _, count in parts)
    # Frames in the heap are not on the stack, but the carrier's below them are.
    carried = sum(count for frames, count in parts if frames[0].startswith("java/util/concurrent/ForkJoin"))
    assert carried >= total * (1 - jvm.share_error(0, total)), f"{carried} of {total} stacks reach the carrier"
    assert wrong_share(stacks, spent) is None


@pytest.mark.parametrize("event, interval_ms, tolerance", [("cpu", 10, 0.02), ("ctimer", 1, 0.04)])
def test_sum_of_samples_is_cpu_time(event, interval_ms, tolerance, classes, tmp_path):
    mostly(lambda: wrong_sum(*measure("17", classes, tmp_path, f"event={event},interval={interval_ms}ms", 1500, "thread"),
                             interval_ms, tolerance))


JVM_THREADS = 12  # of its own, which sometimes use CPU time
JIFFY_MS = 10     # the longest interval at which a kernel checks CPU timers


def wrong_process_sum(classes, folder, event, interval_ms, tolerance):
    """The same for the whole process, including compilers, collectors and threads that live for 100 ms. The last interval
    of each thread is sampled by chance; the rest of a timer's interval is lost."""
    path = folder / "sums.folded"
    done = jvm.run_java(jvm.home_of("17"), classes, None, "Sums", jvm.LIBRARY, f"start,event={event},interval={interval_ms}ms",
                        path, 1500)
    told = {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", done.stdout, re.MULTILINE)}
    sampled_ms, true_ms = sum(count for _, count in jvm.read_folded(path)) * interval_ms, told["process"] / 1e6
    threads = told["threads"] + JVM_THREADS
    chance = 2 * interval_ms * threads ** 0.5 + (JIFFY_MS / 2 * JVM_THREADS if event == "ctimer" else 0)
    if abs(sampled_ms - true_ms) <= tolerance * true_ms + chance:
        return None
    return f"{sampled_ms} ms of samples, but {true_ms:.0f} ms of CPU time in {threads} threads"


@pytest.mark.parametrize("event, interval_ms, tolerance", [("cpu", 10, 0.02), ("cpu", 1, 0.04), ("ctimer", 1, 0.04)])
def test_sum_of_samples_is_the_process_time(event, interval_ms, tolerance, classes, tmp_path):
    mostly(lambda: wrong_process_sum(classes, tmp_path, event, interval_ms, tolerance))
