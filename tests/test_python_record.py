"""Recording real CPython processes: the stacks are those that Python reports, and no others."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from measuring import collect, mostly
from python_targets import (PROGRAMS, VERSIONS, given_up, go, interpreter, pids, running, running_all, stacks,
                            stacks_by_process)


def test_stacks_are_those_that_python_holds(sparkflame):
    with running_all(VERSIONS, "known_stacks.py") as targets:
        done = sparkflame("record", *pids(targets), "--processes", "--idle", "--full-filenames", "-d", "0.5", "-r", "20",
                          "--format", "folded")
    assert done.returncode == 0, done.stderr.decode()
    recorded = stacks_by_process(done.stdout)
    for version, target in targets.items():
        expected = {tuple(f"{name} ({file}:{line})" for name, file, line in stack)
                    for stack in json.loads(target.first_line)}
        assert len(expected) == 18
        assert (version, set(recorded[target.pid])) == (version, expected)


def check_stacks_at_once(sparkflame, target_of, is_possible, *options):
    """At 2,000 Hz, in three measurements together, at most a thousandth of the stacks is wrong and a twentieth is skipped."""
    def measure():
        with target_of() as target:
            done = sparkflame("record", target.pid, "--nolineno", "-d", "1", "-r", "2000", "--format", "folded", *options)
        assert done.returncode == 0, done.stderr.decode()
        torn = total = 0
        for stack, count in stacks(done.stdout).items():
            total += count
            if not is_possible([frame.split(" ")[0] for frame in stack]):
                torn += count
        lost, kept = given_up(done.stderr)
        assert total == kept
        return torn, total, lost

    measured = [measure() for _ in range(3)]
    print("impossible, read, skipped:", measured)
    torn, total, lost = (sum(column) for column in zip(*measured))
    assert torn <= 0.001 * total and lost <= 0.05 * (lost + total), measured


# Threads that take the GIL from each other sometimes have it while they are read.
# Calls through C leave a frame on the C stack between those of Python.
@pytest.mark.parametrize("arguments", [(500, 1), (20, 3), (5000, 1, "c")])
@pytest.mark.parametrize("version", VERSIONS)
def test_alternating_chains_are_never_mixed(sparkflame, version, arguments):
    check_stacks_at_once(sparkflame, lambda: running(version, "alternating_chains.py", *arguments), is_possible_chain, "--idle")


def is_possible_chain(names):
    if names[0].endswith("_bootstrap"):
        return "main" not in names or is_possible_chain(["<module>", *names[names.index("main"):]])
    if names[:2] != ["<module>", "main"]:
        return names[0] == "<module>" and "main" not in names
    chain = names[2:]
    if chain and chain[-1] == "leaf":
        chain = chain[:-1]
        if len(chain) != 30:
            return False
    return chain in ([f"a{i}" for i in range(len(chain))], [f"b{i}" for i in range(len(chain))])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_generator_has_its_caller(sparkflame, version):
    def check():
        with running(version, "quick_generator.py") as target:
            done = sparkflame("record", target.pid, "--nolineno", "-d", "0.5", "-r", "2000", "--format", "folded")
        assert done.returncode == 0, done.stderr.decode()
        names = {tuple(frame.split(" ")[0] for frame in stack): count for stack, count in stacks(done.stdout).items()}
        torn = sum(count for stack, count in names.items() if stack[:2] != ("<module>", "main"))
        assert ("<module>", "main", "consume", "generate") in names
        return None if torn <= 0.001 * sum(names.values()) else f"{torn} of {sum(names.values())} have no caller"

    mostly(check)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_recursion_has_its_root(sparkflame, version):
    check_stacks_at_once(sparkflame, lambda: running(version, "quick_recursion.py"), is_possible_recursion)


def is_possible_recursion(names):
    return names[:2] == ["<module>", "main"] and set(names[2:]) <= {"recurse"} and len(names) <= 62


@pytest.mark.parametrize("versions", [("3.9", "3.13"), ("3.11", "3.14")])
def test_code_in_recycled_memory_has_its_own_name(sparkflame, versions):
    wanted = {(version, f"function_{i:04d}") for version in versions for i in range(100)}
    seen = set()

    def measure():
        with running_all(versions, "recycled_code.py", 100) as targets:
            go(targets)
            done = sparkflame("record", *pids(targets), "--processes", "--nolineno", "--format", "folded", "-r", "100", "--idle")
        assert done.returncode == 0, done.stderr.decode()
        version_of = {target.pid: version for version, target in targets.items()}
        seen.update((version_of[pid], frame.split(" ")[0]) for pid, found in stacks_by_process(done.stdout).items()
                    for stack in found for frame in stack if frame.startswith("function_"))
        assert seen <= wanted

    collect(measure, lambda: seen == wanted, most=6)


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_short_lived_children_are_seen(sparkflame, version):
    def check():
        with running(version, "short_children.py", 40, 0.05) as target:
            target.stdin.write("go\n")
            target.stdin.flush()
            done = sparkflame("record", "--subprocesses", target.pid, "--processes", "--nolineno", "--format", "folded")
            lines = target.stdout.read().split()
        assert done.returncode == 0, done.stderr.decode()
        children = {f"process {pid}" for pid in lines if pid.isdigit()}
        assert len(children) == 40 and lines[-1] == "done"
        seen = {stack[0] for stack in stacks(done.stdout) if stack[-1].startswith("child_work ")}
        assert seen <= children
        return None if len(seen) >= 0.9 * len(children) else f"{len(seen)} of {len(children)} seen"

    mostly(check)


def test_the_target_is_never_stopped(binary):
    with running("3.13", "alternating_chains.py", 500) as target:
        recorder = subprocess.Popen([binary, "record", str(target.pid), "-d", "2", "-r", "1000", "--format", "folded"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        states = set()
        while recorder.poll() is None:
            with open(f"/proc/{target.pid}/status", encoding="ascii") as file:
                text = file.read()
            states.add(re.search(r"State:\s+(\S)", text)[1])
            assert re.search(r"TracerPid:\s+(\d+)", text)[1] == "0"
            time.sleep(0.002)
    assert recorder.returncode == 0
    assert states <= {"R", "S"}


@pytest.mark.parametrize("version", VERSIONS)
def test_shares_are_those_of_the_time_spent(sparkflame, version):
    def check():
        with running(version, "known_shares.py") as target:
            done = sparkflame("record", target.pid, "-F", "-d", "1", "-r", "1000", "--format", "folded")
        assert done.returncode == 0, done.stderr.decode()
        counts = {}
        for stack, count in stacks(done.stdout).items():
            for name in ("seven_tenths", "three_tenths"):
                if any(frame.startswith(name + " ") for frame in stack):
                    counts[name] = counts.get(name, 0) + count
        total = sum(counts.values())
        share = counts["seven_tenths"] / total
        # One percentage point, and four standard deviations of that number of samples.
        allowed = 0.01 + 4 * (0.7 * 0.3 / total) ** 0.5
        return None if abs(share - 0.7) <= allowed else f"{share:.3f} of {total} samples, not 0.7 within {allowed:.3f}"

    mostly(check)


def wait_until_asleep(pid):
    """Wait until it has slept for some time."""
    asleep = 0
    while asleep < 10:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            asleep = asleep + 1 if file.read().rsplit(")", 1)[1].split()[0] == "S" else 0
        time.sleep(0.02)


def test_an_idle_process_is_said_to_be_idle(sparkflame):
    with running("3.13", "recycled_code.py", 1) as target:
        wait_until_asleep(target.pid)
        done = sparkflame("record", target.pid, "-d", "0.2", "--format", "folded")
    assert done.returncode == 1
    assert b"no thread ran Python code during the recording; --idle also records waiting threads" in done.stderr


def test_a_program_is_recorded_from_begin_to_end(sparkflame, tmp_path):
    program = [str(interpreter("3.12")), "-c", "import time\nwhile time.process_time() < 0.5: pass"]
    done = sparkflame("record", "-f", "out.folded", "-q", "--", *program)
    assert done.returncode == 0, done.stderr.decode()
    assert b"<module> (<string>:2)" in (tmp_path / "out.folded").read_bytes()
    done = sparkflame("record", "-f", "shell.folded", "-q", "--", "/bin/sh", "-c", '"$@" & wait', "sh", *program)
    assert done.returncode == 0, done.stderr.decode()
    assert b"<module> (<string>:2)" in (tmp_path / "shell.folded").read_bytes()
    program[-1] += "\nraise SystemExit(7)"
    done = sparkflame("record", "-f", "failed.folded", "-q", "--", *program)
    assert done.returncode == 7 and (tmp_path / "failed.folded").exists(), done.stderr.decode()


def test_nothing_is_started_when_its_recording_cannot_be_written(sparkflame, tmp_path):
    (tmp_path / "folder.html").mkdir()
    for place in ("missing/out.html", "folder.html"):
        done = sparkflame("record", "-f", place, "--", "touch", "started")
        assert done.returncode != 0 and place.encode() in done.stderr and not (tmp_path / "started").exists()


@pytest.mark.parametrize("script, code", [("exit 3", 3), ("kill -TERM $$", 128 + 15)])
def test_the_exit_code_of_a_program_is_passed_on(sparkflame, script, code):
    assert sparkflame("record", "-f", "x.folded", "--", "/bin/sh", "-c", script).returncode == code


def test_interrupting_writes_what_was_read(binary, tmp_path):
    with running("3.13", "alternating_chains.py", 5000) as target:
        recorder = subprocess.Popen([binary, "record", str(target.pid), "-f", "out.folded"], cwd=tmp_path,
                                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate()
    assert recorder.returncode == 0, said.decode()
    assert b"<module>" in (tmp_path / "out.folded").read_bytes()


def test_a_process_that_ends_ends_the_recording(sparkflame):
    with running("3.11", "recycled_code.py", 3) as target:
        target.stdin.write("go\n")
        target.stdin.flush()
        done = sparkflame("record", target.pid, "--format", "folded", "--idle")
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("arguments, message", [
    ((), "no process given: use a PID, --spark APP, or a program after \"--\""),
    (("12x",), "\"12x\" is not a process id"),
    (("0",), "there is no process 0"),
    (("-r", "0", "1"), "--rate: 0 is not between 0.1 and 1000000"),
    (("-d", "soon", "1"), "\"soon\" is not a duration: use seconds, 90s, 2m, 1h or unlimited"),
])
def test_wrong_use_is_explained(sparkflame, arguments, message):
    done = sparkflame("record", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_what_cannot_be_recorded_is_explained(sparkflame):
    done = sparkflame("record", 2 ** 31 - 16)
    assert (done.returncode, done.stderr) == (1, b"sparkflame record: there is no process 2147483632\n")
    done = sparkflame("dump", 2 ** 31 - 16)
    assert (done.returncode, done.stderr) == (1, b"sparkflame dump: there is no process 2147483632\n")
    done = sparkflame("record", "--", "./no-such-program")
    assert done.returncode == 1
    assert b"cannot start ./no-such-program: No such file or directory" in done.stderr


def test_programs_are_found():
    assert {"known_stacks.py", "known_shares.py"} <= set(os.listdir(PROGRAMS))


def right_and_wrong_tasks(folded):
    """Samples whose task is that of the running function, and others."""
    counts = {True: 0, False: 0}
    for stack, count in stacks(folded).items():
        mark = [frame for frame in stack if re.match(r"task_\d", frame)]
        if mark:
            number = int(re.match(r"task_(\d+)", mark[0])[1])
            right = stack[:4] == (f"stage {7 + number // 4}", f"partition {number % 4}", f"attempt {number % 2}",
                                  f"task {5000000000 + number}")
            counts[right] += count
    return counts[True], counts[False]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_worker_tells_its_task(sparkflame, version):
    def check():
        with running(version, "pyspark/worker.py") as target:
            target.stdin.write("go\n")
            target.stdin.flush()
            done = sparkflame("record", target.pid, "--nolineno", "-f", "worker.pb.gz", "-r", "100")
        assert done.returncode == 0, done.stderr.decode()
        done = sparkflame("convert", "worker.pb.gz", "--bare-names", "--by", "stage,partition,attempt,task")
        right, wrong = right_and_wrong_tasks(done.stdout)
        # Stack and task are read one after the other, so a task may end in between.
        return None if right > 20 * wrong else f"{right} right, {wrong} wrong"

    mostly(check)


def test_threads_have_their_names(sparkflame):
    with running_all(VERSIONS, "named_threads.py") as targets:
        done = sparkflame("record", *pids(targets), "--idle", "--processes", "--threads", "--nolineno", "-d", "0.3",
                          "--format", "folded")
    assert done.returncode == 0, done.stderr.decode()
    recorded = stacks_by_process(done.stdout)
    for version, target in targets.items():
        names = {re.sub(r"thread \(\d+\): ", "", stack[0]) for stack in recorded[target.pid]}
        assert (version, names) == (version, {"MainThread", "worker one", "größe", "名前"})


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.12", "3.13", "3.14"])
def test_states_of_threads_and_other_interpreters(sparkflame, version):
    by_state, holding = {}, set()

    def measure():
        with running(version, "states.py") as target:
            done = sparkflame("record", target.pid, "--idle", "--nolineno", "-d", "0.5", "-f", "states.pb.gz")
            holders = sparkflame("record", target.pid, "--gil", "--nolineno", "-d", "0.5", "--format", "folded")
        assert done.returncode == 0, done.stderr.decode()
        by_state.update({(stack[0], stack[-1].split(" ")[0]): count
                         for stack, count in stacks(sparkflame("convert", "states.pb.gz", "--bare-names", "--by", "state").stdout).items()})
        holding.update(frame.split(" ")[0] for stack in stacks(holders.stdout) for frame in stack)
        assert "sleeps" not in holding

    collect(measure, lambda: {("collecting", "collects"), ("waiting", "sleeps")} <= set(by_state) and "collects" in holding
            and any(name == "in_another_interpreter" for _, name in by_state), most=6)
