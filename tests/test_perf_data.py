"""Files of perf record: samples that are made (make_perf_data.py), damaged ones, and those that perf writes here, against perf script."""

import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys

import pytest

import make_perf_data

DATA = pathlib.Path(__file__).resolve().parent / "data" / "perf_data"
WORK = pathlib.Path(__file__).resolve().parent / "native_programs" / "native_work.c"
# Of make_perf_data.py: in the order of time, so the child has its parent's code until it executes another program.
EXPECTED = """\
:300;[unknown] 900
a:thread;[first];[lib.so] 3
first;[first];[lib.so] 2000
first;[first];[lib.so];[[kernel.kallsyms]];[[kernel.kallsyms]] 2000
first;[first];[perf-200.map] 500
second_one;[second] 700
"""


def folded(sparkflame, path, *options, **more):
    done = sparkflame("convert", path, "-f", "folded", *options, **more)
    assert done.returncode == 0, done.stderr.decode()
    return "".join(sorted(done.stdout.decode().splitlines(True))), done.stderr.decode()


@pytest.mark.parametrize("name", ["file.data", "pipe.data", "compressed.data"])
def test_all_events_in_the_order_of_time(sparkflame, name):
    clock, said = folded(sparkflame, DATA / name, "--event", "cpu-clock")
    switches, _ = folded(sparkflame, DATA / name, "--event", "context-switches")
    assert "".join(sorted((clock + switches).splitlines(True))) == EXPECTED
    assert "perf lost 7 records" in said
    assert folded(sparkflame, "-", "--event", "cpu-clock", stdin=(DATA / name).read_bytes())[0] == clock


def test_labels(sparkflame):
    out, _ = folded(sparkflame, DATA / "file.data", "--event", "cpu-clock", "--by", "process,thread,thread_id", "-q")
    assert "200;second one;200;" in re.sub(r"(process|thread|thread_id)[ =:]+", "", out), out


def test_the_samples_are_made_as_they_are(tmp_path):
    subprocess.run([sys.executable, make_perf_data.__file__, tmp_path], check=True)
    for path in DATA.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


STACKS = """\
first;[first];[first];[lib.so] 1000
first;[first];[lib.so] 1000
first;[first];[lib.so];[[kernel.kallsyms]] 1000
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the registers are those of x86-64")
def test_copied_stacks_are_walked(sparkflame):
    assert folded(sparkflame, DATA / "stacks.data")[0] == STACKS
    out, said = folded(sparkflame, DATA / "stacks_aarch64.data")
    assert out == "first;[[kernel.kallsyms]] 1000\nfirst;[lib.so] 2000\n" and "of another kind of processor are not walked" in said, said


def changed(at, content):
    data = bytearray((DATA / "file.data").read_bytes())
    data[at:at + len(content)] = content
    return bytes(data)


def first_record():
    return struct.unpack_from("<Q", (DATA / "file.data").read_bytes(), 40)[0]


@pytest.mark.parametrize("data, message", [
    (b"PERFILE2", "the file ends in its header"),
    (b"2ELIFREP" + bytes(96), "recorded on a machine of the other byte order"),
    (changed(8, struct.pack("<Q", 17)), "a header of 17 bytes"),
    (changed(16, struct.pack("<Q", 3)), "no events"),
    (changed(16, struct.pack("<Q", 2 ** 63)), "no events"),
    (changed(24, struct.pack("<Q", 2 ** 64 - 8)), "no events"),
    (changed(40, struct.pack("<Q", 2 ** 64 - 8)), "the file ends in its header"),
    (changed(first_record() + 6, struct.pack("<H", 4)), f"offset {first_record()}: a record of 4 bytes"),
    (b"PERFILE2" + struct.pack("<Q", 16) + make_perf_data.record(make_perf_data.SAMPLE, bytes(64)), "records before the first event"),
    (b"PERFILE2" + struct.pack("<Q", 16) + make_perf_data.record(make_perf_data.COMPRESSED, b"no zstd data at all"), "offset 16: "),
])
def test_damage_is_explained(sparkflame, tmp_path, data, message):
    path = tmp_path / "damaged.data"
    path.write_bytes(data)
    done = sparkflame("convert", path, "-f", "folded")
    assert done.returncode == 1 and message in done.stderr.decode(), done.stderr.decode()


def test_a_file_that_is_cut_is_read_up_to_there(sparkflame, tmp_path):
    data = (DATA / "pipe.data").read_bytes()
    (tmp_path / "cut.data").write_bytes(data[:-20])
    out, said = folded(sparkflame, "cut.data", "--event", "cpu-clock")
    assert "the file is cut" in said and "first;[first];[lib.so] 2000" in out


@pytest.fixture(scope="module")
def perf(tmp_path_factory):
    """(perf, the compiled program with frame pointers)"""
    path = shutil.which("perf")
    if path is None:
        pytest.skip("no perf here")
    work = tmp_path_factory.mktemp("native") / "native_work"
    subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-pthread", "-o", work, WORK], check=True)
    return path, work


OWN_FUNCTIONS = re.compile(r"main|spin|burn_(fifty|thirty|twenty)|work_(until|as_child)|run_(thread|threads|children|generated)")


# Functions of libraries and of the kernel have several names, of which perf and this reader may choose different ones:
# _exit, _Exit; __GI___wait4, wait4. So those of the program are compared, and the number of all others.
def own_stacks(text):
    counts = {}
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [frame if OWN_FUNCTIONS.fullmatch(frame) else "other" for frame in stack.split(";")]
        counts[tuple(frames)] = counts.get(tuple(frames), 0) + float(count)
    return counts


def test_copied_stacks_are_those_of_perf_script(sparkflame, perf, tmp_path):
    """perf walks them by libdw or libunwind. At least 98 % of the stacks are the same, name by name."""
    path, _ = perf
    work = tmp_path / "native_work"
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-pthread", "-o", work, WORK], check=True)
    done = subprocess.run([path, "record", "-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf,16384", "-o", "perf.data",
                           str(work), "threads", "400"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"perf does not work here: {done.stderr.decode()}")
    text = subprocess.run([path, "script", "-i", "perf.data"], cwd=tmp_path, capture_output=True, check=True).stdout
    (tmp_path / "script.txt").write_bytes(text)
    ours, theirs = (own_stacks(folded(sparkflame, name, "--event", "cpu-clock")[0]) for name in ("perf.data", "script.txt"))
    total = sum(theirs.values())
    same = sum(min(count, theirs.get(stack, 0)) for stack, count in ours.items())
    print(f"{same / total:.1%} of {total:.0f} ns in equal stacks")
    assert same >= 0.98 * total, (ours, theirs)


@pytest.mark.parametrize("kind, mode, options", [
    ("file", "threads", ["-g"]), ("compressed", "children", ["-g", "-z"]), ("pipe", "children", ["-g"]),
    ("two events", "children", ["-g", "-e", "context-switches"]), ("no stacks", "threads", [])])
def test_names_and_counts_are_those_of_perf_script(sparkflame, perf, tmp_path, kind, mode, options):
    path, work = perf
    output = "-" if kind == "pipe" else "perf.data"
    done = subprocess.run([path, "record", "-q", "-e", "cpu-clock", "-F", "499", *options, "-o", output, str(work), mode, "300"],
                          cwd=tmp_path, capture_output=True, check=False)
    if done.returncode != 0 or (kind == "compressed" and b"compression" in done.stderr):
        pytest.skip(f"perf does not work here: {done.stderr.decode()}")
    if kind == "pipe":
        (tmp_path / "perf.data").write_bytes(done.stdout)
    text = subprocess.run([path, "script", "-i", "perf.data"], cwd=tmp_path, capture_output=True, check=True).stdout
    (tmp_path / "script.txt").write_bytes(text)
    for event in ("cpu-clock", "context-switches") if kind == "two events" else ("cpu-clock",):
        ours, said = folded(sparkflame, "perf.data", "--event", event)
        theirs, _ = folded(sparkflame, "script.txt", "--event", event)
        assert own_stacks(ours) == own_stacks(theirs), said
        assert event != "cpu-clock" or "work_until" in ours or kind == "no stacks", ours
