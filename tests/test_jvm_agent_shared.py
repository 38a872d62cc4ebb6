"""Commands on a JVM into which another tool has loaded a copy of the agent, as the Spark plugin does."""

import contextlib
import os
import shutil
import subprocess
import time

import pytest

import jvm

LIMIT_SECONDS = 120
INTERVAL_NS = 5_000_000


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Spins")


@contextlib.contextmanager
def recorded(classes, folder, arguments, by_link=False, keeps_file=False, replace=()):
    """A JVM that records with a copy of the library under another name, whose file is deleted once it is loaded. `replace`:
    pairs of bytes of equal length."""
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    copy = shutil.copy(jvm.LIBRARY, folder / "real" / "another_name.so")
    code = copy.read_bytes()
    for before, after in replace:
        assert before in code and len(before) == len(after)
        code = code.replace(before, after)
    copy.write_bytes(code)
    loaded = folder / "link" / "another_name.so" if by_link else copy
    process = subprocess.Popen([jvm.system_home() / "bin" / "java", f"-agentpath:{loaded}={arguments}", "-cp",
                                str(classes), "Spins"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        if not keeps_file:
            os.unlink(copy)
        yield process
        assert process.poll() is None, f"the JVM died: {process.returncode}"
    finally:
        if process.poll() is None:
            process.stdin.close()
        process.wait(LIMIT_SECONDS)
        process.stdout.close()
        process.stderr.close()


def copies(pid):
    """The files that are mapped as code and contain the agent, by inode."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as lines:
        fields = [line.split(maxsplit=5) for line in lines]
    return {(parts[4], parts[5].strip()) for parts in fields
            if len(parts) == 6 and "x" in parts[1] and ("another_name" in parts[5] or "sparkflame" in parts[5])}


@pytest.mark.parametrize("by_link, keeps_file", [(False, False), (True, False), (False, True)])
def test_commands_talk_to_the_copy_that_is_loaded(sparkflame, classes, tmp_path, by_link, keeps_file):
    first = f"start,event=cpu,interval={INTERVAL_NS},jfr,file={tmp_path}/first.jfr"
    with recorded(classes, tmp_path, first, by_link, keeps_file) as process:
        before = copies(process.pid)
        for words in (["control", process.pid, "status"], ["asprof", "status", process.pid]):
            done = sparkflame(*words)
            assert done.returncode == 0 and b"Profiling is running" in done.stdout, done.stderr
        done = sparkflame("asprof", "dump", "-o", "collapsed", process.pid)
        assert done.returncode == 0 and b"Spins.often" in done.stdout, done.stderr
        done = sparkflame("dump", process.pid)
        assert done.returncode == 0 and b"Spins.main" in done.stdout, done.stderr
        assert copies(process.pid) == before and len(before) == 1


def busiest_thread_ns(pid):
    """The CPU time of the spinning thread."""
    times = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as text:
            times.append(int(text.read().split()[0]))
    return max(times)


def spinning(folded):
    """Samples of the two methods that use the time, and the share of the first."""
    counts = {name: sum(count for frames, count in folded if any(frame.startswith(name) for frame in frames))
              for name in ("Spins.often", "Spins.seldom")}
    total = sum(counts.values())
    return total, counts["Spins.often"] / max(total, 1)


def folded_of(sparkflame, path):
    done = sparkflame("convert", "-q", "--event", "cpu", path)
    assert done.returncode == 0, done.stderr
    lines = [line.rsplit(" ", 1) for line in done.stdout.decode().splitlines()]
    return [(stack.split(";"), int(count)) for stack, count in lines]


@pytest.mark.parametrize("form, name", [("jfr", "first.jfr"), ("jfr,compact", "first.jfr"),
                                        ("collapsed", "first.collapsed")])
def test_record_and_top_view_a_recording_that_runs(sparkflame, classes, tmp_path, form, name):
    """The first recording continues without a gap, and each view sees the program's shares."""
    first = f"start,event=cpu,interval={INTERVAL_NS},wall=50ms,{form},file={tmp_path}/{name}"
    with recorded(classes, tmp_path, first) as process:
        before_ns = busiest_thread_ns(process.pid)  # the JVM's own start, a part of which is before the recording
        for seconds, file in ((1, "second.html"), (2, "second.jfr")):
            done = sparkflame("record", "-d", seconds, "-f", file, process.pid)
            assert done.returncode == 0, done.stderr
            assert b"at its interval of 5 ms" in done.stderr
        done = sparkflame("top", "-d", "1", process.pid)
        assert done.returncode == 0 and b"Spins.often" in done.stdout, done.stderr
        assert b"cpu at 200 Hz" in done.stdout
        done = sparkflame("record", "-d", "1", "-e", "wall", "-f", "wall.jfr", process.pid)
        assert done.returncode == 0, done.stderr
        done = sparkflame("record", "-d", "1", "-e", "alloc", process.pid)
        assert done.returncode == 1
        assert b"events of the running recording: cpu wall; choose one" in done.stderr
        assert f"sparkflame control {process.pid} stop".encode() in done.stderr
        done = sparkflame("control", process.pid, "status")
        assert b"Profiling is running" in done.stdout, done.stderr
        used_ns = busiest_thread_ns(process.pid)
        os.set_blocking(process.stderr.fileno(), False)
        assert b"ERROR" not in (process.stderr.read() or b"")
        assert len(copies(process.pid)) == 1
        assert not [path for path in os.listdir("/tmp") if path.startswith(f"sparkflame-{process.pid}-")]
    samples, share = spinning(jvm.read_folded(tmp_path / name) if form == "collapsed" else
                              folded_of(sparkflame, tmp_path / name))
    print(f"{samples} samples are {samples * INTERVAL_NS / 1e9:.2f} s of {used_ns / 1e9:.2f} s, "
          f"{before_ns / 1e9:.2f} s of it before; share {share:.3f}")
    assert 0.98 * (used_ns - before_ns) - 4 * INTERVAL_NS < samples * INTERVAL_NS < 1.02 * used_ns + 4 * INTERVAL_NS
    weight_ns, seen_share = spinning(folded_of(sparkflame, tmp_path / "second.jfr"))
    seen = weight_ns // INTERVAL_NS
    print(f"second: {seen} samples, share {seen_share:.3f}")
    assert seen > 10 and abs(seen_share - share) < jvm.share_error(share, seen)
    assert os.path.getsize(tmp_path / "second.html") > 1000
    for file in (name, "second.html", "second.jfr"):
        assert os.stat(tmp_path / file).st_mode & 0o777 == 0o600, file


def test_asprof_says_what_to_type_instead_of_a_second_start(sparkflame, classes, tmp_path):
    with recorded(classes, tmp_path, f"start,event=cpu,interval={INTERVAL_NS},jfr,file={tmp_path}/first.jfr") as process:
        done = sparkflame("asprof", "-d", "1", process.pid)
        assert done.returncode == 1
        assert f"asprof dump {process.pid}".encode() in done.stderr, done.stderr
        assert b"Profiling is running" in sparkflame("asprof", "status", process.pid).stdout


def test_a_copy_of_another_version_is_not_disturbed(sparkflame, classes, tmp_path):
    """One without marker and views, as before they existed."""
    first = f"start,event=cpu,interval={INTERVAL_NS},jfr,file={tmp_path}/first.jfr"
    older = [(b"sparkflame_agent_marker\0", b"sparkflame_agent_marked\0"), (b"\0view\0", b"\0v1ew\0")]
    with recorded(classes, tmp_path, first, replace=older) as process:
        before = copies(process.pid)
        for words in (["record", "-d", "1", "-f", "second.folded"], ["top", "-d", "1"]):
            done = sparkflame(*words, process.pid)
            assert done.returncode == 1
            assert b"by an agent too old to share its samples; stop it first" in done.stderr, done.stderr
            assert f"sparkflame control {process.pid} stop".encode() in done.stderr
            done = sparkflame("control", process.pid, "status")
            assert b"Profiling is running" in done.stdout, done.stderr
        assert copies(process.pid) == before and len(before) == 1
        assert not (tmp_path / "second.folded").exists()
        done = sparkflame("control", process.pid, "stop")
        assert done.returncode == 0, done.stderr
        samples, share = spinning(folded_of(sparkflame, tmp_path / "first.jfr"))
        assert samples > 0 and abs(share - 0.7) < jvm.share_error(0.7, samples) + 0.03


def load(process, library, arguments):
    subprocess.run([jvm.system_home() / "bin" / "jcmd", str(process.pid), "JVMTI.agent_load", library, f'"{arguments}"'],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=LIMIT_SECONDS)


def writes_to(pid, path):
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"/proc/{pid}/fd/{number}") == str(path):
                return True
    return False


def test_a_view_whose_command_was_killed_ends(classes, tmp_path):
    first = f"start,event=cpu,interval={INTERVAL_NS},jfr,file={tmp_path}/first.jfr"
    with recorded(classes, tmp_path, first, keeps_file=True) as process:
        copy = tmp_path / "real" / "another_name.so"
        load(process, copy, f"start,view=long,event=cpu,file={tmp_path}/long.jfr,timeout=86400")
        load(process, copy, f"start,view=short,event=cpu,file={tmp_path}/short.jfr,timeout=1")
        end = time.monotonic() + LIMIT_SECONDS
        while writes_to(process.pid, tmp_path / "short.jfr"):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert writes_to(process.pid, tmp_path / "long.jfr") and writes_to(process.pid, tmp_path / "first.jfr")


def test_logs_and_replies_are_private(classes, tmp_path):
    before = os.umask(0o022)
    try:
        first = f"start,event=cpu,jfr,file={tmp_path}/first.jfr,log={tmp_path}/agent.log,unknown"
        with recorded(classes, tmp_path, first, keeps_file=True) as process:
            load(process, tmp_path / "real" / "another_name.so", f"status,file={tmp_path}/status.txt")
            assert "Profiling is running" in (tmp_path / "status.txt").read_text()
            assert "Unknown argument" in (tmp_path / "agent.log").read_text()
            for name in ("agent.log", "status.txt"):
                assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name
    finally:
        os.umask(before)


def test_several_commands_at_once_share_one_recording(binary, sparkflame, classes, tmp_path):
    """The first command records, the others view; a view of a recording that ends keeps its samples."""
    with recorded(classes, tmp_path, "status") as process:
        files = [tmp_path / f"{number}.folded" for number in range(3)]
        runs = [subprocess.Popen([binary, "record", "-q", "-d", "2", "-f", file, str(process.pid)],
                                 stderr=subprocess.PIPE) for file in files]
        for run in runs:
            errors = run.communicate(timeout=LIMIT_SECONDS)[1]
            assert run.returncode == 0, errors
        for file in files:
            samples, share = spinning(jvm.read_folded(file))
            print(f"{samples} samples, share {share:.3f}")
            assert samples > 10 and abs(share - 0.7) < jvm.share_error(0.7, samples) + 0.03
        assert b"not active" in sparkflame("control", process.pid, "status").stdout


def test_top_goes_on_when_the_recording_that_it_views_ends(binary, sparkflame, classes, tmp_path):
    with recorded(classes, tmp_path, f"start,event=cpu,interval={INTERVAL_NS},jfr,file={tmp_path}/first.jfr") as process:
        top = subprocess.Popen([binary, "top", "-d", "3", str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not [path for path in os.listdir("/tmp") if path.startswith(f"sparkflame-{process.pid}-")]:
            assert top.poll() is None, top.stderr.read()
        time.sleep(0.5)
        assert sparkflame("control", process.pid, "stop").returncode == 0
        output, errors = top.communicate(timeout=LIMIT_SECONDS)
        assert top.returncode == 0 and b"Spins.often" in output, errors
        assert b"not active" in sparkflame("control", process.pid, "status").stdout
        assert not [path for path in os.listdir("/tmp") if path.startswith(f"sparkflame-{process.pid}-")]


def test_the_copy_whose_recording_began_first_is_talked_to(sparkflame, classes, tmp_path):
    """Another copy that is loaded and records later does not affect users of the first."""
    further = shutil.copy(jvm.LIBRARY, tmp_path / "another_name_too.so")
    with recorded(classes, tmp_path, f"start,event=cpu,interval={INTERVAL_NS},jfr,file={tmp_path}/first.jfr") as process:
        load(process, further, f"start,event=ctimer,interval=7ms,file={tmp_path}/further.folded")
        assert len(copies(process.pid)) == 2
        for _ in range(2):
            done = sparkflame("record", "-d", "1", "-f", "second.folded", process.pid)
            assert done.returncode == 0 and b"at its interval of 5 ms" in done.stderr, done.stderr
            assert spinning(jvm.read_folded(tmp_path / "second.folded"))[0] > 10
