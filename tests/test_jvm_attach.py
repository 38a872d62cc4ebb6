"""Commands that attach to running JVMs: jcmd, dump, doctor."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile

import pytest

import jvm

VERSIONS = ["11", "17", "21", "25"]
LIMIT_SECONDS = 120


@pytest.fixture(scope="module")
def classes():
    """Not in pytest's own folder, which is not accessible to the other users that run these classes."""
    with tempfile.TemporaryDirectory(prefix="sparkflame-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        jvm.compile_classes(folder, "Sleeps")
        yield folder


@contextlib.contextmanager
def running(home, classes, *options, before=(), **more):
    """A JVM that has printed that it is ready; ended when the block ends."""
    command = [*before, home / "bin" / "java", "-Xmx64m", *options, "-cp", classes, "Sleeps"]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, **more)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_SECONDS)


@pytest.mark.parametrize("version", VERSIONS)
def test_jcmd_and_dump(version, classes, sparkflame):
    with running(jvm.home_of(version), classes) as process:
        result = sparkflame("jcmd", process.pid, "VM.version")
        assert result.returncode == 0, result.stderr
        assert b"JDK %s." % version.encode() in result.stdout
        again = sparkflame("jcmd", process.pid, "Thread.print", "-l")
        assert b"Locked ownable synchronizers" in again.stdout
        dump = sparkflame("dump", process.pid, "--json")
        assert dump.returncode == 0, dump.stderr
        content = json.loads(dump.stdout)
        assert content["pid"] == process.pid
        threads = {thread["name"]: thread for thread in content["dump"]["threads"]}
        main = threads['the "sleeping" thread']
        assert main["os_id"] == process.pid or main["os_id"] in thread_numbers(process.pid)
        assert main["frames"][-1]["method"] == "Sleeps.main"
        assert main["frames"][-1]["file"] == "Sleeps.java"
        assert process.poll() is None


def thread_numbers(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


def test_says_what_the_jvm_says(classes, sparkflame):
    with running(jvm.home_of("17"), classes) as process:
        result = sparkflame("jcmd", process.pid, "No.such")
        assert result.returncode == 1
        assert b"Unknown diagnostic command" in result.stderr
        assert sparkflame("jcmd", process.pid, "GC.class_histogram", "x" * 2000).returncode == 1


def test_without_command_shows_those_there_are(classes, sparkflame):
    with running(jvm.home_of("17"), classes) as process:
        result = sparkflame("jcmd", process.pid)
        assert b"Thread.print" in result.stdout


def test_attach_switched_off(classes, sparkflame):
    for place in ({"options": ["-XX:+DisableAttachMechanism"]},
                  {"env": {**os.environ, "JAVA_TOOL_OPTIONS": "-Da=b -XX:+DisableAttachMechanism"}}):
        options = place.pop("options", [])
        with running(jvm.home_of("17"), classes, *options, **place) as process:
            result = sparkflame("jcmd", process.pid, "VM.version")
            assert result.returncode == 1
            assert b"-XX:+DisableAttachMechanism" in result.stderr
            report = sparkflame("doctor", process.pid)
            assert report.returncode == 1
            assert b"-XX:+DisableAttachMechanism" in report.stdout
            assert process.poll() is None


def test_reduced_signals_do_not_end_the_jvm(classes, sparkflame):
    with running(jvm.home_of("17"), classes, "-Xrs") as process:
        assert sparkflame("jcmd", process.pid, "VM.version").returncode == 0
        assert process.poll() is None


def test_never_signals_what_is_no_jvm(sparkflame):
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            result = sparkflame("jcmd", process.pid)
            assert result.returncode == 1
            assert b"not a JVM" in result.stderr
            assert process.poll() is None
        finally:
            process.kill()


def test_no_such_process(sparkflame):
    result = sparkflame("jcmd", 2 ** 31 - 2)
    assert result.returncode == 1
    assert b"no process" in result.stderr
    assert sparkflame("jcmd").returncode == 2
    assert sparkflame("dump").returncode == 2
    assert sparkflame("jcmd", "99999999999").returncode == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_control_of_the_agent(version, classes, sparkflame, tmp_path):
    with running(jvm.home_of(version), classes) as process:
        result = sparkflame("control", process.pid, "status")
        assert (result.returncode, result.stdout) == (0, b"Profiler is not active\n"), result.stderr
        result = sparkflame("control", process.pid, "start", "event=ctimer", "file=profile.folded", cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        again = sparkflame("control", process.pid, "start", "event=ctimer")
        assert again.returncode == 1
        assert b"already started" in again.stderr
        assert b"Profiling is running" in sparkflame("control", process.pid, "status").stdout
        assert sparkflame("control", process.pid, "stop").returncode == 0
        assert (tmp_path / "profile.folded").exists()
        assert not list(pathlib.Path("/tmp").glob(f".sparkflame-{process.pid}-*"))
        assert process.poll() is None


def test_control_says_what_is_wrong(sparkflame, tmp_path):
    assert sparkflame("control").returncode == 2
    assert sparkflame("control", 1, "dance").returncode == 2
    missing = sparkflame("control", 1, "status", "--library", tmp_path / "none.so")
    assert missing.returncode == 1
    assert b"none.so" in missing.stderr
    assert b"no JVM" in sparkflame("control", "no.such.Class", "status").stderr


def copies(library):
    return [path for path in pathlib.Path("/tmp").glob(".libsparkflame-*.so")
            if path.read_bytes() == library.read_bytes()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run as others")
def test_library_that_the_target_cannot_read_is_copied(classes, sparkflame, tmp_path):
    home = jvm.home_of("17")
    nobody = pwd.getpwnam("nobody")
    if not readable_by_all(home / "bin" / "java"):
        pytest.skip(f"{home} is not readable by other users")
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    library = hidden / "libsparkflame.so"
    # Different content gives the copy a different name; bytes after the sections are not loaded.
    library.write_bytes(jvm.LIBRARY.read_bytes() + os.urandom(16))
    try:
        with running(home, classes, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd="/tmp") as process:
            for _ in range(2):
                result = sparkflame("control", process.pid, "status", "--library", library)
                assert (result.returncode, result.stdout) == (0, b"Profiler is not active\n"), result.stderr
                (copy,) = copies(library)
            loaded = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
            assert str(copy) in loaded and str(library) not in loaded
    finally:
        for copy in copies(library):
            copy.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run as others")
@pytest.mark.parametrize("version", ["11", "25"])
def test_jvm_of_another_user(version, classes, sparkflame):
    home = jvm.home_of(version)
    nobody = pwd.getpwnam("nobody")
    if not readable_by_all(home / "bin" / "java"):
        pytest.skip(f"{home} is not readable by other users")
    with running(home, classes, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd="/tmp") as process:
        result = sparkflame("jcmd", process.pid, "VM.version")
        assert result.returncode == 0, result.stderr
        assert not list(pathlib.Path("/tmp").glob(f".attach_pid{process.pid}"))


def readable_by_all(path):
    return all(part.stat().st_mode & 0o001 for part in [path, *path.parents])


def may_unshare():
    command = ["unshare", "--pid", "--fork", "--mount", "mount", "-t", "tmpfs", "none", "/tmp"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True, check=False,
                                                                  stdin=subprocess.DEVNULL).returncode == 0


def child_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


@pytest.mark.skipif(os.geteuid() != 0 or not may_unshare(), reason="no rights to make namespaces")
def test_jvm_in_a_container(sparkflame, tmp_path_factory):
    """A separate pid namespace and /tmp, as in a container: the path is through /proc/PID/root and NSpid."""
    folder = pathlib.Path("/var/tmp") / f"sparkflame-test-{os.getpid()}"
    folder.mkdir()
    try:
        jvm.compile_classes(folder, "Sleeps")
        inside = ["unshare", "--pid", "--fork", "--mount", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]
        with running(jvm.home_of("17"), folder, before=inside, cwd="/var/tmp") as process:
            pid = child_of(process.pid)
            result = sparkflame("jcmd", pid, "VM.version")
            assert result.returncode == 0, result.stderr
            assert "JDK 17" in result.stdout.decode()
            os.kill(pid, 9)
    finally:
        shutil.rmtree(folder)


def test_doctor_names_what_is_lost_and_the_fix(classes, sparkflame):
    with running(jvm.home_of("17"), classes) as process:
        result = sparkflame("doctor", process.pid, "--json")
        assert result.returncode == 0, result.stderr
        findings = {line["subject"]: line for line in map(json.loads, result.stdout.splitlines())}
        assert findings["DebugNonSafepoints"]["verdict"] == "limited"
        assert "-XX:+DebugNonSafepoints" in findings["DebugNonSafepoints"]["fix"]
        assert findings["attach"]["verdict"] == "good"
        assert {"perf events", "kernel symbols", "reading processes", "user"} <= set(findings)
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "-XX:-EnableDynamicAgentLoading",
             "-XX:-UsePerfData"]
    with running(jvm.home_of("17"), classes, *flags) as process:
        result = sparkflame("doctor", process.pid, "--json")
        assert result.returncode == 1
        findings = {line["subject"]: line for line in map(json.loads, result.stdout.splitlines())}
        assert findings["DebugNonSafepoints"]["verdict"] == "good"
        assert findings["loading agents"]["verdict"] == "bad"
        assert findings["UsePerfData"]["verdict"] == "limited"


def test_dump_of_a_python(sparkflame):
    # PR_SET_PTRACER: with Yama, a process must permit others than its parents to read it.
    allow = "import ctypes\nctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)\n"
    code = allow + "import sys\ndef waits_here():\n    print('ready', flush=True)\n    sys.stdin.read()\nwaits_here()"
    with subprocess.Popen(["python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        result = sparkflame("dump", process.pid, "--json")
        doctor = sparkflame("doctor", process.pid)
        process.stdin.close()
        process.wait(LIMIT_SECONDS)
    assert result.returncode == 0, result.stderr
    content = json.loads(result.stdout)
    assert [frame["function"] for frame in content["threads"][0]["frames"]][-2:] == ["waits_here", "<module>"]
    assert b"its stacks can be read" in doctor.stdout


def test_openj9_is_declined_in_one_line_each_time(sparkflame, tmp_path):
    library = tmp_path / "libj9vm29.so"
    library.write_bytes(b"\0" * 4096)
    program = ("import mmap, sys\nfile = open(sys.argv[1], 'rb')\nmapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
               "print('ready', flush=True)\nsys.stdin.read()\n")
    process = subprocess.Popen([sys.executable, "-E", "-c", program, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        for words in (["jcmd", process.pid, "VM.version"], ["asprof", "status", process.pid], ["asprof", "-d", "1", process.pid]):
            for _ in range(3):
                done = sparkflame(*words)
                assert done.returncode == 1 and done.stdout == b"", words
                assert len(done.stderr.splitlines()) == 1
                assert f"process {process.pid} is an OpenJ9 JVM; only HotSpot is supported".encode() in done.stderr
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_SECONDS)
