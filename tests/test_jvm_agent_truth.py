"""Whether the agent's numbers are true: shares of CPU time, and the sum of all samples."""

import re

import pytest

import jvm

ONE_CARRIER = ("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
TRIES = 6


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "org/sparkflame/Agent", "Shares", "Sums")


def measure(version, classes, folder, agent, *arguments, options=()):
    """[(frames, count)], and what the program measured of itself: {"partDeep": ns, …, "total": ns, "thread": ns}."""
    path = folder / "truth.folded"
    done = jvm.run_java(jvm.home_of(version), classes, f"start,{agent},file={path}", "Shares", *arguments, options=options)
    return jvm.read_folded(path), {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", done.stdout, re.MULTILINE)}


def wrong_share(stacks, spent):
    """None when each part has its share of the samples, else which has not."""
    parts = {f"Shares.{name}": ns for name, ns in spent.items() if name.startswith("part")}
    found, samples = jvm.shares_of(stacks, list(parts))
    for name, ns in parts.items():
        share = ns / sum(parts.values())
        if abs(found[name] - share) > jvm.share_error(share, samples):
            return f"{name}: {found[name]:.3f} of {samples} samples, but {share:.3f} of the time"
    return None if samples > 100 else f"only {samples} samples"


def wrong_sum(stacks, spent, interval_ms, tolerance):
    """All samples of the thread, times the interval, are its CPU time: but for the tolerance and an interval at each end."""
    sampled_ms = sum(count for frames, count in stacks if "Shares.work" in frames) * interval_ms
    true_ms = spent["thread"] / 1e6
    if abs(sampled_ms - true_ms) <= tolerance * true_ms + 2 * interval_ms:
        return None
    return f"{sampled_ms} ms of samples, but {true_ms:.0f} ms of CPU time"


def eventually(check):
    """A machine may be too busy for a good measurement once, but not always."""
    trouble = []
    for _ in range(TRIES):
        trouble.append(check())
        if trouble[-1] is None:
            return
    pytest.fail(str(trouble))


@pytest.mark.parametrize("version", ["17", "25"])
@pytest.mark.parametrize("options", [(), ("-Xint",)], ids=["compiled", "interpreted"])
def test_shares(version, options, classes, tmp_path):
    """Recursive, inlined, lambda, arraycopy, SHA-256 and C code through JNI; compiled, and interpreted only."""
    eventually(lambda: wrong_share(*measure(version, classes, tmp_path, "event=ctimer,interval=1ms", 1200, options=options)))


@pytest.mark.parametrize("version", ["21", "25"])
def test_shares_of_a_virtual_thread(version, classes, tmp_path):
    def check():
        stacks, spent = measure(version, classes, tmp_path, "event=ctimer,interval=1ms", 1200, "virtual", options=ONE_CARRIER)
        parts = [(frames, count) for frames, count in stacks if any(frame.startswith("Shares.part") for frame in frames)]
        total = sum(count for _, count in parts)
        # Frames that lie in the heap are not on the stack, but the carrier's below them are.
        carried = sum(count for frames, count in parts if frames[0].startswith("java/util/concurrent/ForkJoin"))
        if carried < total * (1 - jvm.share_error(0, total)):
            return f"{carried} of {total} stacks reach the carrier"
        return wrong_share(stacks, spent)

    eventually(check)


@pytest.mark.parametrize("event, interval_ms, tolerance", [("cpu", 10, 0.02), ("ctimer", 1, 0.04)])
def test_sum_of_samples_is_cpu_time(event, interval_ms, tolerance, classes, tmp_path):
    eventually(lambda: wrong_sum(*measure("17", classes, tmp_path, f"event={event},interval={interval_ms}ms", 1500, "thread"),
                                 interval_ms, tolerance))


JVM_THREADS = 12  # of its own, which work now and then
JIFFY_MS = 10     # the coarsest that a kernel looks at timers of CPU time


def wrong_process_sum(classes, folder, event, interval_ms, tolerance):
    """The same for the whole process: compilers, collectors and threads that live for 100 ms included. Each thread's last
    interval is seen or not by chance; what is left of a timer's is lost."""
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
    eventually(lambda: wrong_process_sum(classes, tmp_path, event, interval_ms, tolerance))
