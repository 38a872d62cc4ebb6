"""Flight Recorder files through the command: recordings of real recorders, damaged and hostile ones, and ours in other
people's tools. tests/data/jfr/jdk17, jdk25, async_profiler and compact (by our agent) are of small programs of ours."""

import collections
import gzip
import json
import subprocess

import pytest

import jfr_builder as jfr

# What `jfr summary` of the JDK says of the same files.
RECORDED = {
    "jdk17.jfr.gz": {"jdk.ExecutionSample": 12, "jdk.ObjectAllocationSample": 79, "jdk.ThreadPark": 1},
    "jdk25.jfr.gz": {"jdk.ExecutionSample": 24, "jdk.ObjectAllocationSample": 80, "jdk.JavaMonitorEnter": 3,
                     "jdk.ThreadPark": 1},
}
EVENTS = {"jdk.ExecutionSample": "cpu", "jdk.ObjectAllocationSample": "alloc", "jdk.JavaMonitorEnter": "lock",
          "jdk.ThreadPark": "park", "jdk.ObjectAllocationInNewTLAB": "alloc"}


def total(sparkflame, path, *options):
    run = sparkflame("convert", "-q", "-f", "folded", *options, path)
    assert run.returncode == 0, run.stderr
    return sum(int(line.rsplit(b" ", 1)[1]) for line in run.stdout.splitlines())


def jdk_events(path):
    """Events per type, as the JDK's own tool reads them."""
    run = subprocess.run(["jfr", "print", "--json", "--stack-depth", "64", str(path)], capture_output=True, check=True)
    return json.loads(run.stdout)["recording"]["events"]


@pytest.mark.parametrize("name", RECORDED)
def test_each_event_of_the_jdk_is_counted(sparkflame, data, name):
    for type_name, count in RECORDED[name].items():
        assert total(sparkflame, data / "jfr" / name, "-e", EVENTS[type_name], "--weight", "count") == count


def test_stacks_are_those_that_the_jdk_shows(sparkflame, data, tmp_path):
    path = tmp_path / "jdk17.jfr"
    path.write_bytes(gzip.decompress((data / "jfr" / "jdk17.jfr.gz").read_bytes()))
    expected = collections.Counter()
    for event in jdk_events(path):
        if event["type"] == "jdk.ExecutionSample":
            frames = [f"{frame['method']['type']['name'].replace('.', '/')}.{frame['method']['name']}"
                      for frame in event["values"]["stackTrace"]["frames"]]
            expected[";".join(reversed(frames))] += 1
    run = sparkflame("convert", "-q", "-f", "folded", "-e", "cpu", path)
    got = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in run.stdout.decode().splitlines()}
    assert got == expected and expected


@pytest.mark.parametrize("name", ["jdk17.jfr.gz", "jdk25.jfr.gz", "async_profiler.jfr.gz", "spans.jfr", "compact.jfr.gz"])
def test_what_is_written_reads_the_same(sparkflame, data, tmp_path, name):
    source, copy = data / "jfr" / name, tmp_path / "copy.jfr"
    assert sparkflame("convert", "-q", source, "-o", copy).returncode == 0
    for event in ("cpu", "wall", "alloc", "lock", "park"):
        options = ("convert", "-q", "-f", "folded", "--lines", "--kinds", "-e", event, "--by", "thread")
        before, after = (sparkflame(*options, path) for path in (source, copy))
        assert (before.returncode, before.stdout) == (after.returncode, after.stdout)


@pytest.mark.parametrize("name", ["jdk17.jfr.gz", "async_profiler.jfr.gz", "small.jfr", "spans.jfr"])
def test_the_jdk_reads_what_is_written(sparkflame, data, tmp_path, name):
    copy = tmp_path / "copy.jfr"
    assert sparkflame("convert", "-q", data / "jfr" / name, "-o", copy).returncode == 0
    counts = collections.Counter(event["type"] for event in jdk_events(copy))
    assert counts["jdk.ExecutionSample"] == total(sparkflame, data / "jfr" / name, "-e", "cpu")


def test_the_jdk_reads_a_folded_profile_as_jfr(sparkflame, tmp_path):
    (tmp_path / "in.folded").write_text("main;native;class 3\nmain;a.b 2\n")
    assert sparkflame("convert", "-q", tmp_path / "in.folded", "-o", tmp_path / "out.jfr").returncode == 0
    assert jdk_events(tmp_path / "out.jfr")
    run = sparkflame("convert", "-q", "-f", "folded", tmp_path / "out.jfr")
    assert run.stdout == b"main;a.b 2\nmain;native;class 3\n"


def one_stack(method, class_name="pkg/Main", type_name="JIT compiled"):
    """A chunk with one sample, whose stack trace is the same bytes whatever the names."""
    types = jfr.standard_metadata()
    chunk = jfr.Chunk(types)
    frame_types = ["Interpreted", type_name, *jfr.FRAME_TYPES[2:]]
    chunk.standard_constants({1: class_name, 2: method}, {1: 1}, {1: (1, 2)}, {1: ("main", 1)}, frame_types)
    chunk.stacks({5: [(1, 7, 1)]})
    chunk.add("jdk.ExecutionSample", 2000, 1, 5, 0)
    return chunk.bytes()


@pytest.mark.parametrize("threads", ["1", "4"])
def test_equal_bytes_of_other_jvms_are_other_stacks(sparkflame, tmp_path, threads):
    path = tmp_path / "joined.jfr"
    chunks = [one_stack("a"), one_stack("a"), one_stack("b"), one_stack("a", "pkg/Other"),
              one_stack("a", type_name="Kernel"), one_stack("a")]
    path.write_bytes(b"".join(chunks))
    run = sparkflame("convert", "-q", "-j", threads, "-f", "folded", "-e", "cpu", "--kinds", path)
    assert run.stdout.decode().splitlines() == ["a_[k] 1", "pkg/Main.a_[j] 3", "pkg/Main.b_[j] 1",
                                                "pkg/Other.a_[j] 1"]
    run = sparkflame("convert", "-q", "-j", threads, "-f", "folded", "-e", "cpu", path, path)
    assert run.stdout.decode().splitlines() == ["a 2", "pkg/Main.a 6", "pkg/Main.b 2", "pkg/Other.a 2"]


def many_stacks(count):
    """A chunk with a sample for each of so many stacks."""
    chunk = jfr.Chunk(jfr.standard_metadata())
    methods = {number: (1, number + 1) for number in range(1, 401)}
    names = {1: "pkg/Main", **{number + 1: f"m{number}" for number in methods}}
    chunk.standard_constants(names, {1: 1}, methods, {1: ("main", 1)}, jfr.FRAME_TYPES)
    chunk.stacks({i: [(1 + i % 400, 7, 1), (1 + i // 400, 7, 1)] for i in range(1, count + 1)})
    for i in range(1, count + 1):
        chunk.add("jdk.ExecutionSample", 2000 + i, 1, i, 0)
    return chunk.bytes()


def test_threads_that_meet_the_same_stacks_at_once_share_the_work(sparkflame, tmp_path):
    """Threads leave stacks that others have begun to these, more than fit into one batch."""
    path = tmp_path / "repeated.jfr"
    path.write_bytes(many_stacks(20000) * 4)
    run = sparkflame("convert", "-q", "-j", "1", "-f", "folded", "-e", "cpu", path)
    assert len(run.stdout.splitlines()) == 20000 and all(line.endswith(b" 4") for line in run.stdout.splitlines())
    for _ in range(5):
        assert sparkflame("convert", "-q", "-j", "4", "-f", "folded", "-e", "cpu", path).stdout == run.stdout


def labelled_chunk(application, labels_first=True):
    """Labels of all samples, of a thread, and those implied by the thread's label, written after the samples."""
    types = jfr.standard_metadata()
    types.add("sparkflame.RecordingLabels", [("startTime", "long"), ("labels", "java.lang.String")], True)
    types.add("sparkflame.LabelDetails", [("startTime", "long"), ("label", "java.lang.String"),
                                          ("labels", "java.lang.String")], True)
    chunk = jfr.small_chunk(types)
    chunk.events.clear()
    chunk.add("sparkflame.RecordingLabels", 1000, jfr.utf8(f"application={application};executor=7"))
    chunk.add("sparkflame.Labels", 1500, 100, jfr.utf8("stage=3;task=17"))
    chunk.add("jdk.ExecutionSample", 2000, 100, 1, 0)
    chunk.add("jdk.ExecutionSample", 2100, 101, 1, 0)
    chunk.add("sparkflame.LabelDetails", 3000, jfr.utf8("stage=3"), jfr.utf8("job=5;description=a%2Cb"))
    if not labels_first:
        chunk.events.append(chunk.events.pop(0))
    return chunk.bytes()


def test_labels_of_a_recording_and_of_a_stage(sparkflame, tmp_path):
    path = tmp_path / "labels.jfr"
    path.write_bytes(labelled_chunk("app-1") + labelled_chunk("app-2", labels_first=False))
    run = sparkflame("convert", "-q", "-f", "folded", "-e", "cpu", "--by", "application,executor,job,description", path)
    assert [line.split(";java/", 1)[0] for line in run.stdout.decode().splitlines()] == [
        "app-1;executor 7;[no job];[no description]", "app-1;executor 7;job 5;description a,b",
        "app-2;executor 7;[no job];[no description]", "app-2;executor 7;job 5;description a,b"]


def check_bad(sparkflame, tmp_path, data, words):
    path = tmp_path / "bad.jfr"
    path.write_bytes(data)
    run = sparkflame("convert", "-f", "folded", path)
    assert run.returncode == 1
    assert b"bad.jfr" in run.stderr and words in run.stderr.decode()


def endless_type():
    types = jfr.standard_metadata()
    types.add("org.example.Endless", [("self", "jdk.types.Symbol")])
    types.types["org.example.Endless"][1][0] = ("self", "org.example.Endless")
    chunk = jfr.small_chunk(types)
    chunk.constants("org.example.Endless", {1: b"\0"})
    return chunk.bytes()


def huge_counts():
    chunk = jfr.small_chunk()
    chunk.pools.append(jfr.varint(chunk.types.id("jdk.types.Symbol")) + jfr.varint(1 << 62))
    return chunk.bytes()


def huge_stack():
    chunk = jfr.Chunk(jfr.standard_metadata())
    chunk.standard_constants({1: "a"}, {1: 1}, {1: (1, 1)}, {1: ("main", 1)})
    chunk.constants("jdk.types.StackTrace", {1: b"\0" + jfr.varint(1 << 60)})
    chunk.add("jdk.ExecutionSample", 2000, 1, 1, 0)
    return chunk.bytes()


def endless_event():
    chunk = jfr.small_chunk()
    chunk.events.append(b"\xff" * 9)
    return chunk.bytes()


def unknown_constants():
    chunk = jfr.small_chunk()
    chunk.pools.append(jfr.varint(9999) + jfr.varint(1) + b"\1\1")
    return chunk.bytes()


BAD = {
    "offset 0": lambda: b"FLR\0" + b"\0" * 200,
    "cut off": lambda: jfr.small_chunk().bytes()[:40],
    "version 1.0": lambda: jfr.small_chunk().bytes(version=(1, 0)),
    "not compressed": lambda: jfr.small_chunk().bytes(flags=0),
    "impossible size": endless_event,
    "constants run over": lambda: jfr.small_chunk().bytes()[:-20] + b"\xff" * 20,
    "no JFR chunk begins here": lambda: jfr.small_chunk().bytes() + b"something else" * 10,
    "nests too deep": endless_type,
    "more constants than bytes": huge_counts,
    "constants run over their": huge_stack,
    "unknown type 9999": unknown_constants,
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_an_error_that_says_where(sparkflame, tmp_path, words):
    check_bad(sparkflame, tmp_path, BAD[words](), words)


def test_strings_that_refer_to_each_other_end(sparkflame, tmp_path):
    chunk = jfr.small_chunk()
    chunk.constants("java.lang.String", {1: jfr.pooled(2), 2: jfr.pooled(1)})
    chunk.constants("jdk.types.Symbol", {3: jfr.pooled(1)})
    path = tmp_path / "circle.jfr"
    path.write_bytes(chunk.bytes())
    run = sparkflame("convert", "-q", "-e", "cpu", "-f", "folded", path)
    assert run.returncode == 0 and b"java/lang/Thread.run" in run.stdout


def test_numbers_of_methods_may_have_any_length(sparkflame, tmp_path):
    """Frames are distinguished by their bytes, many at a time; an integer of nine bytes has no end mark."""
    numbers = [1, 200, 1 << 20, 1 << 40, 1 << 55, (1 << 56) + 7, (1 << 63) + (1 << 56) * 0x55, (1 << 64) - 1]
    chunk = jfr.Chunk(jfr.standard_metadata())
    chunk.standard_constants({i + 1: f"m{i}" for i in range(len(numbers))}, {1: 1},
                             {number: (1, i + 1) for i, number in enumerate(numbers)}, {1: ("main", 1)})
    frames = [(i % 8, (1, 300, (1 << 31) - 1)[i % 3]) for i in range(100)]
    chunk.stacks({1: [(numbers[method], line, 1) for method, line in frames]})
    chunk.add("jdk.ExecutionSample", 2000, 1, 1, 0)
    path = tmp_path / "numbers.jfr"
    path.write_bytes(chunk.bytes())
    run = sparkflame("convert", "-q", "-f", "folded", "--lines", path)
    shown = ";".join(f"m0.m{method}:{line}" for method, line in reversed(frames))
    assert run.stdout.decode() == f"{shown} 1\n"


def test_deep_stacks_are_whole(sparkflame, tmp_path):
    chunk = jfr.Chunk(jfr.standard_metadata())
    chunk.standard_constants({1: "a", 2: "b"}, {1: 1}, {1: (1, 1), 2: (1, 2)}, {1: ("main", 1)})
    chunk.stacks({1: [(1 + i % 2, i % 90, 1) for i in range(100_000)]})
    chunk.add("jdk.ExecutionSample", 2000, 1, 1, 0)
    path = tmp_path / "deep.jfr"
    path.write_bytes(chunk.bytes())
    run = sparkflame("convert", "-q", "-f", "folded", path)
    assert run.returncode == 0 and run.stdout.count(b";") == 99_999


def test_files_cut_anywhere_never_crash(sparkflame, data, tmp_path):
    whole = (data / "jfr" / "chunks.jfr").read_bytes()
    path = tmp_path / "cut.jfr"
    for size in range(1, len(whole), len(whole) // 40):
        path.write_bytes(whole[:size])
        run = sparkflame("convert", "-f", "folded", path)
        assert run.returncode in (0, 1), size
        assert run.returncode == 0 or run.stderr
