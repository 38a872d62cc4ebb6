"""Perf events, kernel frames, spans and rate limits. If perf events are not permitted, the agent must log it."""

import pathlib
import re

import pytest

import jvm
from test_jvm_agent_jfr import events, summary

LISTS_FILES = "getdents"  # the system call of File.list()


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Spans", "one/profiler/Recording")


def has_kernel_addresses():
    return not pathlib.Path("/proc/kallsyms").read_text().startswith("0000000000000000")


@pytest.mark.parametrize("version", ["17", "25"])
def test_kernel_frames_and_processors(classes, tmp_path, version):
    path = tmp_path / "out.folded"
    done = jvm.run_java(jvm.home_of(version), classes, f"start,event=cpu-clock,interval=1ms,record-cpu,file={path}",
                        "Spans", 1500)
    if "Perf events unavailable" in done.stderr:
        pytest.skip("this machine forbids perf events")
    stacks = jvm.read_folded(path)
    assert all(re.fullmatch(r"\[CPU-\d+]", frames[0]) for frames, _ in stacks)
    kernel = [frames for frames, _ in stacks if any(frame.endswith("_[k]") for frame in frames)]
    assert any("java/io/UnixFileSystem.list0" in frames or "java/io/UnixFileSystem.list" in frames for frames in kernel)
    if has_kernel_addresses():
        assert any(LISTS_FILES in frame for frames in kernel for frame in frames), done.stderr
    else:
        assert "Kernel symbols are unavailable" in done.stderr


def test_spans_and_limits_of_rate(classes, tmp_path):
    """A span has its time; no second holds more events than allowed."""
    path = tmp_path / "out.jfr"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=cpu,interval=1ms,ratelimit=cpu:20;span:5,file={path}",
                 "Spans", 2500)
    _, counts = summary(path)
    spans = events(path, "profiler.Span")
    assert {span["tag"] for span in spans} == {"listing"} and all(span["eventThread"] for span in spans)
    # The run takes some seconds, more on a busy machine: as many full budgets as the recording has seconds.
    seconds = {event["startTime"][:19] for event in events(path, "jdk.ExecutionSample")}
    assert 0 < counts["jdk.ExecutionSample"] <= 20 * (len(seconds) + 2)
    assert 0 < len(spans) <= 5 * (len({span["startTime"][:19] for span in spans}) + 2) + 5


@pytest.mark.parametrize("event, said", [
    ("no_such_function_anywhere", "unknown event no_such_function_anywhere"),
    ("sched:no_such_tracepoint", "Perf events unavailable: there is no tracepoint sched:no_such_tracepoint"),
    ("nounit/thing/", "Perf events unavailable: this machine has no PMU nounit"),
])
def test_events_that_are_not_there(classes, tmp_path, event, said):
    done = jvm.run_java(jvm.home_of("17"), classes, f"start,event={event},file={tmp_path / 'out.folded'}", "Spans", 1)
    assert said in done.stderr and not (tmp_path / "out.folded").exists()


def test_a_function_as_an_event(classes, tmp_path):
    """Each call of it, with a hardware breakpoint."""
    path = tmp_path / "out.folded"
    done = jvm.run_java(jvm.home_of("17"), classes, f"start,event=readdir64,file={path}", "Spans", 300)
    if "Perf events unavailable" in done.stderr:
        pytest.skip("this machine forbids perf events")
    stacks = jvm.read_folded(path)
    assert stacks and all("readdir" in frame for frame in {frames[-1] for frames, _ in stacks}), stacks[:3]
