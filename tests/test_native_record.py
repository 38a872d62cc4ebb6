"""Native programs with known profiles (native_programs/native_work.c), recorded by perf events."""

import contextlib
import gzip
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

import pprof_message
from python_targets import running

PROGRAMS = pathlib.Path(__file__).resolve().parent / "native_programs"
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
LEVEL = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
SHARES = {"burn_fifty": 0.5, "burn_thirty": 0.3, "burn_twenty": 0.2}
OWN_STACK = ("main", "work_until")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """The compiled program, without frame pointers."""
    folder = tmp_path_factory.mktemp("native")
    folder.chmod(0o755)
    path = folder / "native_work"
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-pthread", "-o", path, PROGRAMS / "native_work.c"], check=True)
    return path


@pytest.fixture
def record(sparkflame, tmp_path):
    """Record to folded text: (stacks with their counts, what was said). Skips where perf events are forbidden."""
    def call(*arguments):
        done = sparkflame("record", "-f", "out.folded", *arguments)
        skip_if_forbidden(done)
        assert done.returncode == 0, done.stderr.decode()
        return read_folded(tmp_path / "out.folded"), done.stderr.decode()
    return call


def skip_if_forbidden(done):
    if re.search(rb"perf events are not permitted|no perf events|seccomp profile", done.stderr):
        pytest.skip(f"this machine forbids perf events: {done.stderr.decode().strip()}")


def read_folded(path):
    lines = [line.rpartition(" ") for line in path.read_text().splitlines()]
    return [(stack.split(";"), int(count)) for stack, _, count in lines]


def functions(stack):
    """Without the file in parentheses."""
    return [re.sub(r" \(.*\)$", "", frame) for frame in stack]


def count_of(stacks, function):
    return sum(count for stack, count in stacks if function in functions(stack))


def check_shares(stacks, counted):
    """Within four standard deviations of the binomial distribution."""
    total = sum(count_of(stacks, function) for function in counted)
    assert total > 50, stacks
    for function, share in counted.items():
        seen, error = count_of(stacks, function) / total, (share * (1 - share) / total) ** 0.5
        print(f"{function}: {seen:.3f} of {total} samples, expected {share} ± {error:.3f}")
        assert abs(seen - share) < 4 * error + 0.01, (function, seen, total)


@contextlib.contextmanager
def started(*command, **more):
    with subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, **more) as process:
        try:
            yield process
        finally:
            process.kill()


def test_known_shares_of_a_program_without_frame_pointers(record, work):
    stacks, said = record("-r", "999", "--", work, "shares", "1000")
    check_shares(stacks, SHARES)
    assert re.search(r"\d+ samples of native code", said), said
    for stack, _ in stacks:
        if "spin" in functions(stack):
            assert [name for name in functions(stack) if name in (*OWN_STACK, *SHARES)][:2] == [*OWN_STACK], stack
            assert functions(stack)[0] in ("_start", "__libc_start_call_main"), stack


def test_a_process_that_runs_already(record, work):
    with started(work, "shares", "60000") as process:
        stacks, _ = record(process.pid, "-d", "0.5")
        assert process.poll() is None
        assert count_of(stacks, "main") > 0


def test_the_recording_ends_with_the_process(record, work):
    with started(work, "shares", "1500") as process:
        stacks, _ = record(process.pid, "-r", "499")
        assert process.wait() == 0
    check_shares(stacks, SHARES)


def test_threads_that_come_and_go_have_names(record, work):
    stacks, _ = record("--threads", "-r", "499", "--", work, "threads", "1000")
    workers = [(stack, count) for stack, count in stacks if "run_thread" in functions(stack)]
    names = {re.sub(r"thread \(\d+\): ", "", stack[0]) for stack, _ in workers}
    assert {f"burner-{i}" for i in range(4)} <= names, names
    check_shares(workers, SHARES)
    # 250 ms of each thread.
    for i in range(4):
        assert count_of([item for item in workers if item[0][0].endswith(f"burner-{i}")], "spin") > 20


def test_children_by_fork_and_by_exec(record, work):
    """Each process lives for 100 ms of CPU time."""
    stacks, _ = record("--processes", "-r", "499", "--", work, "children", "800")
    forked = {stack[0] for stack, _ in stacks if "work_as_child" in functions(stack)}
    executed = {stack[0] for stack, _ in stacks if "work_until" in functions(stack)} - forked
    assert (len(forked), len(executed)) == (4, 4), stacks
    assert all(re.fullmatch(r"process \d+: native_work", name) for name in forked | executed)
    check_shares(stacks, SHARES)


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(is_so):
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_children_only_when_they_are_wanted(sparkflame, record, work):
    with started("/bin/sh", "-c", f"{work} shares 60000; true") as shell:
        wait_until(lambda: children_of(shell.pid))
        stacks, said = record("--subprocesses", shell.pid, "-d", "1")
        assert count_of(stacks, "main") > 0, said
        done = sparkflame("record", shell.pid, "-d", "0.5")
        assert done.returncode == 1 and b"no sample was taken during the recording" in done.stderr, done.stderr.decode()
        os.kill(children_of(shell.pid)[0], 9)


def test_a_child_that_nobody_waits_for(record, work):
    with started("/bin/sh", "-c", f"sleep 0 & exec {work} shares 60000") as process:
        wait_until(lambda: [state_of(child) for child in children_of(process.pid)] == ["Z"])
        stacks, said = record("--subprocesses", process.pid, "-d", "0.5")
        assert count_of(stacks, "main") > 0, said


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def threads_of(pid):
    return os.listdir(f"/proc/{pid}/task")


def test_threads_outlive_the_first(work, tmp_path, binary):
    """Half a second passes before they do anything."""
    with started(work, "leaderless", "300") as process:
        wait_until(lambda: len(threads_of(process.pid)) == 2)
        with started(binary, "record", process.pid, "-r", "499", "-f", "out.folded", cwd=tmp_path, stderr=subprocess.PIPE) as recorder:
            wait_until(lambda: recorder.poll() is not None or len(threads_of(recorder.pid)) == 2)
            process.send_signal(signal.SIGUSR1)
            said = recorder.communicate()[1]
        skip_if_forbidden(subprocess.CompletedProcess((), recorder.returncode, stderr=said))
        assert recorder.returncode == 0, said.decode()
    stacks = read_folded(tmp_path / "out.folded")
    assert count_of(stacks, "outlive_leader") > 0 and count_of(stacks, "burn_fifty") > 0, said.decode()


def test_time_in_the_kernel(record, work):
    stacks, said = record("-r", "499", "--", work, "kernel", "1000")
    if "time in the kernel is missing" in said:
        pytest.skip("this machine forbids kernel samples")
    total = sum(count for _, count in stacks)
    called = [(stack, count) for stack, count in stacks if {"call_kernel", "read"} <= set(functions(stack))]
    assert sum(count for _, count in called) > 0.9 * total, stacks
    if "have no names" not in said:
        assert count_of(called, "vfs_read") > 0.9 * total, stacks


@pytest.mark.parametrize("mode", ["generated", "jitdump"])
def test_generated_code_has_the_names_of_its_file(record, work, mode):
    if platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("the generated code is for x86-64 and aarch64")
    stacks, _ = record("-r", "499", "--", work, mode, "1000")
    total = sum(count for _, count in stacks)
    named = [(stack, count) for stack, count in stacks if f"{'dumped' if mode == 'jitdump' else mode}::loop of the test" in stack]
    assert sum(count for _, count in named) > 0.9 * total, stacks
    assert all({"main", "run_generated"} <= set(functions(stack)) for stack, _ in named), named


@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the instructions of x86-64")
def test_generated_code_has_callers_at_each_instruction(record, work):
    """Also before it has set its frame pointer and after it has restored that of its caller."""
    stacks, _ = record("-r", "999", "--", work, "calls", "1000")
    named = [(stack, count) for stack, count in stacks if "generated::loop of the test" in stack]
    assert sum(count for _, count in named) > 100, stacks
    assert all({"main", "run_generated"} <= set(functions(stack)) for stack, _ in named), named


def test_a_deleted_program_has_names(record, work, tmp_path):
    """Through /proc/PID/exe."""
    copy = tmp_path / "copy"
    shutil.copy(work, copy)
    with started(copy, "shares", "1500") as process:
        copy.unlink()
        stacks, _ = record(process.pid, "-r", "499")
    check_shares(stacks, SHARES)


def test_separate_files_of_symbols(record, work, tmp_path):
    """By .gnu_debuglink, beside the stripped program."""
    stripped, symbols = tmp_path / "stripped", tmp_path / "stripped.debug"
    subprocess.run(["objcopy", "--only-keep-debug", work, symbols], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={symbols}", work, stripped], check=True, cwd=tmp_path)
    stacks, _ = record("-r", "499", "--", stripped, "shares", "700")
    check_shares(stacks, SHARES)
    symbols.unlink()
    stacks, _ = record("-r", "499", "--", stripped, "shares", "300")
    assert count_of(stacks, "burn_fifty") == 0 and count_of(stacks, "[unknown]") > 0, stacks


def test_labels_and_time_in_pprof(sparkflame, work, tmp_path):
    done = sparkflame("record", "-f", "out.pb.gz", "-r", "200", "--", work, "threads", "400")
    skip_if_forbidden(done)
    assert done.returncode == 0, done.stderr.decode()
    profile = pprof_message.decode(gzip.decompress((tmp_path / "out.pb.gz").read_bytes()))
    burners = [(dict(labels), values) for _, labels, values in pprof_message.samples(profile)
               if dict(labels).get("thread", "").startswith("burner-")]
    assert {labels["thread"] for labels, _ in burners} == {f"burner-{i}" for i in range(4)}
    assert len({labels["process"] for labels, _ in burners}) == 1 and len({labels["thread_id"] for labels, _ in burners}) == 4
    assert {labels["thread_state"] for labels, _ in burners} == {"running"}
    assert [profile.string_table[each.type] for each in profile.sample_type] == ["samples", "cpu"]
    assert all(5_000_000 * samples == nanoseconds for _, (samples, nanoseconds) in burners)


def test_the_whole_machine(sparkflame, work, tmp_path):
    with started(work, "shares", "60000") as process:
        done = sparkflame("record", "--host", "-d", "2", "-f", "out.folded")
        skip_if_forbidden(done)
        assert done.returncode == 0, done.stderr.decode()
        own = [(stack, count) for stack, count in read_folded(tmp_path / "out.folded")
               if stack[0] == f"process {process.pid}: native_work"]
    assert count_of(own, "main") > 0, done.stderr.decode()


def test_the_whole_machine_in_a_namespace(work, tmp_path, binary):
    """In one with PIDs of its own, only its processes are seen, and all of their samples."""
    if not IS_ROOT or shutil.which("unshare") is None:
        pytest.skip("only root makes namespaces")
    script = f"{binary} record --host -d 600 -r 499 -f out.folded & r=$!; sleep 1; {work} shares 1500; kill $r; wait $r"
    with started(work, "shares", "60000"):
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script], cwd=tmp_path, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL)
    skip_if_forbidden(done)
    if b"unshare" in done.stderr:
        pytest.skip(f"this machine forbids namespaces: {done.stderr.decode().strip()}")
    stacks = read_folded(tmp_path / "out.folded")
    programs = {stack[0] for stack, _ in stacks if stack[0].endswith(": native_work")}
    assert len(programs) == 1 and int(re.search(r"\d+", programs.pop())[0]) < 100, stacks
    check_shares(stacks, SHARES)


def test_a_python_program_is_not_recorded_twice(sparkflame, tmp_path):
    program = "import time\nend = time.process_time() + 0.7\nwhile time.process_time() < end: pass"
    done = sparkflame("record", "-f", "out.folded", "--", "/bin/sh", "-c", f"python3 -c '{program}'")
    assert done.returncode == 0, done.stderr.decode()
    for stack, _ in read_folded(tmp_path / "out.folded"):
        assert not any("python" in frame and not frame.startswith("<module>") for frame in stack), stack


def test_native_and_python_in_one_recording(record, work):
    with started(work, "shares", "60000") as process, running("3.13", "alternating_chains.py", 5000) as target:
        stacks, _ = record(process.pid, target.pid, "-d", "1", "--processes")
        assert count_of(stacks, "main") > 0 and count_of(stacks, "<module>") > 0
        assert {f"process {target.pid}", f"process {process.pid}: native_work"} == {stack[0] for stack, _ in stacks}


def test_stacks_are_those_of_perf(work, tmp_path, binary):
    """Both record the same process at the same time; each takes its own samples, so the kinds of stacks are compared."""
    perf = shutil.which("perf")
    if perf is None:
        pytest.skip("no perf here")
    with started(work, "shares", "2500") as process:
        ours = subprocess.Popen([binary, "record", str(process.pid), "-r", "499", "-f", "ours.folded"], cwd=tmp_path,
                                stderr=subprocess.PIPE)
        theirs = subprocess.run([perf, "record", "-q", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "dwarf,16384", "-o", "perf.data",
                                 "-p", str(process.pid)], cwd=tmp_path, capture_output=True, check=False)
        said = ours.communicate()[1]
    if theirs.returncode != 0:
        pytest.skip(f"perf does not work here: {theirs.stderr.decode()}")
    assert ours.returncode == 0, said.decode()
    text = subprocess.run([perf, "script", "-i", "perf.data", "-F", "comm,ip,sym"], cwd=tmp_path, capture_output=True, check=True).stdout
    expected = {}
    for block in text.decode().split("\n\n"):
        names = tuple(reversed([line.split(None, 1)[1] for line in block.strip().splitlines()[1:]]))
        own = names[names.index("main"):] if "main" in names else names
        expected[own] = expected.get(own, 0) + 1
    got = {}
    for stack, count in read_folded(tmp_path / "ours.folded"):
        names = functions(stack)
        own = tuple(names[names.index("main"):]) if "main" in names else tuple(names)
        got[own] = got.get(own, 0) + count
    # Rare ones, such as the moment between two calls, may be missed by one of both.
    common = {stack for stack, count in expected.items() if count >= 20}
    assert len(common) >= 3 and common <= set(got), (expected, got)
    assert {stack for stack, count in got.items() if count >= 20 and stack[-1] == "spin"} <= set(expected), (expected, got)


@pytest.mark.parametrize("arguments, message", [
    (("--host", "1"), "--host records all processes: give no others"),
    (("--host", "--gil"), "are for Python, and no process is Python"),
    (("--host", "-e", "alloc"), 'unknown event "alloc" of native programs'),
    (("--host", "-e", "cycles:x"), 'unknown event "cycles:x" of native programs'),
])
def test_wrong_use_is_explained(sparkflame, arguments, message):
    done = sparkflame("record", *arguments)
    assert done.returncode == 2 and message in done.stderr.decode(), done.stderr.decode()


def test_a_process_that_sleeps_has_no_samples(sparkflame):
    with started("sleep", "600") as sleeper:
        done = sparkflame("record", sleeper.pid, "-d", "0.3")
    skip_if_forbidden(done)
    assert done.returncode == 1 and b"no sample was taken during the recording" in done.stderr, done.stderr.decode()


# ---- waits ----

def read_truth(text):
    """Of "native_work waits": (function, thread, waited, lived)."""
    return [(name, tid, int(waited), int(lived)) for name, tid, waited, lived in (line.split() for line in text.splitlines())]


def of_thread(stacks, tid):
    return [(stack, count) for stack, count in stacks if stack[0].startswith(f"thread ({tid}):")]


WAITS = ("[waiting]", "[preempted]", "[runnable]")


def waits_of(stacks):
    return sum(count for stack, count in stacks if stack[-1] in WAITS)


def record_waits(sparkflame, work, tmp_path, event):
    """What the program prints is in its own file, so that it does not become part of the picture."""
    command = f"exec {work} waits 1500 > truth"
    done = sparkflame("record", "-f", "out.folded", "--threads", "-r", "499", "-e", event, "--", "/bin/sh", "-c", command)
    skip_if_forbidden(done)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    if "stacks of short waits are missing" in said:
        pytest.skip("this machine forbids stacks of switches")
    truth = read_truth((tmp_path / "truth").read_text())
    assert len(truth) == 4
    return read_folded(tmp_path / "out.folded"), truth, said


def test_running_and_waiting_add_up_to_the_life_of_each_thread(sparkflame, work, tmp_path):
    stacks, truth, said = record_waits(sparkflame, work, tmp_path, "wall")
    assert re.search(r"\d+ samples of native code; \d+ waits", said) and "missed" not in said, said
    for name, tid, waited, lived in truth:
        own = of_thread(stacks, tid)
        total = sum(count for _, count in own)
        in_function = count_of(own, name)
        print(f"{name}: {total / 1e6:.1f} of {lived / 1e6:.1f} ms; in the function {in_function / 1e6:.1f}, waited {waited / 1e6:.1f}")
        assert abs(total - lived) < 0.02 * lived, (name, own, said)
        if waited > 0:
            assert abs(in_function - waited) < 0.05 * waited, (name, own, said)
            assert waits_of(own) > 0.9 * in_function
        else:
            assert in_function > 0.95 * total, own


def test_waits_alone(sparkflame, work, tmp_path):
    stacks, truth, said = record_waits(sparkflame, work, tmp_path, "offcpu")
    assert all(stack[-1] in WAITS for stack, _ in stacks), stacks
    for name, tid, waited, _ in truth:
        own = of_thread(stacks, tid)
        if waited > 0:
            assert abs(count_of(own, name) - waited) < 0.05 * waited, (name, own, said)
            assert "run_waits" not in {frame for stack, _ in own for frame in functions(stack)}


def test_who_ends_a_wait(sparkflame, work, tmp_path):
    """A thread that gives the lock away and writes into the pipe. Sleep ends by the clock: by an interrupt, if the kernel wrote a record of
    that, and by no thread. Until then the thread waits, then it is runnable."""
    done = sparkflame("record", "-f", "out.pb.gz", "-e", "offcpu", "--", work, "waits", "1500")
    skip_if_forbidden(done)
    said = done.stderr.decode()
    assert done.returncode == 0 and "waits by the switch records of perf events" in said, said
    if "is not known" in said:
        pytest.skip(f"this machine forbids the tracepoint: {said.strip()}")
    assert int(re.search(r"wakers of (\d+) by the tracepoint", said)[1]) > 100, said
    done = sparkflame("convert", "-q", "-f", "folded", "-o", "out.folded", "--by", "waker", "out.pb.gz")
    assert done.returncode == 0, done.stderr.decode()
    stacks = read_folded(tmp_path / "out.folded")
    for function, waker in (("wait_for_pipe", "waker giver"), ("wait_for_lock", "waker giver"), ("wait_asleep", "[no waker]")):
        waits = [(stack, count) for stack, count in stacks if function in functions(stack) and stack[-1] == "[waiting]"]
        by = count_of(waits, waker) + (count_of(waits, "waker [interrupt]") if function == "wait_asleep" else 0)
        print(f"{function}: {by / 1e6:.1f} of {count_of(waits, function) / 1e6:.1f} ms by {waker}")
        assert by > 0.8 * count_of(waits, function) > 0.1e9, (function, waits)
    assert {stack[0] for stack, _ in stacks if stack[-1] != "[waiting]"} == {"[no waker]"}, stacks


def test_a_wait_that_began_before_the_recording(sparkflame, work, tmp_path):
    """Its stack is read from outside."""
    with started(work, "nap", "600000") as process:
        wait_until(lambda: "nanosleep" in pathlib.Path(f"/proc/{process.pid}/wchan").read_text() or state_of(process.pid) == "S")
        done = sparkflame("record", "-f", "out.folded", process.pid, "-d", "0.6", "-e", "offcpu")
        try:
            pathlib.Path(f"/proc/{process.pid}/syscall").read_text()
        except OSError:
            pytest.skip("this machine forbids reading of registers in /proc")
    skip_if_forbidden(done)
    stacks = read_folded(tmp_path / "out.folded")
    assert count_of(stacks, "take_nap") > 0.6e9 and {"main", "take_nap"} <= set(functions(stacks[0][0])), (stacks, done.stderr.decode())


@pytest.mark.parametrize("event", ["cpu", "wall", "offcpu", "page-faults"])
def test_processes_that_start_and_end_all_the_time(sparkflame, work, tmp_path, event):
    """By fork alone, by exec, and killed while they wait."""
    script = (f"for i in 1 2 3 4 5 6 7 8; do ( : ) & /bin/true & {work} nap 60000 & kill -9 $!; {work} threads 4 & done; wait")
    # Children inherit the period that the kernel found for their parent: only a fixed one shows each of them.
    often = ["--count", "1"] if event == "page-faults" else ["-r", "997"]
    done = sparkflame("record", "-e", event, "--processes", "--threads", *often, "-f", "out.folded", "--", "/bin/sh", "-c", script)
    skip_if_forbidden(done)
    assert done.returncode == 0, done.stderr.decode()
    processes = {stack[0] for stack, _ in read_folded(tmp_path / "out.folded")}
    assert all(re.fullmatch(r"process \d+: .*", name) for name in processes), processes
    is_sure = event == "wall" or (event == "page-faults" and b" lost" not in done.stderr)
    assert processes and (len(processes) >= 8 or not is_sure), (processes, done.stderr.decode())


def test_a_process_that_is_killed_while_it_waits(work, tmp_path, binary):
    with started(work, "nap", "600000") as process:
        with started(binary, "record", process.pid, "-e", "wall", "-f", "out.folded", cwd=tmp_path, stderr=subprocess.PIPE) as recorder:
            wait_until(lambda: recorder.poll() is not None or len(threads_of(recorder.pid)) == 2)
            process.kill()
            said = recorder.communicate()[1]
    skip_if_forbidden(subprocess.CompletedProcess((), recorder.returncode, stderr=said))
    assert recorder.returncode == 0 and b"1 wait" in said, said.decode()
    assert sum(count for _, count in read_folded(tmp_path / "out.folded")) > 0


# ---- other events ----

def test_page_faults_are_counted(record, work):
    pages = 20000
    period = 100  # often enough, and below the rate at which the kernel stops an event until its next tick
    stacks, said = record("-e", "page-faults", "--count", period, "--", work, "faults", pages)
    lost = re.search(r"(\d+) lost", said)
    seen = sum(count for _, count in stacks) + period * (int(lost[1]) if lost else 0)
    # On each processor, up to one period is not counted; the start of a program takes some hundred faults.
    assert pages - period * os.cpu_count() <= seen <= pages + 1000, (seen, said, stacks)
    assert count_of(stacks, "touch_pages") > 0


def test_hardware_counters_or_a_reason(sparkflame, work, tmp_path):
    done = sparkflame("record", "-e", "instructions:u", "-f", "out.folded", "--", work, "shares", "300")
    skip_if_forbidden(done)
    if done.returncode != 0:
        assert "event instructions:u: this machine has no such hardware counter" in done.stderr.decode(), done.stderr.decode()
        return
    assert count_of(read_folded(tmp_path / "out.folded"), "main") > 0


def test_each_occurrence_of_a_tracepoint(sparkflame, work, tmp_path):
    with started(work, "shares", "60000") as process:
        done = sparkflame("record", "-e", "sched:sched_process_exit", "-f", "out.folded", process.pid, "-d", "0.2")
    said = done.stderr.decode()
    assert done.returncode == 1, said
    assert re.search(r"tracefs is not mounted|may not be read|no sample was taken|not permitted", said), said
    if "no sample was taken" not in said:
        pytest.skip(said)
    done = sparkflame("record", "-e", "sched:sched_process_exit", "-f", "out.folded", "--", work, "threads", "40")
    assert done.returncode == 0, done.stderr.decode()
    assert sum(count for _, count in read_folded(tmp_path / "out.folded")) == 5


# ---- top and dump ----

def test_top_of_a_native_program(sparkflame, work):
    with started(work, "shares", "60000") as process:
        done = sparkflame("top", process.pid, "-d", "1.5", "-r", "499")
    skip_if_forbidden(done)
    assert done.returncode == 0, done.stderr.decode()
    head, *rows = done.stdout.decode().splitlines()
    assert re.match(r"1 native process at 499 Hz: \d+ samples", head), head
    total = {row.split()[4]: float(row.split()[1].rstrip("%")) for row in rows if row.endswith("(native_work)")}
    assert total["main"] > 90 and total["main"] >= total["burn_fifty"] > total["burn_twenty"], rows


def test_top_of_the_machine(sparkflame, work):
    with started(work, "shares", "60000"):
        done = sparkflame("top", "--host", "-d", "1")
    if b"perf events are not permitted" in done.stderr:
        pytest.skip(done.stderr.decode())
    assert done.returncode == 0 and done.stdout.startswith(b"all processes at 100 Hz"), done.stderr.decode()


@pytest.mark.parametrize("options, message", [
    (("--gil",), "--gil, --idle and --lines are for Python"),
    (("-e", "alloc"), "of native programs only the event cpu is shown"),
    (("--host",), "--host shows all processes: give no others"),
])
def test_wrong_use_of_top_is_explained(sparkflame, options, message):
    with started("sleep", "600") as sleeper:
        done = sparkflame("top", sleeper.pid, *options)
    assert done.returncode == 2 and message in done.stderr.decode(), done.stderr.decode()


def dumped(sparkflame, pid):
    done = sparkflame("dump", "--json", pid)
    if b"security module" in done.stderr or b"ptrace" in done.stderr:
        pytest.skip(done.stderr.decode())
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_dump_of_threads_that_run_and_wait(sparkflame, work):
    with started(work, "waits", "60000", stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: len(threads_of(process.pid)) == 5)
        process_dump = dumped(sparkflame, process.pid)
        assert process_dump["language"] == "native" and process_dump["pid"] == process.pid
        stacks = [[frame["function"] for frame in thread["frames"]] for thread in process_dump["threads"]]
        outermost = {"sleep_often", "lock_often", "read_often", "compute", "main"}
        assert {name for stack in stacks for name in stack} >= outermost, process_dump
        done = sparkflame("dump", process.pid)
        assert done.returncode == 0 and done.stdout.startswith(b"Process %d (native)" % process.pid), done.stdout.decode()
        assert b"burn_fifty (native_work)" in done.stdout or b"compute (native_work)" in done.stdout, done.stdout.decode()
        assert process.poll() is None


def test_dump_of_a_process_that_is_not_there(sparkflame):
    with started("true") as process:
        process.wait()
        done = sparkflame("dump", process.pid)
    assert done.returncode == 1 and f"there is no process {process.pid}" in done.stderr.decode(), done.stderr.decode()


@pytest.fixture(scope="module")
def weak(binary, work):
    """Record as an unprivileged user, from where that user can access both programs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        for path in (binary, work):
            shutil.copy(path, folder / path.name)

        def call(*arguments, **more):
            return subprocess.run([folder / binary.name, "record", *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, user=NOBODY, group=NOBODY, extra_groups=[], **more)
        call.work = folder / work.name
        yield call


needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")


@needs_root
def test_own_programs_without_privileges(weak, work):
    level = int(LEVEL.read_text())
    done = weak("--format", "folded", "--", f"./{work.name}", "shares", "500")
    if level > 2 or done.returncode != 0:
        assert "kernel.perf_event_paranoid" in done.stderr or "seccomp" in done.stderr, done.stderr
    else:
        assert "burn_fifty" in done.stdout, done.stderr
        assert ("time in the kernel is missing: kernel.perf_event_paranoid" in done.stderr) == (level == 2), done.stderr


@needs_root
def test_long_waits_without_privileges(weak):
    """Where the kernel's stacks are not permitted, those of long waits are read from outside."""
    done = weak("--format", "folded", "-e", "wall", "--", f"./{weak.work.name}", "nap", "3000")
    level = int(LEVEL.read_text())
    if level > 2 or "seccomp" in done.stderr:
        pytest.skip(done.stderr)
    assert ("stacks of short waits are missing: kernel.perf_event_paranoid" in done.stderr) == (level == 2), done.stderr
    naps = [line for line in done.stdout.splitlines() if "take_nap" in line]
    assert naps and sum(int(line.rpartition(" ")[2]) for line in naps) > 2.9e9, (done.stdout, done.stderr)


@needs_root
def test_a_child_of_another_user_is_left_out(weak):
    to_nobody = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"
    with started("/bin/sh", "-c", f"sleep 600 & exec {to_nobody} {weak.work} shares 60000") as process:
        wait_until(lambda: "native_work" in pathlib.Path(f"/proc/{process.pid}/comm").read_text())
        done = weak("--subprocesses", process.pid, "-d", "2", "--format", "folded")
        os.kill(children_of(process.pid)[0], 9)
    if int(LEVEL.read_text()) > 2 or "seccomp" in done.stderr:
        pytest.skip(done.stderr)
    assert "main" in done.stdout and "1 child process not permitted" in done.stderr, done.stderr


@needs_root
def test_rings_fit_into_little_memory(weak, work):
    """What the first processor's rings may have must leave enough for the last one's."""
    if not 0 <= int(LEVEL.read_text()) <= 2:
        pytest.skip("perf events are forbidden, or their memory has no limit")
    done = weak("--format", "folded", "--", f"./{work.name}", "shares", "300",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)))
    if "seccomp" in done.stderr:
        pytest.skip(done.stderr)
    assert "burn_fifty" in done.stdout, done.stderr


@needs_root
def test_what_is_not_permitted_is_explained(weak):
    level = int(LEVEL.read_text())
    with started("sleep", "600") as sleeper:
        done = weak(sleeper.pid, "-d", "0.3")
    assert done.returncode == 1
    assert f"process {sleeper.pid} may not be read: it belongs to user 0" in done.stderr, done.stderr
    if level > 0:
        done = weak("--host", "-d", "0.3")
        assert done.returncode == 1
        assert f"all processes: perf events are not permitted: kernel.perf_event_paranoid is {level}" in done.stderr, done.stderr
