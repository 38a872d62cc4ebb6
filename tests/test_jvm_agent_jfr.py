"""The agent's JFR recordings, read by the JDK's reader."""

import collections
import json
import pathlib
import re
import signal
import subprocess
import time

import pytest

import jvm

PROGRAMS = ["Shares", "Waits"]


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), *PROGRAMS)


@pytest.fixture(scope="module")
def home17():
    return jvm.home_of("17")


def jfr(*arguments):
    done = subprocess.run([jvm.system_home() / "bin" / "jfr", *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=jvm.LIMIT_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def summary(path):
    """(chunks, {event: count})"""
    text = jfr("summary", path)
    counts = {name: int(count) for name, count in re.findall(r"^ ([\w.]+)\s+(\d+)\s+\d+\s*$", text, re.MULTILINE)}
    return int(re.search(r"Chunks: (\d+)", text)[1]), counts


def events(path, *names, depth=64):
    text = jfr("print", "--json", "--stack-depth", depth, "--events", ",".join(names), path)
    return [event["values"] for event in json.loads(text)["recording"]["events"]]


def methods(event):
    trace = event["stackTrace"]
    return [] if trace is None else [f"{frame['method']['type']['name']}.{frame['method']['name']}" for frame in trace["frames"]]


def test_the_jdk_reads_a_recording(home17, classes, tmp_path):
    path = tmp_path / "out.jfr"
    done = jvm.run_java(home17, classes, f"start,event=ctimer,interval=1ms,file={path}", "Shares", 1500,
                        options=["-Dmy.password=hunter2", "-Dharmless=yes"])
    chunks, counts = summary(path)
    total_ns = int(re.search(r"^total (\d+)$", done.stdout, re.MULTILINE)[1])
    # One sample for each millisecond that the program measured, and those of the JVM's start and compilers.
    assert chunks == 1 and counts["jdk.ExecutionSample"] > 0.9 * total_ns / 1e6
    samples = events(path, "jdk.ExecutionSample")
    assert len(samples) == counts["jdk.ExecutionSample"]
    deep = [sample for sample in samples if "Shares.leafOfDeep" in methods(sample)[:1]]
    assert deep and deep[0]["sampledThread"]["javaName"] == "main"
    source = (jvm.TESTS / "java" / "Shares.java").read_text().splitlines()
    lines = {frame["lineNumber"] for sample in deep for frame in sample["stackTrace"]["frames"][:1]}
    assert lines and all("sum" in source[line - 1] or "for (" in source[line - 1] for line in lines), lines
    facts = events(path, "jdk.JVMInformation", "jdk.InitialSystemProperty", "sparkflame.AgentStatistics")
    text = json.dumps(facts)
    assert "hunter2" not in text and "harmless" in text
    statistics = [fact for fact in facts if "handlerTime" in fact][-1]
    assert statistics["samples"] == counts["jdk.ExecutionSample"]


def test_samples_of_folded_and_jfr_agree(home17, classes, tmp_path, sparkflame):
    """The same recording, read by our own reader."""
    path = tmp_path / "out.jfr"
    jvm.run_java(home17, classes, f"start,event=ctimer,interval=1ms,file={path}", "Shares", 800)
    folded = tmp_path / "out.folded"
    done = sparkflame("convert", path, "-o", folded)
    assert done.returncode == 0, done.stderr
    assert sum(count for _, count in jvm.read_folded(folded)) == summary(path)[1]["jdk.ExecutionSample"]
    assert re.search(r"Shares\.main;.*Shares\.partDeep;Shares\.deep;", folded.read_text())


def bytes_of_a_sample(path):
    """Of a CPU sample without its stack; sizes of whole recordings depend on the run time of the program."""
    count, size = re.search(r"^ jdk\.ExecutionSample\s+(\d+)\s+(\d+)", jfr("summary", path), re.MULTILINE).groups()
    return int(size) / int(count)


def printed_stacks(path):
    """[(frames, lines)] of CPU samples as `jfr print` shows them, innermost first."""
    text = jfr("print", "--stack-depth", 2048, "--events", "jdk.ExecutionSample", path)
    stacks = [re.findall(r"^    (\S.*?)\(.*\)\s+line: (\d+)", stack, re.MULTILINE)
              for stack in re.findall(r"^  stackTrace = \[\n(.*?)^  \]", text, re.MULTILINE | re.DOTALL)]
    return [([name for name, _ in stack], [int(line) for _, line in stack]) for stack in stacks]


def test_a_compact_recording_says_the_same(home17, classes, tmp_path, sparkflame):
    """The JDK's reader finds all stacks with their lines, ours finds the same, in far fewer bytes."""
    wide, path = tmp_path / "wide.jfr", tmp_path / "compact.jfr"
    arguments = "start,event=ctimer,interval=1ms,wall=10ms,alloc=100k,chunktime=1s"
    jvm.run_java(home17, classes, f"{arguments},file={wide}", "Shares", 2500)
    jvm.run_java(home17, classes, f"{arguments},compact,file={path}", "Shares", 2500)
    sizes = [bytes_of_a_sample(one) for one in (path, wide)]
    assert sizes[0] < 0.85 * sizes[1], sizes
    chunks, counts = summary(path)
    assert chunks >= 2 and counts["jdk.ExecutionSample"] > 1000 and counts["jdk.InitialSystemProperty"] > 5, counts
    # It was repacked at its end: all constants of a chunk are together.
    assert counts["jdk.CheckPoint"] == chunks, counts
    stacks = printed_stacks(path)
    assert len(stacks) == counts["jdk.ExecutionSample"] and all(frames for frames, _ in stacks)
    by_jdk = collections.Counter(";".join(reversed(frames)) for frames, _ in stacks if frames[0] == "Shares.leafOfDeep")
    done = sparkflame("convert", "-q", "-e", "cpu", "-f", "folded", path)
    ours = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done.stdout.decode().splitlines()}
    assert sum(ours.values()) == len(stacks) and sum(by_jdk.values()) > 50
    # Lambda classes are written differently.
    assert collections.Counter({stack.split("partDeep")[1]: count for stack, count in by_jdk.items()}) == \
        collections.Counter({stack.split("partDeep")[1]: count for stack, count in ours.items()
                             if stack.endswith("Shares.leafOfDeep")})
    source = (jvm.TESTS / "java" / "Shares.java").read_text().splitlines()
    lines = {lines[0] for frames, lines in stacks if frames[0] == "Shares.leafOfDeep"}
    assert lines and all("sum" in source[line - 1] or "for (" in source[line - 1] for line in lines), lines
    assert sum(event["samples"] for event in events(path, "profiler.WallClockSample")) > counts["profiler.WallClockSample"]


def test_chunks_end_by_time(home17, classes, tmp_path):
    path = tmp_path / "out.jfr"
    jvm.run_java(home17, classes, f"start,event=ctimer,interval=1ms,chunktime=1s,file={path}", "Waits", 3500)
    chunks, counts = summary(path)
    assert chunks >= 2
    samples = events(path, "jdk.ExecutionSample")
    assert len(samples) == counts["jdk.ExecutionSample"]
    burning = [sample for sample in samples if "Waits.burns" in methods(sample)[:1]]
    assert burning and all(sample["sampledThread"]["javaName"] == "busy" for sample in burning)


def wait_until(condition, limit_s=120):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.1)


def test_a_killed_jvm_leaves_a_whole_file(home17, classes, tmp_path):
    path = tmp_path / "out.jfr"
    program = subprocess.Popen([home17 / "bin" / "java", f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,file={path}",
                                "-cp", str(classes), "Waits", "600000"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # Large enough to hold more than the first flush.
        wait_until(lambda: path.exists() and path.stat().st_size > 25000)
        program.send_signal(signal.SIGKILL)
    finally:
        program.kill()
        program.wait()
    assert summary(path)[1]["jdk.ExecutionSample"] > 0
    assert any("Waits.burns" in methods(sample) for sample in events(path, "jdk.ExecutionSample"))


def test_wall_clock_in_jfr(home17, classes, tmp_path):
    path = tmp_path / "wall.jfr"
    jvm.run_java(home17, classes, f"start,event=wall,interval=5ms,file={path}", "Waits", 1500)
    samples = events(path, "profiler.WallClockSample")
    states = {}
    for sample in samples:
        name = sample["sampledThread"]["javaName"]
        states.setdefault(name, {}).setdefault(sample["state"], 0)
        states[name][sample["state"]] += sample["samples"]
    assert "STATE_SLEEPING" in states["sleeper"] and "STATE_SLEEPING" in states["parker"]
    assert states["busy"].get("STATE_RUNNABLE", 0) > states["busy"].get("STATE_SLEEPING", 0)
    assert any(sample["samples"] > 1 for sample in samples)


def test_an_unwritable_file_is_one_line(home17, classes):
    done = jvm.run_java(home17, classes, "start,event=cpu,file=/no/such/folder/x.jfr", "Shares", 50)
    lines = [line for line in done.stderr.splitlines() if line.startswith("[ERROR]")]
    assert len(lines) == 1 and "/no/such/folder/x.jfr" in lines[0]


def test_loop_writes_one_file_after_another(home17, classes, tmp_path):
    pattern = tmp_path / "part-%n.jfr"
    jvm.run_java(home17, classes, f"start,event=cpu,interval=1ms,loop=1s,file={pattern}", "Waits", 6000)
    parts = sorted(pathlib.Path(tmp_path).glob("part-*.jfr"))
    assert len(parts) >= 2
    for part in parts:
        assert summary(part)[0] == 1
