"""Text formats: what `convert` makes of sample files, compared with tests/expected/text.

SPARKFLAME_UPDATE_EXPECTED=1 rewrites the expected files; check the difference before committing it.
"""

import gzip
import os
import pathlib
import signal
import subprocess

import pytest

EXPECTED = pathlib.Path(__file__).resolve().parent / "expected" / "text"

# expected file: input below tests/data, and options
CASES = {
    "folded_flamegraph": ["folded/flamegraph.folded"],
    "folded_async_profiler": ["folded/async_profiler.collapsed", "--kinds"],
    "folded_py_spy": ["folded/py_spy.txt", "--lines"],
    "folded_difference": ["folded/difference.folded"],
    "folded_hostile": ["folded/hostile.folded"],
    "folded_members": ["folded/members.folded.gz"],
    "folded_zstd": ["folded/async_profiler.collapsed.zst", "--kinds"],
    "folded_lz4": ["folded/difference.folded.lz4"],
    "perf_java": ["perf/java.txt.gz"],
    "perf_java_all": ["perf/java.txt", "--all"],
    "perf_java_tid": ["perf/java.txt", "--tid"],
    "perf_java_pid_addrs": ["perf/java.txt", "--pid", "--addrs"],
    "perf_mixed_cycles": ["perf/mixed.txt", "--event", "cycles"],
    "perf_mixed_filter": ["perf/mixed.txt", "--event-filter", "sched:sched_switch"],
    "perf_mixed_by_thread": ["perf/mixed.txt", "--event", "cycles", "--by", "thread,thread_id,process"],
    "perf_mixed_count": ["perf/mixed.txt", "--event", "cycles", "--weight", "count"],
    "perf_names": ["perf/names.txt"],
    "thread_dump_8": ["thread_dump/jstack_8.txt", "--lines", "--by", "state,stage,task"],
    "thread_dump_17": ["thread_dump/jstack_17.txt", "--by", "thread"],
    "thread_dump_25": ["thread_dump/jcmd_25.txt", "--by", "state"],
    "thread_dump_file": ["thread_dump/dump_to_file_25.txt", "--by", "thread,state"],
    "thread_dump_forced": ["thread_dump/jstack_forced.txt", "--kinds", "--by", "state"],
    "thread_dump_info": ["thread_dump/thread_info.txt", "--by", "state"],
}


@pytest.mark.parametrize("name", CASES)
def test_expected(sparkflame, data, name):
    path, *options = CASES[name]
    run = sparkflame("convert", data / path, *options, "--quiet")
    assert run.returncode == 0, run.stderr
    expected = EXPECTED / f"{name}.folded"
    if os.environ.get("SPARKFLAME_UPDATE_EXPECTED"):
        expected.write_bytes(run.stdout)
    assert run.stdout.decode() == expected.read_text()


@pytest.mark.parametrize("name", CASES)
def test_standard_input_gives_the_same(sparkflame, data, name):
    path, *options = CASES[name]
    run = sparkflame("convert", "-", *options, "--quiet", stdin=(data / path).read_bytes())
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode() == (EXPECTED / f"{name}.folded").read_text()


def fold(sparkflame, text, *options):
    run = sparkflame("convert", "-", *options, stdin=text)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_threads_do_not_change_the_result(sparkflame, tmp_path):
    lines = [f"main;f{i % 97};g{i * i % 89};F.apply;h{i % 13} {i % 7 + 1}\n" for i in range(60000)]
    lines += [f"main;f{i % 97};g{i * i % 89};F.apply$mcV$sp {i % 7}.5\n" for i in range(60000)]
    path = tmp_path / "many.folded"
    path.write_text("".join(lines))
    one = sparkflame("convert", "-j", 1, path)
    assert one.returncode == 0 and one.stdout.count(b"\n") > 1000
    for threads in (2, 3, 8):
        assert sparkflame("convert", "-j", threads, path).stdout == one.stdout
    packed = tmp_path / "many.folded.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()[:3000000]) + gzip.compress(path.read_bytes()[3000000:]))
    assert sparkflame("convert", packed).stdout == one.stdout


def test_threads_do_not_change_perf(sparkflame, tmp_path):
    samples = []
    for i in range(30000):
        frames = "".join(f"\t    7f{j:04x} function_{i * j % 37}+0x{j:x} (/lib/x{j % 3}.so)\n" for j in range(i % 9))
        samples.append(f"worker {i % 5}/{i % 11} [00{i % 4}] {i // 100}.{i % 100:06}: {i % 3} cycles:u: \n{frames}\n")
    path = tmp_path / "perf.txt"
    path.write_text("".join(samples))
    one = sparkflame("convert", "-j", 1, path)
    assert one.returncode == 0 and one.stdout.count(b"\n") > 100
    for threads in (2, 3, 8):
        assert sparkflame("convert", "-j", threads, path).stdout == one.stdout


@pytest.mark.parametrize("text, message", [
    (b"a;b 1\na;c -5\n", b"line 2: a negative count: -5"),
    (b"a;b 1\na;c 123456789012345678901234567890\n", b"line 2: a count that is too large"),
    (b"", b"is empty"),
    (b"nothing here\n", b"unknown format"),
    (b"\x00\x01\x02\x03" * 100, b"unknown format"),
])
def test_bad_input_is_said_with_its_place(sparkflame, tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(text)
    run = sparkflame("convert", path)
    assert run.returncode == 1
    assert b"bad.txt: " + message in run.stderr


def test_a_late_bad_line_is_said_with_its_number_by_any_thread(sparkflame, tmp_path):
    path = tmp_path / "late.folded"
    path.write_bytes(b"main;work;step 1\n" * 400000 + b"main;bad -1\n" + b"main;end 1\n" * 1000)
    for threads in (1, 2, 4):
        run = sparkflame("convert", "-j", threads, path)
        assert run.returncode == 1
        assert b"line 400001: a negative count: -1" in run.stderr


@pytest.mark.parametrize("ending", ["gz", "zst", "lz4"])
def test_cut_and_damaged_packed_files(sparkflame, data, tmp_path, ending):
    source = {"gz": "folded/members.folded.gz", "zst": "folded/async_profiler.collapsed.zst",
              "lz4": "folded/difference.folded.lz4"}[ending]
    whole = (data / source).read_bytes()
    cut = tmp_path / f"cut.{ending}"
    cut.write_bytes(whole[:-9])
    run = sparkflame("convert", cut)
    assert run.returncode == 1 and b"cut." in run.stderr
    damaged = tmp_path / f"damaged.{ending}"
    damaged.write_bytes(whole[:20] + b"\xff\xff\xff\xff" + whole[24:])
    assert sparkflame("convert", damaged).returncode == 1


def test_folder_is_merged_and_the_rest_is_named(sparkflame, tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.folded").write_text("main;f 1\n")
    (tmp_path / "in" / "deep" / "b.folded").write_text("main;f 2\n")
    (tmp_path / "in" / "notes.md").write_text("just words\n")
    (tmp_path / "in" / ".hidden").write_text("main;f 100\n")
    run = sparkflame("convert", tmp_path / "in")
    assert run.returncode == 0
    assert run.stdout == b"main;f 3\n"
    assert b"notes.md: skipped" in run.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    assert sparkflame("convert", empty).returncode == 1


def test_several_files_are_merged(sparkflame, data):
    path = data / "folded" / "flamegraph.folded"
    once = sparkflame("convert", path).stdout.decode().splitlines()
    twice = sparkflame("convert", path, path).stdout.decode().splitlines()
    assert [(line.rsplit(" ", 1)[0], 2 * float(line.rsplit(" ", 1)[1])) for line in once] == \
        [(line.rsplit(" ", 1)[0], float(line.rsplit(" ", 1)[1])) for line in twice]


def test_last_perf_sample_without_a_blank_line(sparkflame):
    text = b"a 1 1.0: 1 cycles:\n\t 1f f (/x)\n\na 1 1.1: 1 cycles:\n\t 1f g (/x)"
    assert fold(sparkflame, text) == b"a;f 1\na;g 1\n"


def test_deep_stack(sparkflame):
    stack = b";".join(b"f%d" % (i % 10) for i in range(100000))
    assert fold(sparkflame, stack + b" 3\n") == stack + b" 3\n"


def test_long_line_is_refused(binary, tmp_path):
    """A line over the limit, in a file and through a pipe."""
    path = tmp_path / "long.folded"
    with path.open("wb") as file:
        file.write(b"a;b 1\nx;")
        file.truncate(150 << 20)
    command = [str(binary), "convert", "--input-format", "folded"]
    run = subprocess.run([*command, str(path)], capture_output=True, check=False)
    assert run.returncode == 1
    assert b"a line is longer than" in run.stderr
    with path.open("rb") as file:
        run = subprocess.run([*command, "-"], stdin=file, capture_output=True, check=False)
    assert run.returncode == 1
    assert b"a line is longer than" in run.stderr


def test_nobody_reads_on(binary, tmp_path):
    """As in "sparkflame … | head": it ends silently, with SIGPIPE, like other filters."""
    (tmp_path / "many.folded").write_text("".join(f"main;function_with_a_long_name_{i} 1\n" for i in range(20_000)))
    for command in (["convert"], ["flame", "-f", "speedscope", "-o", "-"]):
        with subprocess.Popen([str(binary), *command, str(tmp_path / "many.folded")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == -signal.SIGPIPE


def test_binary_data_is_no_perf_text(sparkflame, tmp_path):
    (tmp_path / "binary").write_bytes(b"java 1 1.0: cycles:\n\t1 f (x)\n\n\x7fELF\0\0 12 3 4: a:\n\t1 g (x)\n")
    run = sparkflame("convert", "--input-format", "perf", "binary")
    assert run.returncode == 1
    assert run.stderr == b"sparkflame convert: binary: line 4: a NUL byte: not a text file\n"
    assert run.stdout == b"java;f 1\n"


def test_a_notice_is_given_once(sparkflame, tmp_path):
    """The preferred event has no samples: the file is read a second time."""
    (tmp_path / "unknown").write_bytes(b"what\nis this\n")
    run = sparkflame("convert", "--input-format", "perf", "--event-filter", "cycles", "unknown")
    assert run.stderr.count(b"were not understood") == 1
