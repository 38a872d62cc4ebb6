"""`sparkflame merge`: the same bytes in whatever order files are given, on however many threads."""

import collections
import json
import os
import pathlib
import pty
import random
import re
import shutil
import subprocess
import tarfile

import pytest

import fleet

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITERS = re.findall(r"^WRITER\((\w+)\)", (ROOT / "src/formats/writer_table.def").read_text(), re.MULTILINE)
TABLES = re.search(r'\.tables = "([^"]+)"', (ROOT / "src/formats/parquet/write_parquet.c").read_text())[1].split()
# With the options that write it to standard output.
OUTPUTS = [(name,) for name in ["svg", "html", *WRITERS] if name != "parquet"] + [("parquet", "--table", table) for table in TABLES]
THREADS = (1, 2, 4)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    return fleet.make(tmp_path_factory.mktemp("fleet"))


def folded(data):
    counts = collections.Counter()
    for line in data.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        counts[stack] += int(count)
    return counts


def shuffled(paths, number):
    paths = list(paths)
    random.Random(number).shuffle(paths)
    return paths


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output[-1])
@pytest.mark.parametrize("options", [(), ("--stitch",), ("--resolution", "0"), ("--by", "executor,stage", "--lines")],
                         ids=lambda options: "".join(options) or "plain")
def test_the_order_and_the_threads_do_not_matter(sparkflame, recordings, data, output, options):
    files = [*recordings, data / "jfr" / "jdk17.jfr.gz", data / "pprof" / "cpu.pb", data / "folded" / "flamegraph.folded",
             data / "speedscope" / "sampled.speedscope.json"]
    outputs = set()
    for number, threads in enumerate(THREADS):
        done = sparkflame("merge", "-q", "-f", *output, "-j", threads, *options, *shuffled(files, number))
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1 and outputs.pop() != b""


def peak_kilobytes(binary, *arguments):
    """Resident memory of the command."""
    process = subprocess.Popen([binary, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


@pytest.mark.parametrize("options", [("-f", "folded"), ("-f", "pprof")], ids=lambda options: options[-1])
def test_memory_does_not_follow_samples(binary, recordings, tmp_path, options):
    """Copies have no new stacks and labels."""
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, copies in ((few, 2), (many, 60)):
        for copy in range(copies):
            shutil.copytree(recordings[0].parents[2], folder / str(copy))
    for thread_options in (("-j", 1), ("-j", 2)):
        small, large = (peak_kilobytes(binary, "merge", "-q", *options, *thread_options, folder) for folder in (few, many))
        assert large < 1.3 * small, (small, large)


def test_progress_is_shown_on_a_terminal(binary, recordings, tmp_path):
    """And wiped before anything else is printed; with --quiet there is none."""
    for options in ((), ("-q",)):
        ours, its = pty.openpty()
        done = subprocess.run([binary, "merge", *options, *recordings, tmp_path / "none.jfr", "-o", tmp_path / "out.folded"], stdin=subprocess.DEVNULL,
                              stderr=its, check=False)
        os.close(its)
        printed = os.read(ours, 1 << 16)
        os.close(ours)
        assert done.returncode == 1 and (b"MB read; file 1: " in printed) == (options == ())
        assert printed.startswith(b"\r0 MB read; file 1: ") != (options == ("-q",)) and b"none.jfr: " in printed.split(b"\x1b[K")[-1]


def parts_of(sparkflame, files, folder, options):
    """The files in three partial sums, two of which are summed up again."""
    def part(name, inputs):
        done = sparkflame("merge", "-q", "--partial", *options, *inputs, "-o", folder / name)
        assert done.returncode == 0, done.stderr
        return folder / name
    first, second, third = (part(f"{i}.part", files[i::3]) for i in range(3))
    return [part("both.part", [second, first]), third]


@pytest.mark.parametrize("output", [output for output in OUTPUTS if len(output) == 1 or output[-1] in ("samples", "frames")],
                         ids=lambda output: output[-1])
@pytest.mark.parametrize("options", [(), ("--stitch",), ("-e", "wall", "--by", "executor,stage", "--lines", "--from", "70s")],
                         ids=lambda options: "".join(options[:2]) or "plain")
def test_partial_sums_give_the_same(sparkflame, recordings, data, tmp_path, output, options):
    files = [*recordings, data / "jfr" / "jdk17.jfr.gz", data / "pprof" / "cpu.pb", data / "folded" / "flamegraph.folded",
             data / "speedscope" / "sampled.speedscope.json"]
    options = ("-f", *output, *options)
    if "--stitch" in options:  # recordings of one executor belong together
        files = [*(path.parent for path in recordings[::3]), *files[len(recordings):]]
    whole = sparkflame("merge", "-q", *options, *files)
    assert whole.returncode == 0, whole.stderr
    merged = sparkflame("merge", "-q", *options, *parts_of(sparkflame, files, tmp_path, options))
    assert merged.returncode == 0, merged.stderr
    assert merged.stdout == whole.stdout


@pytest.mark.parametrize("options, text", [(("-f", "html", "-e", "cpu"), b"without times"), (("--stitch", "-e", "cpu"), b"without --stitch"),
                                           (("-e", "wall"), b"of event cpu only"), (("--stage", "3", "-e", "cpu"), b"without labels"),
                                           (("--lines", "-e", "cpu"), b"without lines")])
def test_partial_sums_of_other_options_are_refused(sparkflame, recordings, tmp_path, options, text):
    part = tmp_path / "cpu.part"
    assert sparkflame("merge", "-q", "--partial", "-e", "cpu", "-f", "folded", *recordings, "-o", part).returncode == 0
    done = sparkflame("merge", *options, part)
    assert done.returncode == 1 and b"cpu.part: is a partial sum " in done.stderr and text in done.stderr


def test_a_partial_sum_of_nothing(sparkflame, broken, recordings, tmp_path):
    """Of broken files only, which are listed, and of no event that is wanted."""
    done = sparkflame("merge", "--partial", broken / "1.jfr", broken / "2.jfr", "-o", tmp_path / "1.part", "-f", "folded")
    assert done.returncode == 1 and b"2 of 2 files skipped" in done.stderr
    done = sparkflame("merge", "-q", "--partial", "--skip-broken", broken / "1.jfr", "-o", tmp_path / "2.part", "-f", "folded")
    assert done.returncode == 0
    assert sparkflame("merge", "-q", tmp_path / "1.part", tmp_path / "2.part").returncode == 1
    whole = sparkflame("merge", "-q", *recordings)
    assert sparkflame("merge", "-q", tmp_path / "1.part", *recordings).stdout == whole.stdout


def archive(paths, folder, kind=tarfile.PAX_FORMAT):
    """A tar archive of files, with their paths as names."""
    with tarfile.open(folder / "files.tar", "w", format=kind) as tar:
        for path in paths:
            info = tar.gettarinfo(path)
            info.name = str(path)
            with open(path, "rb") as source:
                tar.addfile(info, source)
    return folder / "files.tar"


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("options", [(), ("--stitch",), ("-f", "pprof")], ids=lambda options: "".join(options) or "plain")
def test_an_archive_gives_the_same(sparkflame, recordings, tmp_path, kind, options):
    """Of a file, and of a pipe; names may be longer than a header has room for."""
    home = tmp_path / ("ä" * 20)
    shutil.copytree(recordings[0].parents[2], home)
    paths = sorted(home.rglob("*.jfr"), key=lambda path: (path.parent, int(path.stem)))
    whole = sparkflame("merge", "-q", *options, *paths)
    tar = archive(paths, tmp_path, kind)
    assert sparkflame("merge", "-q", "--tar", *options, tar).stdout == whole.stdout
    assert sparkflame("merge", "-q", "--tar", *options, "-", stdin=tar.read_bytes()).stdout == whole.stdout


def test_an_archive_with_broken_files(sparkflame, broken, tmp_path):
    paths = sorted(path for path in broken.rglob("*") if path.is_file())
    whole = sparkflame("merge", broken)
    done = sparkflame("merge", "--tar", archive(paths, tmp_path))
    assert done.returncode == whole.returncode == 1
    assert done.stdout == whole.stdout and done.stderr == whole.stderr


def test_an_archive_that_is_cut_short(sparkflame, recordings, tmp_path):
    tar = archive(recordings, tmp_path).read_bytes()
    done = sparkflame("merge", "-f", "pprof", "--tar", "-", stdin=tar[:len(tar) // 2])
    assert done.returncode == 1 and b"standard input: byte " in done.stderr and done.stdout == b""
    done = sparkflame("merge", "--tar", "-", stdin=b"a;b 1\n")
    assert done.returncode == 1 and b"the tar archive ends too early" in done.stderr


def test_an_archive_whose_recordings_are_out_of_order(sparkflame, recordings, tmp_path):
    """Those of one process have to follow each other to be stitched."""
    for order in ([recordings[1], recordings[0]], [recordings[0], recordings[3], recordings[1]]):
        done = sparkflame("merge", "--stitch", "--tar", archive(order, tmp_path))
        assert done.returncode == 1 and b"have to follow each other" in done.stderr
        assert sparkflame("merge", "-q", "--tar", archive(order, tmp_path)).returncode == 0


def test_a_partial_sum_is_a_profile(sparkflame, recordings, tmp_path):
    part = tmp_path / "all.part"
    assert sparkflame("merge", "-q", "--partial", "-f", "jfr", *recordings, "-o", part).returncode == 0
    for event in ("cpu", "wall", "alloc"):
        whole = sparkflame("merge", "-q", "-e", event, *recordings)
        assert folded(sparkflame("convert", "-q", "-e", event, part).stdout) == folded(whole.stdout)


def test_the_way_in_which_files_are_named_does_not_matter(sparkflame, recordings):
    team = recordings[0].parents[2]
    whole = sparkflame("merge", "-q", "--stitch", "-f", "pprof", team)
    assert whole.returncode == 0, whole.stderr
    names = [os.path.relpath(path, team) for path in recordings[::2]] + list(recordings[1::2])
    again = sparkflame("merge", "-q", "--stitch", "-f", "pprof", *names, cwd=team)
    assert again.stdout == whole.stdout


@pytest.mark.parametrize("event", ["cpu", "wall", "alloc"])
def test_the_total_is_the_sum_of_the_parts(sparkflame, recordings, event):
    parts = collections.Counter()
    for path in recordings:
        parts += folded(sparkflame("convert", "-q", "-e", event, path).stdout)
    merged = sparkflame("merge", "-q", "-e", event, *recordings)
    assert folded(merged.stdout) == parts and len(parts) > 50


@pytest.mark.parametrize("event", ["cpu", "wall"])
def test_executors_are_stitched_each_in_its_own_order(sparkflame, recordings, event):
    """Equal to what `convert` makes of the recordings of each executor, in the order of their numbers, 9 before 10."""
    parts, plain = collections.Counter(), collections.Counter()
    for home in dict.fromkeys(path.parent for path in recordings):
        own = sorted(home.iterdir(), key=lambda path: int(path.stem))
        parts += folded(sparkflame("convert", "-q", "--stitch", "-e", event, *own).stdout)
        plain += folded(sparkflame("convert", "-q", "-e", event, *own).stdout)
    merged = folded(sparkflame("merge", "-q", "--stitch", "-e", event, *shuffled(recordings, 3)).stdout)
    assert merged == parts
    assert merged != plain
    assert any(fleet.RUNNER in stack and stack.endswith(";loads (json.py)") for stack in merged)


def test_times_are_rounded_down(sparkflame, recordings, tmp_path):
    def times(*options):
        done = sparkflame("merge", "-q", "-f", "jfr", "-e", "alloc", *options, *recordings, "-o", tmp_path / "out.jfr")
        assert done.returncode == 0, done.stderr
        trace = sparkflame("convert", "-q", "-f", "chrome_trace", tmp_path / "out.jfr").stdout
        return {each["ts"] % 10_000_000 for each in json.loads(trace)["traceEvents"] if each["ph"] == "X"}
    rounded, exact = times(), times("--resolution", "0")
    assert len(rounded) < len(exact)


def test_memory_of_times_follows_steps(sparkflame, recordings):
    """The page holds each step of time once for each stack and label set, not each sample."""
    fine = sparkflame("merge", "-q", "-f", "html", "--resolution", "0", *recordings).stdout
    coarse = sparkflame("merge", "-q", "-f", "html", "--resolution", "600", *recordings).stdout
    assert len(coarse) < len(fine)


@pytest.fixture
def broken(recordings, tmp_path):
    """The recordings beside a file that is cut within its header, one of an unknown format, and an empty one."""
    folder = tmp_path / "some"
    shutil.copytree(recordings[0].parents[2], folder)
    (folder / "1.jfr").write_bytes(recordings[0].read_bytes()[:40])
    (folder / "2.jfr").write_bytes(b"\1\2\3\4" * 100)
    (folder / "3.jfr").write_bytes(b"")
    return folder


def test_broken_files_are_listed_and_left_out(sparkflame, broken, recordings):
    missing = broken / "no.jfr"
    whole = sparkflame("merge", "-q", *recordings)
    for threads in THREADS:
        done = sparkflame("merge", "-j", threads, missing, broken)
        assert done.returncode == 1
        assert done.stdout == whole.stdout
        skipped = re.findall(r"skipped: .*(\w\w\.jfr|\d\.jfr)", done.stderr.decode())
        assert skipped == ["1.jfr", "2.jfr", "3.jfr", "no.jfr"]
        assert b"4 of 22 files skipped" in done.stderr
    assert sparkflame("merge", "--skip-broken", broken).returncode == 0


def test_nothing_but_broken_files_is_a_failure(sparkflame, broken, tmp_path):
    done = sparkflame("merge", "--skip-broken", broken / "1.jfr", broken / "2.jfr", "-o", tmp_path / "out.folded")
    assert done.returncode == 1 and not (tmp_path / "out.folded").exists()
    assert sparkflame("merge", tmp_path / "none").returncode == 1
    empty = tmp_path / "empty"
    empty.mkdir()
    assert b"contains no file" in sparkflame("merge", empty).stderr


def test_a_resolution_that_is_none(sparkflame, recordings):
    for text in ("-1", "nan", "1e9"):
        assert sparkflame("merge", f"--resolution={text}", recordings[0]).returncode == 2


def test_standard_input_is_one_of_the_files(sparkflame, recordings):
    whole = sparkflame("merge", "-q", *recordings)
    done = sparkflame("merge", "-q", *recordings[1:], "-", stdin=recordings[0].read_bytes())
    assert done.stdout == whole.stdout
