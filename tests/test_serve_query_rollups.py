"""Sums that the collector makes in advance: a query gives the same with them and without, whatever happened to them."""

import os
import random
import shutil
import struct
import subprocess
import threading
import time
import urllib.parse
import zlib

import pytest

from collector import Collector, Senders, add_token, check_store, folded, wait_until
from make_pprof_samples import Profile
from stored_segments import SegmentWriter

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
KILLS = 6


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def pprof(stacks):
    """A recording of [(frames, count, labels)]."""
    profile = Profile()
    kinds = profile.value_type("samples", "count")
    names = sorted({name for frames, _, _ in stacks for name in frames})
    for number, name in enumerate(names, 1):
        profile.function(number, name)
        profile.location(number, [(number, 7 * number)])
    for frames, count, labels in stacks:
        profile.sample([names.index(name) + 1 for name in reversed(frames)], [count], labels)
    strings = b"".join(b"\x32" + bytes([len(text.encode())]) + text.encode() for text in profile.strings)
    return b"\x0a" + bytes([len(kinds)]) + kinds + profile.body + strings


def one_recording(chance):
    stage = chance.choice(["1.0", "2.0"])
    return pprof([(["main", "join", f"f{chance.randrange(9)}"], chance.randrange(1, 9),
                   [("stage", stage), ("thread", f"t{chance.randrange(50)}"), ("color", chance.choice(["red", "blue"]))]),
                  (["main", "sort"], 3, [("stage", stage), ("executor", "own")])])


def fill(folder, hours=26, step_ms=5 * MINUTE_MS, end_ms=None):
    """Recordings of two applications in the hours before now; their times of receipt."""
    writer, chance = SegmentWriter(folder), random.Random(7)
    end_ms = end_ms or int(time.time() * 1000)
    times = list(range(end_ms - hours * HOUR_MS, end_ms, step_ms))
    for number, received_ms in enumerate(times):
        writer.add(one_recording(chance), received_ms, application=f"app-{number % 2}", executor=str(number % 3), kind="pprof",
                   labels=[f"release=1.{number % 2}", "events=cpu"])
    return times


def rollups(folder):
    return sorted((folder / "rollups").glob("*.rollup"))


@pytest.fixture(scope="module")
def two_days(binary, tmp_path_factory):
    """A store with roll-ups of 5 minutes, hours and a day."""
    folder = tmp_path_factory.mktemp("days") / "data"
    times = fill(folder, hours=49)
    status, text = check_store(binary, folder)
    assert status == 0 and "new" in text, text
    # At least 47 whole hours and one whole day; a day is one roll-up of hours.
    assert 48 <= len(rollups(folder)) <= 51
    return folder, times


def query(binary, folder, *options):
    done = subprocess.run([str(binary), "query", "--data", str(folder), "-g", "etl", "-q", *map(str, options)], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, done.stderr


QUERIES = {
    "folded": ["-f", "folded"],
    "picture": ["-f", "svg"],
    "table": ["-f", "csv"],
    "flamebearer": ["-f", "flamebearer", "--max-nodes", "5"],
    "page": ["-f", "html"],
    "summary_pprof": ["-f", "pprof", "--summary"],
    "summary_speedscope": ["-f", "speedscope", "--summary"],
    "application": ["-f", "folded", "--application", "app-1"],
    "applications": ["-f", "folded", "--application", "app-1,app-0"],
    "no_application": ["-f", "folded", "--application", "app-7"],
    "stage": ["-f", "folded", "--stage", "2.0"],
    "by_stage": ["-f", "folded", "--by", "application,stage"],
    "by_release": ["-f", "folded", "--by", "release"],
    "release": ["-f", "folded", "--label", "release=1.1"],
    "thread": ["-f", "folded", "--thread", "t7"],
    "executor": ["-f", "folded", "--executor", "1"],
    "by_executor": ["-f", "folded", "--by", "executor"],
    "color": ["-f", "folded", "--label", "color=red"],
    "by_color": ["-f", "folded", "--by", "color"],
    "include": ["-f", "folded", "--include", "f3|sort"],
    "lines": ["-f", "folded", "--lines"],
    "full_page": ["-f", "html", "--full"],
    "difference": ["-f", "folded", "--application", "app-1", "--against-application", "app-0"],
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_result_is_that_of_the_recordings(binary, two_days, name):
    folder = two_days[0]
    with_them = query(binary, folder, *QUERIES[name])
    assert with_them == query(binary, folder, "--recordings-only", *QUERIES[name])
    assert with_them[0] == (1 if name == "no_application" else 0)


@pytest.mark.parametrize("begin, end", [(0, 1), (3, 290), (100, 300), (287, 577), (12, 36), (250, 250)])
def test_ranges_of_time_are_exact(binary, two_days, begin, end):
    """Of any recording to any other, in the middle of an hour or not."""
    folder, times = two_days
    times = [*times, times[-1] + 1]
    options = ["-f", "folded", "--received-from", f"{times[begin]}ms", "--received-to", f"{times[end]}ms"]
    status, text, _ = query(binary, folder, *options)
    assert (status, text) == query(binary, folder, "--recordings-only", *options)[:2]
    total = sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines() if b";sort" in line)
    assert total == 3 * (end - begin)


def test_they_are_read(binary, two_days, tmp_path):
    """Without most of the recordings the result is there, so it does not come from them."""
    copy = tmp_path / "copy"
    shutil.copytree(two_days[0], copy)
    expected = query(binary, copy, "-f", "folded", "--received-from", f"{two_days[1][0]}ms", "--by", "application,stage")
    segment = next((copy / "segments").iterdir())
    content = segment.read_bytes()
    segment.write_bytes(content[:168] + bytes(len(content) - 168))
    status, text, _ = query(binary, copy, "-f", "folded", "--by", "application,stage")
    total = sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines())
    assert status == 0 and total > 0.9 * sum(int(line.rsplit(b" ", 1)[1]) for line in expected[1].splitlines())


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "folder"])
def test_what_is_damaged_is_not_used(binary, two_days, tmp_path, damage):
    copy = tmp_path / "copy"
    shutil.copytree(two_days[0], copy)
    expected = query(binary, copy, "-f", "folded", "--recordings-only")
    chance = random.Random(3)
    for path in rollups(copy)[::2]:
        content = bytearray(path.read_bytes())
        if damage == "flip":
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.unlink()
        if damage == "folder":
            path.mkdir()
        elif damage != "gone":
            path.write_bytes(content[:len(content) // 2] if damage == "cut" else b"" if damage == "empty" else content)
    assert query(binary, copy, "-f", "folded") == expected
    if damage == "folder":
        return
    status, text = check_store(binary, copy)
    assert status == 0 and "were removed" in text and "the index agrees" in text, text
    assert query(binary, copy, "-f", "folded") == expected
    assert "removed" not in check_store(binary, copy)[1]


def test_they_are_found_again_without_the_index(binary, two_days, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(two_days[0], copy)
    before = {path.name: path.read_bytes() for path in rollups(copy)}
    expected = query(binary, copy, "-f", "folded")
    for path in copy.glob("index.sqlite*"):
        path.unlink()
    with Collector(binary, copy, "--keep-days", "0", "--keep-mib", "0") as collector:
        wait_until(lambda: any("roll-ups" in line for line in collector.lines))
        assert collector.stop() == 0
    after = {path.name: path.read_bytes() for path in rollups(copy)}
    assert {name: after.get(name) for name in before} == before
    assert query(binary, copy, "-f", "folded") == expected


def test_those_of_other_recordings_are_not_used(binary, two_days, tmp_path):
    """Of a store whose index is lost and whose numbers are given again."""
    other = tmp_path / "other"
    fill(other, hours=3)
    shutil.copytree(two_days[0] / "rollups", other / "rollups")
    assert check_store(binary, other)[0] == 0
    assert query(binary, other, "-f", "folded") == query(binary, other, "-f", "folded", "--recordings-only")


def with_first_section(content, change):
    """A roll-up whose first section is changed and has the right checksum."""
    begin = struct.unpack_from("<Q", content, len(content) - 24)[0]
    offset, size = struct.unpack_from("<QQ", content, begin)
    content[offset:offset + size] = change(content[offset:offset + size])
    struct.pack_into("<I", content, begin + 40, zlib.crc32(content[offset:offset + size]))
    return sealed(content, begin)


def sealed(content, begin):
    end = len(content) - 216
    struct.pack_into("<I", content, len(content) - 12, zlib.crc32(content[begin:end]))
    struct.pack_into("<I", content, len(content) - 4, zlib.crc32(content[end:-4]))
    return content


@pytest.mark.parametrize("which", ["all", "some"])
def test_sections_that_cannot_be_decoded(binary, two_days, tmp_path, which):
    """Their checksum is right: queries and larger roll-ups read the recordings."""
    copy, out = tmp_path / "copy", tmp_path / "out"
    shutil.copytree(two_days[0], copy)
    for path in rollups(copy)[::1 if which == "all" else 3]:
        path.write_bytes(with_first_section(bytearray(path.read_bytes()), lambda section: bytes(len(section))))
    for options in (["-f", "folded"], ["-f", "folded", "--by", "application"], ["-f", "folded", "--by", "release"]):
        expected = query(binary, copy, "--recordings-only", *options)
        assert expected[0] == 0 and query(binary, copy, *options) == expected
    assert query(binary, copy, "--roll-up", f"3:1-{len(two_days[1])}", "-o", out)[0] == 0


def test_those_of_another_version_are_made_again(binary, two_days, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(two_days[0], copy)
    expected, made = query(binary, copy, "-f", "folded"), len(rollups(copy))
    for path in rollups(copy):
        content = bytearray(path.read_bytes())
        assert content[-216:-208] == b"SPKSUM11"
        content[-209] = ord("0")
        path.write_bytes(sealed(content, struct.unpack_from("<Q", content, len(content) - 24)[0]))
    assert query(binary, copy, "-f", "folded") == expected
    with Collector(binary, copy, "--keep-days", "0", "--keep-mib", "0") as collector:
        wait_until(lambda: len(rollups(copy)) >= made)
        assert collector.stop() == 0
    assert all(path.read_bytes()[-216:-208] == b"SPKSUM11" for path in rollups(copy))
    assert query(binary, copy, "-f", "folded") == expected


def test_those_of_another_group_are_not_used(binary, folder, tmp_path):
    """Nor those of another range: a number that was given twice. Neither queries nor larger roll-ups take them."""
    begin = int(time.time() * 1000) // HOUR_MS * HOUR_MS - 2 * HOUR_MS
    writer, last = SegmentWriter(folder), {}
    for group in ("etl", "other"):
        for place in range(16):
            last[group] = writer.add(f"main;{group}{place} 1\n".encode(), begin + (place // 8) * 10 * MINUTE_MS, group=group)
        begin += 40 * MINUTE_MS
    assert check_store(binary, folder)[0] == 0
    expected = query(binary, folder, "-f", "folded", "--recordings-only")
    contents = [path.read_bytes() for path in rollups(folder)]
    assert len(contents) >= 4
    for path, content in zip(rollups(folder), contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert query(binary, folder, "-f", "folded") == expected
    out = tmp_path / "out"
    status, _, said = query(binary, folder, "--roll-up", f"2:{last['etl'] - 15}-{last['etl']}", "-o", out)
    assert status == 0, said
    assert out.read_bytes()[-216:][8:12] == b"etl\0"
    for path in rollups(folder):
        path.write_bytes(out.read_bytes())
    assert query(binary, folder, "-f", "folded") == expected


def test_an_orphan_writes_none(binary, two_days, tmp_path):
    out = tmp_path / "out"
    for parent, expected in ((1, 1), (os.getpid(), 0)):
        status, _, said = query(binary, two_days[0], "--roll-up", "0:1-4", "-o", out, "--parent", parent)
        assert status == expected and out.exists() == (expected == 0), said


def test_times_that_go_back_end(binary, folder):
    """The 512 recordings that are summed up at a time are not followed by later ones: they are not summed up again and again."""
    writer, begin = SegmentWriter(folder), int(time.time() * 1000) // HOUR_MS * HOUR_MS - 5 * HOUR_MS
    for received_ms, count in ((begin + 2 * HOUR_MS, 512), (begin, 511), (begin + 10 * MINUTE_MS, 9)):
        for _ in range(count):
            writer.add(b"main;work 1\n", received_ms)
    assert check_store(binary, folder)[0] == 0
    assert 1 <= len(rollups(folder)) < 9
    for more in ([], ["--recordings-only"]):
        assert query(binary, folder, *more, "-f", "folded")[1] == b"main;work 1032\n"


def test_retention_takes_them_along(binary, folder):
    """What is deleted is in no roll-up, and what stays is counted once."""
    writer, chance = SegmentWriter(folder), random.Random(7)
    end_ms = int(time.time() * 1000)
    for number in range(10):
        writer.segments.clear()
        for step in range(12):
            writer.add(one_recording(chance), end_ms - (10 - number) * HOUR_MS + step * 5 * MINUTE_MS, kind="pprof")
    assert check_store(binary, folder)[0] == 0
    made = len(rollups(folder))
    assert made >= 9
    # A segment has about 2 kB, so that the last ones remain; the limit is in MiB, so recordings of the present fill it.
    with Collector(binary, folder, "--keep-mib", "1", "--keep-days", "0") as collector:
        for sequence in range(60):
            assert collector.post(folded(sequence, 20000), sequence=str(10000 + sequence))[0] == 201
        wait_until(lambda: any("segment 1 was deleted" in line for line in collector.lines))
        wait_until(lambda: len(rollups(folder)) < made)
        assert collector.stop() == 0
    assert check_store(binary, folder)[0] == 0
    assert query(binary, folder, "-f", "folded") == query(binary, folder, "-f", "folded", "--recordings-only")


def total(text):
    return sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines())


def test_kill_while_they_are_made(binary, folder):
    """Each acknowledged recording is counted once, whenever the collector was killed."""
    senders, chance = Senders(count=4, size=200), random.Random(19)
    fill(folder, hours=30)
    for _ in range(KILLS):
        with Collector(binary, folder) as collector:
            stop, before = threading.Event(), rollups(folder)
            threads = senders.run_until(collector, stop)
            wait_until(lambda: rollups(folder) != before)  # noqa: B023  it is called here
            stop.wait(chance.uniform(0, 0.2))
            collector.process.kill()
            stop.set()
            for thread in threads:
                thread.join()
    assert senders.acknowledged and rollups(folder)
    with Collector(binary, folder) as collector:
        assert collector.stop() == 0
    by_recordings = query(binary, folder, "-f", "folded", "--recordings-only")
    assert query(binary, folder, "-f", "folded") == by_recordings
    status, text = check_store(binary, folder)
    assert status == 0 and "the index agrees" in text and "removed" not in text, text
    assert query(binary, folder, "-f", "folded") == by_recordings


def test_they_are_made_while_it_runs(binary, folder):
    """Of a minute that is not over, and those that were missing."""
    fill(folder, hours=5)
    read = add_token(binary, folder, "read,write:*")
    with Collector(binary, folder) as collector:
        for sequence in range(100):
            assert collector.post(b"main;live 2\n", token=read, sequence=str(50000 + sequence), executor=str(sequence % 9))[0] == 201
        wait_until(lambda: b"rollups_total 0\n" not in collector.request("GET", "/metrics", token=read)[1] and len(rollups(folder)) >= 5)
        for detail in ("auto", "summary", "full"):
            parameters = urllib.parse.urlencode({"group": "etl", "format": "folded", "detail": detail})
            status, text = collector.request("GET", f"/v1/profile?{parameters}", token=read)
            assert status == 200 and b"main;live 200\n" in text
        assert collector.request("GET", "/v1/profile?group=etl&detail=some", token=read)[0] == 400
        assert b"rollups_failed_total 0\n" in collector.request("GET", "/metrics", token=read)[1]
        assert collector.stop() == 0
    assert query(binary, folder, "-f", "folded") == query(binary, folder, "-f", "folded", "--recordings-only")


def test_what_cannot_be_read_is_counted(binary, folder):
    """As a query of the recordings would say it."""
    writer = SegmentWriter(folder)
    begin = int(time.time() * 1000) // HOUR_MS * HOUR_MS - 2 * HOUR_MS
    for number in range(24):
        writer.add(b"\x1f\x8bnothing" if number % 8 == 3 else b"main;work 1\n", begin + number * 100)
    assert check_store(binary, folder)[0] == 0 and rollups(folder)
    said = [subprocess.run([str(binary), "query", "--data", str(folder), "-g", "etl", *more], capture_output=True, text=True,
                           check=False) for more in ([], ["--recordings-only"])]
    assert said[0].stdout == said[1].stdout == "main;work 21\n"
    for each in said:
        assert "3 of 24 recordings were skipped" in each.stderr


@pytest.mark.parametrize("text", ["", "0:1", "9:1-2", "0:2-1", "0:0-3", "0:1-99999999999999999999", "x:1-2", "0:1-2x"])
def test_bad_ranges_are_refused(binary, two_days, tmp_path, text):
    status, _, said = query(binary, two_days[0], "--roll-up", text, "-o", tmp_path / "out")
    assert status == 2 and b"LEVEL:FIRST-LAST" in said
    assert not (tmp_path / "out").exists()


def test_more_names_of_labels_than_fit(binary, folder):
    """A profile has 64; those that the query names are among them."""
    writer = SegmentWriter(folder)
    for number in range(6):
        labels = [f"name{number}_{place}=v{number}" for place in range(16)]
        writer.add(b"main;work 1\n", int(time.time() * 1000) - 5000, labels=labels, executor=str(number))
    assert check_store(binary, folder)[0] == 0
    for more in ([], ["--recordings-only"]):
        for options in (["-f", "folded"], ["-f", "pprof"], ["-f", "html"], ["-f", "html", "--full"]):
            status, _, said = query(binary, folder, *more, *options)
            assert status == 0, said
        assert query(binary, folder, *more, "-f", "folded")[1] == b"main;work 6\n"
        assert query(binary, folder, *more, "-f", "folded", "--label", "name5_15=v5", "--by", "name5_15")[1] == \
            b"name5_15 v5;main;work 1\n"
        assert query(binary, folder, *more, "-f", "pprof", "--label", "name5_15=v5")[0] == 0
