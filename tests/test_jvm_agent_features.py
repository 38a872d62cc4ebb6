"""Optional features: parking locks, vtable classes, compiled methods, windows, native memory, buffers."""

import collections
import gzip
import re
import subprocess
import xml.etree.ElementTree

import pytest

import jvm
import pprof_message
from measuring import mostly
from test_jvm_agent_jfr import events, summary


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Locks", "Dispatch", "Spans", "one/profiler/Recording")


@pytest.mark.parametrize("version", ["17", "25"])
def test_locks_that_park(classes, tmp_path, version):
    """With the lock's class and the duration; waiting for work in a queue is not waiting for a lock."""
    path = tmp_path / "out.jfr"
    done = jvm.run_java(jvm.home_of(version), classes, f"start,event=lock,file={path}", "Locks", 30)
    assert "Re-registering" not in done.stdout + done.stderr
    parks = events(path, "jdk.ThreadPark")
    kinds = collections.Counter(park["parkedClass"]["name"] for park in parks)
    assert set(kinds) == {"java/util/concurrent/locks/ReentrantLock$NonfairSync",
                          "java/util/concurrent/locks/ReentrantReadWriteLock$NonfairSync"}
    assert all(park["eventThread"]["javaName"].startswith("locker-") for park in parks)
    assert any(park["duration"] > "PT0.004" for park in parks)


@pytest.mark.parametrize("version", ["17", "25"])
def test_looked_up_classes_and_compiled_methods(classes, tmp_path, version):
    """Everything is compiled before it runs, by C1."""
    path = tmp_path / "out.folded"
    jvm.run_java(jvm.home_of(version), classes, f"start,event=ctimer,interval=1ms,features=vtable+comptask,file={path}",
                 "Dispatch", 2000, options=["-Xcomp", "-XX:TieredStopAtLevel=1"])
    frames = {frame: stack for stack, _ in jvm.read_folded(path) for frame in stack}
    looked_up = [name for name in ("One", "Two", "Three", "Four") if f"Dispatch${name}_[i]" in frames]
    assert looked_up and all(frames[f"Dispatch${name}_[i]"][-2] == "itable stub" for name in looked_up)
    compiled = [stack for stack, _ in jvm.read_folded(path)
                for i, frame in enumerate(stack[:-1])
                if frame.endswith("ompiler::compile_method") and "/" in stack[i + 1] and "." in stack[i + 1]]
    assert compiled


def test_windows(classes, tmp_path):
    """Samples only between two functions of the process."""
    path = tmp_path / "out.jfr"
    done = jvm.run_java(jvm.home_of("17"), classes, f"start,event=cpu,interval=1ms,begin=opendir,end=closedir,file={path}",
                        "Spans", 1500)
    if "need hardware breakpoints" in done.stderr:
        pytest.skip("this machine forbids breakpoints of the processor")
    _, counts = summary(path)
    assert counts["profiler.Window"] > 10
    same = jvm.run_java(jvm.home_of("17"), classes, f"start,begin=opendir,end=opendir,file={path}", "Spans", 1)
    assert "begin and end symbols should not resolve to the same address" in same.stderr
    none = jvm.run_java(jvm.home_of("17"), classes, f"start,begin=no_such_function,file={path}", "Spans", 1)
    assert "no library in this process has a function no_such_function" in none.stderr


def test_native_memory(classes, tmp_path):
    """Sampled memory is either released later, at the same address, or still in use."""
    path = tmp_path / "out.jfr"
    jvm.run_java(jvm.home_of("17"), classes, f"start,nativemem=32k,file={path}", "Spans", 1500)
    taken, released = events(path, "profiler.Malloc", depth=20), events(path, "profiler.Free")
    assert len(taken) > 10 and 0 < len(released) <= len(taken)
    assert {event["address"] for event in released} <= {event["address"] for event in taken}
    assert all(event["size"] > 0 and event["stackTrace"]["frames"] for event in taken)
    leaves = {event["stackTrace"]["frames"][0]["method"]["name"] for event in taken}
    assert not any("hook" in leaf or "own_stack" in leaf for leaf in leaves), leaves


def test_a_program_without_a_jvm(tmp_path):
    """Through the C interface: native samples, and a clear error for what needs Java."""
    source, program, path = tmp_path / "program.c", tmp_path / "program", tmp_path / "out.jfr"
    source.write_text(r"""
        #include <dlfcn.h>
        #include <stdio.h>
        #include <time.h>
        volatile double sink;
        static void burns(void) { for (int i = 1; i < 200000; i++) sink += 1.0 / i; }
        int main(int count, char **words)
        {
            void *library = dlopen(words[1], RTLD_NOW);
            const char *(*execute)(const char *, void *) = (const char *(*)(const char *, void *))dlsym(library, "asprof_execute");
            const char *failure = execute("start,event=alloc", NULL);
            puts(failure == NULL ? "no failure" : failure);
            failure = execute(words[2], NULL);
            clock_t end = clock() + CLOCKS_PER_SEC / 2;
            while (failure == NULL && clock() < end)
                burns();
            failure = failure == NULL ? execute("stop", NULL) : failure;
            return failure == NULL ? 0 : puts(failure);
        }
    """)
    subprocess.run(["cc", "-o", program, source, "-ldl"], check=True)
    done = subprocess.run([program, jvm.LIBRARY, f"start,event=ctimer,interval=1ms,file={path}"], capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL, timeout=jvm.LIMIT_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "alloc and lock need a JVM; there is none in this process\n"
    samples = events(path, "jdk.ExecutionSample")
    assert len(samples) > 50
    assert any(frame["method"]["name"] == "burns" for sample in samples for frame in sample["stackTrace"]["frames"])


def test_one_recording_in_every_format(tmp_path, sparkflame):
    """Written by the agent: pprof, plain and gzip, and SVG have the samples of the folded text."""
    classes = jvm.compile_classes(tmp_path / "classes", "org/sparkflame/Agent", "Tags", "Outputs")
    names = ["out.collapsed", "out.pb", "out.pb.gz", "out.svg"]
    jvm.run_java(jvm.home_of("17"), classes, None, "Outputs", jvm.LIBRARY, "start,event=ctimer,interval=1ms",
                 *[tmp_path / name for name in names])
    folded = {tuple(frames): count for frames, count in jvm.read_folded(tmp_path / "out.collapsed")}
    assert any("Tags.burn" in frames for frames in folded)
    plain = (tmp_path / "out.pb").read_bytes()
    assert gzip.decompress((tmp_path / "out.pb.gz").read_bytes())[:-10] == plain[:-10]  # the time is last
    for name in ("out.pb", "out.pb.gz"):
        read = sparkflame("convert", "--quiet", "-e", "cpu", "-f", "folded", tmp_path / name).stdout.decode()
        stacks = [line.rsplit(" ", 1) for line in read.splitlines()]
        assert {tuple(stack.split(";")): int(ns) / 1e6 for stack, ns in stacks} == folded
    message = pprof_message.decode(plain)
    assert message.string_table[message.default_sample_type] == "cpu"
    assert [message.string_table[each.filename] for each in message.mapping] == ["java"]
    titles = [title.text for title in xml.etree.ElementTree.parse(tmp_path / "out.svg").iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == f"all ({sum(folded.values())} samples, 100.00%)"
    assert any(title.startswith("Tags.burn (") for title in titles)


def births(folder, arguments, path):
    """(CPU ns of the threads started by a library, {name of a thread: how often it slept}) of a program that loads it."""
    classes, library = jvm.compile_classes(folder, "Births"), jvm.compile_births(folder)
    done = jvm.run_java(jvm.home_of("17"), classes, f"start,event=cpu,interval=1ms,threads,{arguments},file={path}", "Births",
                        library, 20, 40)
    worked, names = re.search(r"worked (\d+)\nthreads (.*)", done.stdout).groups()
    return int(worked), {name: int(slept) for name, _, slept in (text.rpartition(":") for text in names.split(",") if text)}


def test_threads_that_a_library_starts_are_seen_from_birth(tmp_path):
    """Without a scan: the thread of such a recording sleeps until the tables are nearly full."""
    path = tmp_path / "births.folded"
    def check():
        worked, names = births(tmp_path, "total", path)
        assert all(slept <= 2 for name, slept in names.items() if "parkflame" in name), names
        stacks = [(stack, ns) for stack, ns in jvm.read_folded(path) if "burn_in_library" in ";".join(stack)]
        assert stacks and all(stack[0].startswith("[born-later tid=") for stack, _ in stacks), stacks[:3]
        seen = sum(ns for _, ns in stacks) / worked
        return None if 0.9 < seen < 1.1 else f"{seen:.2f} of the CPU time is seen"

    mostly(check)


def test_a_recording_in_jfr_has_a_thread(tmp_path):
    assert [name for name in births(tmp_path, "jfr", tmp_path / "births.jfr")[1] if "parkflame" in name]
