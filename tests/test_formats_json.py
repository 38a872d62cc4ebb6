"""pprof, speedscope, stack records, async-profiler's pages, CSV and traces through the command."""

import csv
import gzip
import io
import json

import pytest

import pprof_message
import speedscope_schema

INPUTS = ["pprof/cpu.pb", "speedscope/evented.speedscope.json", "uber/Stacktrace.json", "uber/stdout.log",
          "pyspark/s_1_stack.json", "async_html/version_4.html", "async_html/version_2.html"]

FOLDED = [
    (["pprof/cpu.pb"], "demo/Job.main 10000000\ndemo/Job.main;vfs_read 50000000\n"),
    (["-e", "alloc", "pprof/heap.pb.gz"],
     "main.main;0x4a0f10 16\nmain.main;main.fill 64\nmain.main;main.fill;main.fill;bytes.Repeat 4096\n"),
    (["-e", "live", "--weight", "count", "pprof/heap.pb.gz"],
     "main.main;0x4a0f10 1\nmain.main;main.fill;main.fill;bytes.Repeat 1\n"),
    (["--task", "17", "pprof/cpu.pb"], "demo/Job.main;vfs_read 50000000\n"),
    (["--by", "state", "--state", "running", "pprof/cpu.pb"], "running;demo/Job.main;vfs_read 50000000\n"),
    (["speedscope/evented.speedscope.json"],
     "main (job.py) 9000000\nmain (job.py);read <x> 2000000\nmain (job.py);read <x>;work 2000000\nmain (job.py);work 3000000\n"),
    (["-s", "WAITING", "--dot", "uber/Stacktrace.json"],
     "java.lang.ref.Finalizer$FinalizerThread.run;java.lang.ref.ReferenceQueue.remove;java.lang.Object.wait 10\n"),
    (["uber/stdout.log"], "<module> (job.py);work (job.py) 5\n"
                          "demo/Job.main;demo/Job$.$anonfun$main$1;scala/collection/Iterator$$anon$10.next 4\n"),
    (["--lines", "-X", "genexpr", "pyspark/s_1_stack.json"],
     "main (/opt/spark/python/pyspark/worker.py:370);<lambda> (C:\\jobs\\täglich.py:3) 19\n"),
    (["pyspark/s_1_stack.json"], "main (worker.py);<genexpr> (rdd.py);process (job.py) 1456\nmain (worker.py);<lambda> (täglich.py) 19\n"),
    (["--bare-names", "pyspark/s_1_stack.json"], "main;<genexpr>;process 1456\nmain;<lambda> 19\n"),
    (["--kinds", "async_html/version_4.html"],
     "demo/Job.main_[j];demo/Job.read_[j] 20\ndemo/Job.main_[j];demo/Job.read_[j];__read;vfs_read_[k] 40\n"
     "demo/Job.main_[j];demo/Job.toString_[i] 30\ndemo/Job.main_[j];it's\\odd 10\n"),
    (["async_html/version_2.html", "async_html/version_4.html", "--only-frames", "demo/Job.main"],
     "[no frames left] 10\ndemo/Job.main 190\n"),
]


def arguments_of(data, arguments):
    return [data / each if "/" in each and (data / each).exists() else each for each in arguments]


@pytest.mark.parametrize("arguments, expected", FOLDED, ids=lambda value: value[-1] if isinstance(value, list) else "")
def test_folds(sparkflame, data, arguments, expected):
    run = sparkflame("convert", *arguments_of(data, arguments))
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode() == expected


@pytest.mark.parametrize("name", INPUTS)
def test_reads_standard_input_and_packed_bytes(sparkflame, data, name):
    plain = sparkflame("convert", data / name)
    packed = sparkflame("convert", "-", stdin=gzip.compress((data / name).read_bytes()))
    assert plain.returncode == 0 and packed.returncode == 0, packed.stderr
    assert plain.stdout == packed.stdout and plain.stdout


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("middle", ["pprof", "speedscope"])
def test_loses_no_stack_on_the_way(sparkflame, data, tmp_path, name, middle):
    """Through another format and back the folded text stays the same."""
    between = tmp_path / "between"
    assert sparkflame("convert", data / name, "-f", middle, "-o", between).returncode == 0
    direct, back = sparkflame("convert", data / name), sparkflame("convert", between)
    assert back.returncode == 0, back.stderr
    assert back.stdout == direct.stdout


def test_another_library_decodes_pprof(sparkflame, data):
    run = sparkflame("convert", data / "pprof" / "cpu.pb", "-f", "pprof")
    profile = pprof_message.decode(gzip.decompress(run.stdout))
    text = profile.string_table
    assert [(text[each.type], text[each.unit]) for each in profile.sample_type] == [
        ("samples", "count"), ("cpu", "nanoseconds")]
    assert text[profile.default_sample_type] == "cpu"
    main, read = ("demo/Job.main", "Job.java", 3), ("vfs_read", "", 0)
    labels = (("colour", "red"), ("stage", "3"), ("task", 17), ("thread_state", "running"))
    assert pprof_message.stacks(profile) == {
        ((main, read), labels): [5, 50000000],
        ((main,), (("task", 0),)): [1, 10000000],
    }


@pytest.mark.parametrize("names", [["async_profiler.jfr.gz"], ["jdk17.jfr.gz"], ["spans.jfr"], ["cut.jfr"],
                                   ["jdk25.jfr.gz", "jdk17.jfr.gz"]])
def test_pprof_of_listed_stacks_is_that_of_the_tree(sparkflame, data, names):
    """Stacks of a single recording are written without a tree of them; a selection, even of all, makes one."""
    paths = [data / "jfr" / name for name in names]
    listed, placed = (sparkflame("convert", *paths, "-f", "pprof", *more) for more in ([], ["--include", "."]))
    assert listed.returncode == placed.returncode, listed.stderr + placed.stderr
    found = [sorted(pprof_message.samples(pprof_message.decode(gzip.decompress(run.stdout)))) for run in (listed, placed)]
    assert found[0] == found[1] != []


def test_pprof_keeps_several_events_and_times(sparkflame, data):
    run = sparkflame("convert", data / "pprof" / "heap.pb.gz", "-f", "pprof")
    profile = pprof_message.decode(gzip.decompress(run.stdout))
    text = profile.string_table
    assert [(text[each.type], text[each.unit]) for each in profile.sample_type] == [
        ("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
    assert (profile.time_nanos, profile.duration_nanos) == (1700000000000000000, 5000000000)
    main, fill = ("main.main", "/src/main.go", 12), ("main.fill", "/src/fill.go", 7)
    inlined = [("main.fill", "/src/fill.go", 9), ("bytes.Repeat", "/usr/lib/go/bytes.go", 554)]
    assert pprof_message.stacks(profile) == {
        ((main, fill, *inlined), (("bytes", "1024"),)): [4, 4096, 1, 1024],
        ((main, fill), ()): [2, 64, 0, 0],
        ((main, ("0x4a0f10", "", 0)), ()): [1, 16, 1, 16],
    }


@pytest.mark.parametrize("name", [*INPUTS, "pprof/heap.pb.gz", "folded/hostile.folded", "speedscope/sampled.speedscope.json"])
def test_speedscope_is_valid(sparkflame, data, name):
    run = sparkflame("convert", data / name, "-f", "speedscope")
    assert run.returncode == 0, run.stderr
    speedscope_schema.check(json.loads(run.stdout.decode()))


@pytest.mark.parametrize("name", [*INPUTS, "pprof/heap.pb.gz", "folded/hostile.folded"])
def test_traces_nest(sparkflame, data, name):
    """Boxes of a track lie inside one another or apart."""
    run = sparkflame("convert", data / name, "-f", "chrome_trace")
    assert run.returncode == 0, run.stderr
    tracks = {}
    for event in json.loads(run.stdout.decode())["traceEvents"]:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"]))
    assert tracks
    for boxes in tracks.values():
        ends = []
        for begin, length in sorted(boxes):
            while ends and ends[-1] <= begin + 1e-6:
                ends.pop()
            assert not ends or begin - length <= ends[-1] + 1e-3
            ends.append(begin - length)


@pytest.mark.parametrize("name, made_from, form", [
    ("csv/methods.csv", "uber/Stacktrace.json", "csv"),
    ("chrome_trace/threads.trace.json", "uber/Stacktrace.json", "chrome_trace"),
    ("flamebearer/stacks.flamebearer.json", "uber/Stacktrace.json", "flamebearer"),
])
def test_writes_as_before(sparkflame, data, name, made_from, form):
    assert sparkflame("convert", data / made_from, "-f", form).stdout == (data / name).read_bytes()


def test_csv_agrees_with_folded(sparkflame, data):
    folded = sparkflame("convert", data / "uber" / "Stacktrace.json").stdout.decode()
    total, selfs = {}, {}
    for line in folded.splitlines():
        stack, count = line.rsplit(" ", 1)
        frames = stack.split(";")
        selfs[frames[-1]] = selfs.get(frames[-1], 0) + int(count)
        for frame in set(frames):
            total[frame] = total.get(frame, 0) + int(count)
    text = sparkflame("convert", data / "uber" / "Stacktrace.json", "-f", "csv").stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["method"]: int(row["total_samples"]) for row in rows} == total
    assert {row["method"]: int(row["self_samples"]) for row in rows if row["self_samples"] != "0"} == selfs


def speedscope_of(stack, weight=1):
    frames = [{"name": f"f{number}"} for number in range(max(stack, default=-1) + 1)]
    return {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": "x", "unit": "none", "startValue": 0, "endValue": weight,
                          "samples": [stack], "weights": [weight]}]}


def test_a_hundred_thousand_frames(sparkflame, tmp_path):
    document = speedscope_of([0, 1] * 50000)
    folded = ";".join(["f0", "f1"] * 50000) + " 1\n"
    for form in ("pprof", "speedscope", "chrome_trace", "csv", "flamebearer"):
        file = tmp_path / f"deep.{form}"
        run = sparkflame("convert", "-", "-f", form, "-o", file, stdin=json.dumps(document).encode())
        assert run.returncode == 0, run.stderr
        if form in ("pprof", "speedscope"):
            assert sparkflame("convert", file).stdout.decode() == folded


def test_sums_that_are_too_large_are_cut(sparkflame):
    text = "".join(f"main;work{number} 8000000000000000\n" for number in range(1200))
    run = sparkflame("convert", "-", "-f", "flamebearer", stdin=text.encode())
    assert run.returncode == 0, run.stderr
    graph = json.loads(run.stdout)["flamebearer"]
    assert graph["numTicks"] == 2**63 - 1 and all(number >= 0 for level in graph["levels"] for number in level)


BAD = [
    ("speedscope", b'{"shared":{"frames":[]},"profiles":[{"samples":[[0', b"offset"),
    ("speedscope", b'{"profiles":' + b"[" * 5000, b"offset"),
    ("speedscope", json.dumps(speedscope_of([5])).replace('"name": "f5"', '"name": 5e999').encode(), b"offset"),
    ("pprof", b"\x0a\x04\x08\x01\x10\x02\x12\x7f", b"offset"),
    ("pprof", b"heap profile: 1: 2 [3: 4] @ heap\n", b"before 2014"),
    ("pprof", b"\xff" * 40, b"offset"),
    ("async_html", b"<html>const cpool = [\n'all\n", b"line 2"),
    ("uber", b'{"stacktrace":["a"', b"line 1"),
    ("pyspark", b'{"stacktrace":[[', b"line 1"),
]


@pytest.mark.parametrize("form, content, place", BAD)
def test_refuses_bad_input(sparkflame, tmp_path, form, content, place):
    file = tmp_path / "bad.input"
    file.write_bytes(content)
    run = sparkflame("convert", "--input-format", form, file)
    assert run.returncode == 1
    assert b"bad.input" in run.stderr and place in run.stderr
    assert run.stderr.count(b"\n") == 1


@pytest.mark.parametrize("name", [*INPUTS, "pprof/heap.pb.gz"])
def test_cut_files_never_crash(sparkflame, data, tmp_path, name):
    whole = (data / name).read_bytes()
    for part in range(1, 12):
        file = tmp_path / "cut"
        file.write_bytes(whole[: len(whole) * part // 12])
        run = sparkflame("convert", file)
        assert run.returncode in (0, 1), (part, run.returncode, run.stderr)


def test_names_cannot_break_out_of_a_page(sparkflame, tmp_path):
    document = speedscope_of([0])
    document["shared"]["frames"] = [{"name": "x</script><script>alert(1)</script>", "file": "</script>"}]
    for form in ("speedscope", "chrome_trace"):
        run = sparkflame("convert", "-", "-f", form, stdin=json.dumps(document).encode())
        assert run.returncode == 0 and b"</script" not in run.stdout
