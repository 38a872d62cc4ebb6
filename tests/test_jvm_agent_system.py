"""What the agent must not disturb: system calls, threads that end or block signals, unknown JVMs."""

import re
import statistics
import subprocess

import pytest

import jvm


def compile_library(folder, name):
    """lib*.so of a C file in tests/java."""
    library, include = folder / f"lib{name}.so", jvm.system_home() / "include"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-I{include}", f"-I{include}/linux", "-o", library,
                    jvm.TESTS / "java" / f"{name}.c", "-lpthread", "-ldl"], check=True, stdin=subprocess.DEVNULL,
                   timeout=jvm.LIMIT_SECONDS)
    return library


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = jvm.compile_classes(tmp_path_factory.mktemp("classes"), "org/sparkflame/Agent")
    return jvm.compile_classes(folder, "NativeWaits", "Ends", "Declined", "Blocked", "Tried", class_path=folder)


@pytest.fixture(scope="module")
def waits(tmp_path_factory):
    return compile_library(tmp_path_factory.mktemp("waits"), "native_waits")


@pytest.fixture(scope="module")
def table_change(tmp_path_factory):
    return compile_library(tmp_path_factory.mktemp("table_change"), "table_change")


def wait_results(agent, classes, library, folder, *arguments):
    """[(where, call, error number, milliseconds)]"""
    done = jvm.run_java(jvm.system_home(), classes, f"start,{agent},collapsed,file={folder}/out.folded", "NativeWaits", library,
                        *arguments)
    results = [line.split() for line in done.stdout.splitlines()]
    return [(where, call, int(error), float(ms)) for where, call, error, ms in results]


@pytest.mark.parametrize("agent, interrupted", [("event=wall,interval=10ms,nobatch", 0), ("event=wall,interval=10ms", 0),
                                                ("event=itimer,interval=1ms,wall=5ms", 1)])
def test_waits_are_not_interrupted(agent, interrupted, classes, waits, tmp_path):
    """A hundred signals during each wait: none fails, none is shorter, and usually they last as long as they should.

    A process timer may expire while its thread ends: the kernel then wakes any other thread, and if a third one takes
    the signal first, no handler runs in the one that woke. So with itimer one wait of the eighty may be interrupted.
    """
    results = wait_results(agent, classes, waits, tmp_path, 1000)
    assert len(results) == 2 * 2 * 20
    failed = [result for result in results if result[2] != 0]
    print("interrupted:", failed)
    assert len(failed) <= interrupted
    assert [result for result in results if result[3] < 999 and result not in failed] == []
    late = [ms - 1000 for _, call, _, ms in results if call != "io_getevents"]  # its queue takes time to set up
    print("later by ms: median", statistics.median(late), "most", max(late))
    assert statistics.median(late) < 30


def test_own_signals_interrupt_waits(classes, waits, tmp_path):
    """The program's own signals end each wait, unless one of ours is pending at the same moment: so ours are rare."""
    results = wait_results("event=wall,interval=200ms,nobatch", classes, waits, tmp_path, 1000, 505)
    interrupted = [result for result in results if result[2] == 4]
    print(interrupted)
    assert {result[1] for result in results} - {result[1] for result in interrupted} <= {"io_getevents"}


@pytest.mark.parametrize("version", ["17", "25"])
def test_threads_end_while_they_are_looked_at(version, classes, tmp_path):
    """libc fills the memory of an ended thread with a pattern, and it is read late."""
    done = jvm.run_java(jvm.home_of(version), classes, None, "Ends", 1500, jvm.LIBRARY,
                        compile_library(tmp_path, "slow_fields"), options=["-XX:-CreateCoredumpOnCrash"],
                        env={"GLIBC_TUNABLES": "glibc.malloc.perturb=165"})
    assert int(done.stdout.split()[-1]) > 0


@pytest.mark.parametrize("change, reason", [
    ("_osthread:hide", "this JVM is not supported: its tables lack JavaThread|Thread._osthread"),
    ("_thread_id:hide", "this JVM is not supported: its tables lack OSThread._thread_id"),
    ("_vm_major_version:hide", "this JVM is not supported: its tables lack Abstract_VM_Version._vm_major_version"),
    ("_osthread:0x70000000", "this JVM is not supported: its tables lack JavaThread|Thread._osthread"),
    ("_thread_id:4", "unknown layout of this JVM's threads")])
def test_an_unknown_jvm_is_declined_each_time(change, reason, classes, table_change):
    """At the start, in three attached commands and in three calls of Java code: one line each; the program continues."""
    command = "start,event=ctimer,collapsed,file=/dev/null"
    done = jvm.run_java(jvm.system_home(), classes, command, "Declined", jvm.LIBRARY, command,
                        options=[f"-agentpath:{table_change}={change}", "-XX:-CreateCoredumpOnCrash"])
    off = f"[ERROR] sparkflame is off: {reason}"
    assert done.stderr.splitlines() == [off, *[f"[ERROR] {reason}"] * 3, off]
    assert done.stdout.splitlines() == [*["attached: return code: 200"] * 3, *[f"called: {reason}"] * 3, "alive"]


@pytest.mark.parametrize("agent", ["event=nativemem,nativemem=1k", "event=ctimer,interval=1ms"])
def test_faults_on_threads_that_block_their_signals(agent, classes, tmp_path):
    """The walk of such a thread faults, which ends the process unless its signal is unblocked."""
    done = jvm.run_java(jvm.system_home(), classes, f"start,{agent},collapsed,file={tmp_path}/out.folded", "Blocked",
                        compile_library(tmp_path, "blocked"))
    assert done.stdout.splitlines() == ["allocated, SIGSEGV blocked 1", "computed, SIGSEGV blocked 1"]


def boot_folder(folder):
    """With a class of the same name as the one that the agent defines to replace native methods."""
    (folder / "NativeHooks.java").write_text("package org.sparkflame; class NativeHooks { }")
    subprocess.run([jvm.system_home() / "bin" / "javac", "-nowarn", "--release", "11", "-d", folder,
                    folder / "NativeHooks.java"], check=True, stdin=subprocess.DEVNULL, timeout=jvm.LIMIT_SECONDS)
    return folder


def run_without_hooks(version, classes, folder, names, *options):
    path = folder / "out.folded"
    done = jvm.run_java(jvm.home_of(version), classes, None, "Tried", jvm.LIBRARY,
                        f"start,event=ctimer,interval=1ms,collapsed,file={path}", "org.sparkflame.NativeHooks", *names,
                        options=[f"-Xbootclasspath/a:{boot_folder(folder)}", *options])
    assert any("Tried.main" in stack for stack, _ in jvm.read_folded(path))
    return done.stderr


@pytest.mark.parametrize("version", ["11", "17", "25"])
def test_the_walker_is_tried_without_native_hooks(version, classes, table_change, tmp_path):
    """Even if no native method of the JDK can be replaced: the walker is used if it is right, and only then."""
    assert "AsyncGetCallTrace" not in run_without_hooks(version, classes, tmp_path, [])
    told = run_without_hooks(version, classes, tmp_path, [], f"-agentpath:{table_change}=_constMethod:8")
    assert "[WARN] Java frames come from AsyncGetCallTrace: " in told and "known stack" in told, told


def test_a_walker_that_cannot_be_tried_is_off(classes, tmp_path):
    """All classes are there that the agent would load to try it."""
    source = (jvm.ROOT / "src" / "jvm_agent" / "handler" / "walk_trial.c").read_text()
    names = re.findall(r'"(java[.][a-zA-Z0-9.]+)"', source)
    assert len(names) > 3
    told = run_without_hooks("17", classes, tmp_path, names)
    assert "[WARN] Java frames come from AsyncGetCallTrace: the walker could not be checked on a known stack" in told, told
