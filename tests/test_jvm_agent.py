"""The agent in real JVMs."""

import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import jvm
from measuring import mostly

VERSIONS = ["11", "21"]  # 17 and 25: test_jvm_agent_truth.py
PROGRAMS = ["Shares", "Waits"]
SHARE_RUNS = 2


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), *PROGRAMS)


@pytest.fixture(scope="module")
def home17():
    return jvm.home_of("17")


def true_shares(output):
    """The program's own measurement: {method: share of CPU time}."""
    spent = {}
    for name, ns in re.findall(r"^(part\w+) (\d+)$", output, re.MULTILINE):
        spent[f"Shares.{name}"] = spent.get(f"Shares.{name}", 0) + int(ns)
    total = sum(spent.values())
    return {name: ns / total for name, ns in spent.items()}


def check_shares(home, classes, folder, arguments, options=()):
    """The shares of samples of several runs are those of the CPU time measured by the program."""
    path, stacks, output = folder / "shares.folded", [], ""
    for _ in range(SHARE_RUNS):
        output += jvm.run_java(home, classes, f"start,{arguments},file={path}", "Shares", 1200, options=options).stdout
        stacks += jvm.read_folded(path)
    expected = true_shares(output)
    found, samples = jvm.shares_of(stacks, list(expected))
    print(samples, "samples:", {name: f"{found[name]:.3f} of {share:.3f}" for name, share in expected.items()})
    # A timer based on kernel ticks gives at most 250 samples per second; the tolerance grows with fewer samples.
    assert samples > 100 * SHARE_RUNS
    for name, share in expected.items():
        assert abs(found[name] - share) <= jvm.share_error(share, samples), f"{name}: {found[name]:.3f} of {samples} samples, not {share:.3f}"


@pytest.mark.parametrize("version", VERSIONS)
def test_shares_of_cpu_time(version, classes, tmp_path):
    home = jvm.home_of(version)
    check_shares(home, classes, tmp_path, "event=ctimer,interval=1ms")


@pytest.mark.parametrize("arguments, options", [
    ("event=cpu,interval=2ms", ()),
    ("event=itimer,interval=2ms", ()),
    ("event=ctimer,interval=1ms", ("-XX:TieredStopAtLevel=1",)),
    ("event=ctimer,interval=1ms", ("-XX:+UseZGC",)),
    ("event=ctimer,interval=1ms", ("-XX:-SegmentedCodeCache", "-XX:+PreserveFramePointer")),
])
def test_other_engines_and_modes(arguments, options, home17, classes, tmp_path):
    check_shares(home17, classes, tmp_path, arguments, options)


def test_frames_of_a_stack(home17, classes, tmp_path):
    path = tmp_path / "out.folded"
    # -Xbatch: methods wait for their compilation, even on a busy machine.
    done = jvm.run_java(home17, classes, f"start,event=ctimer,interval=1ms,ann,file={path}", "Shares", 1000, options=["-Xbatch"])
    assert "warning" not in done.stdout + done.stderr
    stacks = jvm.read_folded(path)
    deep = max((frames for frames, _ in stacks if frames[-1].startswith("Shares.leafOfDeep_[")), key=len)
    assert deep[0].startswith("Shares.main_[")
    recursive = [frame for frame in deep if frame.startswith("Shares.deep_[")]
    assert len(recursive) >= 55, deep
    text = "\n".join(";".join(frames) for frames, _ in stacks)
    assert "Shares.small_[i]" in text
    assert re.search(r"Shares\.lambda\$main\$\d+|Shares\$\$Lambda", text)
    assert "sha256_implCompress" in text
    assert "arraycopy" in text
    assert "+0x" not in text and "/0x" not in text


def test_wall_clock_sees_sleeping_threads(home17, classes, tmp_path):
    path = tmp_path / "wall.folded"
    jvm.run_java(home17, classes, f"start,event=wall,interval=5ms,threads,file={path}", "Waits", 1500)
    text = path.read_text()
    for thread, method in [("sleeper", "Waits.sleeps"), ("parker", "Waits.parks"), ("locked", "Waits.waitsForLock"),
                           ("busy", "Waits.burns")]:
        assert re.search(rf"^\[{thread} tid=\d+\];.*{re.escape(method)}", text, re.MULTILINE), f"{thread}\n{text[:3000]}"


@pytest.mark.parametrize("arguments, message", [
    ("start,event=nonsense,file=x.folded", "unknown event nonsense"),
    ("start,interval=soon", "interval=soon is not a number"),
    ("start,event=ctimer,target-cpu=0", "need perf events"),
    ("start,event=wall,filter=main", "filter=main is not a thread id"),
    ("start,event=wall,signal=38/x", "signal=NUMBER/WALL"),
    ("start,file=/no/such/folder/x.folded", "/no/such/folder"),
])
def test_bad_use_is_one_line_and_no_harm(arguments, message, home17, classes):
    done = jvm.run_java(home17, classes, arguments, "Shares", 50)
    lines = [line for line in done.stderr.splitlines() if line.startswith("[ERROR]")]
    assert len(lines) == 1 and message in lines[0], done.stderr
    assert "total" in done.stdout


def attach(home, pid, arguments):
    """Load the agent into a running JVM, as the JDK's tools do."""
    quoted = f'"{arguments}"'
    return subprocess.run([home / "bin" / "jcmd", str(pid), "JVMTI.agent_load", str(jvm.LIBRARY), quoted],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=jvm.LIMIT_SECONDS, check=False)


def thread_id(pid, name):
    """A thread has its name only while it runs."""
    for _ in range(200):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
        time.sleep(0.1)
    raise AssertionError(f"no thread {name}")


def test_only_some_threads_by_their_policy(home17, classes, tmp_path):
    """filter= selects one thread; sched groups it by scheduling policy."""
    path = tmp_path / "one.folded"
    program = subprocess.Popen([home17 / "bin" / "java", "-cp", str(classes), "Waits", "600000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        tid = thread_id(program.pid, "busy")
        os.sched_setscheduler(tid, os.SCHED_BATCH, os.sched_param(0))
        start = f"start,event=wall,interval=2ms,threads,sched,signal=0/{signal.SIGRTMAX - 8},filter={tid}"
        assert "return code: 0" in attach(home17, program.pid, start).stdout
        for _ in range(100):
            attach(home17, program.pid, f"dump,collapsed,file={path}")
            if path.exists() and "Waits.burns" in path.read_text():
                break
            time.sleep(0.2)
        stacks = jvm.read_folded(path)
        assert stacks and all(frames[:2] == ["[SCHED_BATCH]", f"[busy tid={tid}]"] for frames, _ in stacks), stacks
    finally:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("version", ["17", "25"])
def test_attach_start_dump_stop(version, classes, tmp_path):
    home = jvm.home_of(version)
    first, last, status = tmp_path / "first.folded", tmp_path / "last.txt", tmp_path / "status.txt"
    program = subprocess.Popen([home / "bin" / "java", "-cp", str(classes), "Waits", "600000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        commands = home if (home / "bin" / "jcmd").exists() else jvm.system_home()
        assert "return code: 0" in attach(commands, program.pid, "start,event=cpu,interval=1ms").stdout
        assert "return code: 100" in attach(commands, program.pid, "start,event=cpu").stdout
        for _ in range(100):
            attach(commands, program.pid, f"dump,collapsed,file={first}")
            if first.exists() and "Waits.burns" in first.read_text():
                break
            time.sleep(0.2)
        assert "Waits.burns" in first.read_text()
        attach(commands, program.pid, f"status,file={status}")
        assert re.fullmatch(r"Profiling is running for \d+ seconds\n", status.read_text())
        attach(commands, program.pid, f"stop,file={last}")
        assert "--- Execution profile ---" in last.read_text() and "Waits.burns" in last.read_text()
        attach(commands, program.pid, f"status,file={status}")
        assert status.read_text() == "Profiler is not active\n"
        assert program.poll() is None
    finally:
        program.kill()
        program.communicate()


def test_depth_limit(home17, tmp_path):
    path = tmp_path / "out.folded"
    jvm.run_java(home17, jvm.compile_classes(tmp_path, "Depths"), f"start,event=ctimer,interval=1ms,jstackdepth=50,file={path}",
                 "Depths")
    stacks = jvm.read_folded(path)
    assert max(len(frames) for frames, _ in stacks) == 50
    assert any(frames[0] == "[truncated]" and frames[-1] == "Depths.deep" for frames, _ in stacks)


def test_stacks_that_take_longer_than_the_interval(home17, tmp_path):
    """The program makes progress, and its samples match its CPU time. Without pauses the ratio was 12."""
    classes, path = jvm.compile_classes(tmp_path, "Depths"), tmp_path / "deep.folded"
    def check():
        spent = {}
        for interval in ("10ms", "50us"):
            done = jvm.run_java(home17, classes, f"start,event=cpu,interval={interval},total,file={path}", "Depths", 1900, 2, 5_000_000,
                                options=["-Xint"])
            spent[interval] = int(re.search(r"spent (\d+)", done.stdout).group(1))
        seen = sum(ns for frames, ns in jvm.read_folded(path) if "Depths.deep" in frames)
        assert 0.8 * spent["50us"] < seen < 1.2 * spent["50us"]
        ratio = spent["50us"] / spent["10ms"]
        return None if ratio <= 6 else f"ratio {ratio:.1f}"

    mostly(check)


@pytest.mark.parametrize("version", ["17", "25"])
def test_stacks_are_whole(version, tmp_path):
    """Sorting strings: an intrinsic that pushes registers while it compares them must not lose its callers."""
    home, path = jvm.home_of(version), tmp_path / "out.folded"
    classes = jvm.compile_classes(tmp_path, "../../bench/java/FixedWork")
    jvm.run_java(home, classes, f"start,event=ctimer,interval=1ms,file={path}", "FixedWork")
    stacks = [(frames, count) for frames, count in jvm.read_folded(path) if any("/" in frame for frame in frames)]
    total = sum(count for _, count in stacks)
    broken = [(frames, count) for frames, count in stacks if frames[0].startswith(("[break", "[unknown", "[no_Java"))]
    assert total > 300
    assert sum(count for _, count in broken) < total * jvm.share_error(0, total), broken[:10]
    assert any("java/lang/String.compareTo" in frames and frames[0] == "FixedWork.main" for frames, _ in stacks)
