"""Labels: what a thread works on, in each of its samples."""

import json
import subprocess

import pytest

import jvm
from measuring import collect
from test_jvm_agent_jfr import events, methods

EXPECTED = {"Tags.taskOne": "stage=1;task=10", "Tags.taskTwo": "stage=1;task=11", "Tags.between": "",
            "Tags.named": "stage=7;stage_attempt=0;partition=3;attempt=1;task=41"}


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "org/sparkflame/Agent", "Tags")


def labels_at(labels, thread, time):
    """The last labels of the thread at or before the time."""
    now = ""
    for event in labels:
        if event["eventThread"]["osThreadId"] == thread and event["startTime"] <= time:
            now = event["labels"]
    return now


def tagged_samples(path):
    """The number of samples of each method, and of those with labels other than the method's task."""
    labels = sorted(events(path, "sparkflame.Labels"), key=lambda event: event["startTime"])
    found = {name: 0 for name in EXPECTED}
    wrong = []
    for sample in events(path, "jdk.ExecutionSample"):
        for name in set(methods(sample)) & set(EXPECTED):
            found[name] += 1
            tag = labels_at(labels, sample["sampledThread"]["osThreadId"], sample["startTime"])
            if tag != EXPECTED[name]:
                wrong.append((name, tag))
    return found, wrong


@pytest.mark.parametrize("version", ["11", "17", "25"])
def test_each_sample_has_its_task(version, classes, tmp_path):
    path = tmp_path / "out.jfr"
    found, wrong = {name: 0 for name in EXPECTED}, []

    def measure():
        done = jvm.run_java(jvm.home_of(version), classes, None, "Tags", jvm.LIBRARY,
                            f"start,event=ctimer,interval=1ms,file={path}",
                            options=["-Xlog:disable", "-Xlog:all=warning"])
        assert done.stdout.startswith("Profiling started\n")
        assert "refused: unknown event nonsense" in done.stdout
        assert "Re-registering" not in done.stdout + done.stderr
        assert "AsyncGetCallTrace" not in done.stderr
        counts, others = tagged_samples(path)
        wrong.extend(others)
        for name, count in counts.items():
            found[name] += count

    # On a busy machine a task may have too few samples in one run.
    collect(measure, lambda: all(count > 20 for count in found.values()), most=5)
    assert len(wrong) <= 0.005 * sum(found.values()), wrong[:10]
    spans = {(event["tag"], event["eventThread"]["javaName"]) for event in events(path, "profiler.Span")}
    assert ("stage=1;task=10", "called") in spans and ("stage=1;task=11", "called") in spans, spans


def test_both_ways_in_share_one_state(classes, tmp_path):
    """Loaded at the start and again by System.load(): the second start is rejected, the first recording complete."""
    path = tmp_path / "out.folded"
    home = jvm.home_of("17")
    done = subprocess.run([home / "bin" / "java", f"-agentpath:{jvm.LIBRARY}=start,event=ctimer,interval=1ms,file={path}",
                           "-cp", str(classes), "Tags", str(jvm.LIBRARY), "start,event=cpu"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=jvm.LIMIT_SECONDS, check=False)
    assert done.returncode == 1 and "Profiler already started" in done.stderr, done.stderr
    done = jvm.run_java(home, classes, f"start,event=ctimer,interval=1ms,file={path}", "Tags", jvm.LIBRARY)
    assert "Tags.taskTwo" in path.read_text(), json.dumps(done.stderr)
