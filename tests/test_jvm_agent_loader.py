"""The agent and the dynamic loader: several copies in one JVM, libraries loaded and unloaded, import tables."""

import contextlib
import re
import shutil
import subprocess
import threading
import time

import pytest

import jvm

LIMIT_SECONDS = 120
HANG_SECONDS = 300  # a program whose libraries were damaged may hang instead of crash
EVENTS = "event=cpu,interval=2ms,wall=50ms"
NATIVE = f"{EVENTS},nativemem=4k"


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    return jvm.compile_classes(folder, "Loads", "LoadsLibrary", "org/sparkflame/Agent")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    return jvm.compile_loads(tmp_path_factory.mktemp("libraries"))


class Program:
    """The Java program Loads."""

    def __init__(self, process):
        self.process = process

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline().strip()
        assert line, f"the JVM died: {self.process.wait(LIMIT_SECONDS)}"
        return line

    def ask(self, *words):
        self.tell(*words)
        return self.answer()

    def send(self, library, arguments):
        """Run a command with this copy of the agent, without searching for another one."""
        done = subprocess.run([jvm.system_home() / "bin" / "jcmd", str(self.process.pid), "JVMTI.agent_load", str(library),
                               f'"{arguments}"'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)
        assert "return code: 0" in done.stdout, f"{arguments}: {done.stdout} {done.stderr} {self.process.poll()}"


@contextlib.contextmanager
def running(classes, libraries, options=()):
    folder = libraries["folder"]
    process = subprocess.Popen([jvm.system_home() / "bin" / "java", "-Xmx128m", f"-XX:ErrorFile={folder}/crash.log",
                                *options, "-cp", str(classes), "Loads", str(libraries["loads"])], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
    watchdog = threading.Timer(HANG_SECONDS, process.kill)
    watchdog.start()
    try:
        assert process.stdout.readline() == "ready\n"
        yield Program(process)
        process.stdin.close()
        assert process.wait(LIMIT_SECONDS) == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def samples_of(path):
    return sum(count for _, count in jvm.read_folded(path))


@pytest.mark.parametrize("events", [EVENTS, NATIVE])
@pytest.mark.parametrize("first_to_stop", [0, 1])
@pytest.mark.parametrize("at_start", [True, False])
def test_two_copies_record_side_by_side(classes, libraries, tmp_path, events, first_to_stop, at_start):
    copies = [shutil.copy(jvm.LIBRARY, tmp_path / f"copy{number}.so") for number in range(2)]
    options = [f"-agentpath:{copies[0]}=start,{events},file={tmp_path}/0.folded"] if at_start else []
    with running(classes, libraries, options) as program:
        for cycle in range(3):
            if cycle > 0 or not at_start:
                program.send(copies[0], f"start,{events},file={tmp_path}/0.folded")
            program.ask("churn", *libraries["both"])
            program.send(copies[1], f"start,{events},file={tmp_path}/1.folded")
            time.sleep(0.5)
            assert re.fullmatch(r"[1-9]\d* loads, 0 failures", program.ask("calm"))
            for number in (first_to_stop, 1 - first_to_stop):
                program.send(copies[number], "stop")
            for number in range(2):
                assert samples_of(tmp_path / f"{number}.folded") > 20, (cycle, number)


@pytest.mark.parametrize("events", [EVENTS, NATIVE])
def test_libraries_are_loaded_while_recordings_start_and_stop(classes, libraries, tmp_path, events):
    """With lazy and immediate binding, with their dependencies, in four threads."""
    with running(classes, libraries) as program:
        program.ask("churn", *libraries["both"])
        for _ in range(10):
            program.send(jvm.LIBRARY, f"start,{events},file={tmp_path}/out.jfr")
            time.sleep(0.2)
            program.send(jvm.LIBRARY, "stop")
        answer = program.ask("calm")
        print(answer)
        assert re.fullmatch(r"[1-9]\d\d+ loads, 0 failures", answer)


def test_a_library_is_left_alone_while_it_is_relocated(classes, libraries, tmp_path):
    """glibc lists it before, and then adds its address to what is in the import table of a lazily bound library."""
    go = tmp_path / "go"
    library = jvm.compile_c(tmp_path / "libslow.so", "slow_relocation.c", f'-DGO="{go}"', "-Wl,-z,relro,-z,lazy")
    with running(classes, libraries) as program:
        program.send(jvm.LIBRARY, f"start,{NATIVE},file={tmp_path}/out.jfr")
        # Not answered before relocation goes on, if the first of its threads is there before the last is created, which
        # takes the same lock of glibc.
        program.tell("churn", library)
        time.sleep(3)  # the agent checks once per second
        go.touch()
        assert program.answer() == "churns"
        assert re.fullmatch(r"[1-9]\d* loads, 0 failures", program.ask("calm"))
        program.send(jvm.LIBRARY, "stop")


HOOKED = ("pthread_create", "malloc", "free")


def test_hooks_go_and_pages_stay_read_only(classes, libraries, tmp_path):
    """The original content of the import table is restored, and pages protected by the loader stay protected."""
    now, lazy = libraries["now"], libraries["lazy"]
    with running(classes, libraries) as program:
        def slots(library):
            return {name: program.ask("slot", library, name) for name in HOOKED}

        before = {library: slots(library) for library in (now, lazy)}
        assert all(text.endswith(" r--p") and text.startswith("libc.so") for text in before[now].values()), before
        assert all(text.endswith(" rw-p") and text.startswith(lazy.name) for text in before[lazy].values()), before
        for _ in range(3):
            program.send(jvm.LIBRARY, f"start,{NATIVE},file={tmp_path}/out.jfr")
            during = {library: slots(library) for library in (now, lazy)}
            assert all(text.startswith(jvm.LIBRARY.name) for texts in during.values() for text in texts.values()), during
            assert all(text.endswith(" r--p") for text in during[now].values()), during
            program.send(jvm.LIBRARY, "stop")
            assert {library: slots(library) for library in (now, lazy)} == before


def test_the_jvm_has_its_own_functions_back_after_stop(classes, libraries, tmp_path):
    machine = jvm.system_home() / "lib" / "server" / "libjvm.so"
    names = ("pthread_setspecific", "dlopen", "malloc")
    with running(classes, libraries) as program:
        before = [program.ask("slot", machine, name) for name in names]
        program.send(jvm.LIBRARY, f"start,{NATIVE},file={tmp_path}/out.jfr")
        during = [program.ask("slot", machine, name) for name in names]
        assert all(text.startswith(jvm.LIBRARY.name) for text in during), during
        program.send(jvm.LIBRARY, "stop")
        assert [program.ask("slot", machine, name) for name in names] == before


def test_the_library_outlives_the_class_loader_that_loaded_it(classes, libraries, tmp_path):
    """Like a plugin whose class loader is collected; the recording continues."""
    copy = shutil.copy(jvm.LIBRARY, tmp_path / "collected.so")
    with running(classes, libraries) as program:
        assert program.ask("agent", copy, classes, f"start,{EVENTS},file={tmp_path}/out.folded") == "collected"
        assert int(program.ask("mapped", "collected.so")) > 0
        program.send(copy, "stop")
        assert samples_of(tmp_path / "out.folded") > 20


def test_what_is_unloaded_is_no_longer_mapped(classes, libraries, tmp_path):
    with running(classes, libraries) as program:
        program.send(jvm.LIBRARY, f"start,{EVENTS},file={tmp_path}/out.jfr")
        assert program.ask("temporary", libraries["zero"], classes, 1000) == "collected"
        end = time.monotonic() + 30  # the agent checks once per second
        while (left := int(program.ask("mapped", "temporary-library"))) > 0 and time.monotonic() < end:
            time.sleep(0.2)
        assert left == 0, "the agent keeps what is unloaded"
        program.send(jvm.LIBRARY, "stop")
