"""What the collector acknowledged survives: kills at any moment, torn files, lost and damaged indexes."""

import os
import random
import shutil
import sqlite3
import threading

import pytest

from collector import Collector, Senders, check_store, folded, wait_until

KILLS = int(os.environ.get("SPARKFLAME_KILLS", "12"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def rows(folder):
    """The whole index of a collector that is stopped."""
    connection = sqlite3.connect(folder / "index.sqlite")
    try:
        return connection.execute("SELECT * FROM recordings ORDER BY number").fetchall()
    finally:
        connection.close()


def store_some(binary, folder, count=20):
    """Bodies by their sequence, in a collector that was stopped."""
    bodies = {number: folded(number, 500) for number in range(count)}
    with Collector(binary, folder) as collector:
        for number, body in bodies.items():
            assert collector.post(body, sequence=str(number), label=f"number={number}")[0] == 201
        assert collector.stop() == 0
    return bodies


def damage_page(index):
    """The first page behind the schema's."""
    data = bytearray(index.read_bytes())
    data[4096:8192] = b"\xa5" * 4096
    index.write_bytes(data)


def last_segment(folder):
    return max((folder / "segments").iterdir())


def test_kill_under_load(binary, folder):
    senders = Senders()
    chance = random.Random(19)
    for _ in range(KILLS):
        with Collector(binary, folder) as collector:
            stop = threading.Event()
            threads = senders.run_until(collector, stop)
            # At any moment of the work, not at its ends; nothing is asserted about how long it takes.
            stop.wait(chance.uniform(0.02, 0.4))
            collector.process.kill()
            stop.set()
            for thread in threads:
                thread.join()
    assert senders.acknowledged and senders.refused.empty()
    with Collector(binary, folder) as collector:
        senders.check(collector)
        assert collector.stop() == 0
    live = rows(folder)
    for path in folder.glob("index.sqlite*"):
        path.unlink()
    status, text = check_store(binary, folder)
    assert status == 0 and "replaced" in text, text
    assert rows(folder) == live
    assert "the index agrees" in check_store(binary, folder)[1]


def test_stop_under_load(binary, folder):
    senders = Senders()
    with Collector(binary, folder) as collector:
        stop = threading.Event()
        threads = senders.run_until(collector, stop)
        stop.wait(0.5)
        assert collector.stop() == 0
        stop.set()
        for thread in threads:
            thread.join()
    with Collector(binary, folder) as collector:
        senders.check(collector)
        assert collector.stop() == 0
    assert "the index agrees" in check_store(binary, folder)[1]


@pytest.mark.parametrize("damage", ["missing", "text", "cut", "page", "rows"])
def test_an_index_is_made_anew_at_the_start(binary, folder, damage):
    bodies = store_some(binary, folder)
    live = rows(folder)
    index = folder / "index.sqlite"
    if damage == "missing":
        index.unlink()
    elif damage == "text":
        index.write_bytes(b"this is no index" * 1000)
    elif damage == "cut":
        index.write_bytes(index.read_bytes()[:5000])
    elif damage == "page":
        damage_page(index)
    else:
        connection = sqlite3.connect(index)
        connection.execute("DELETE FROM recordings WHERE number > 12")
        connection.commit()
        connection.close()
    with Collector(binary, folder) as collector:
        found = {item["sequence"]: collector.body_of(item["recording"]) for item in collector.recordings()}
        assert found == bodies
        assert collector.stop() == 0
    assert rows(folder) == live


def test_the_check_replaces_an_index_with_a_damaged_page(binary, folder):
    store_some(binary, folder)
    live = rows(folder)
    damage_page(folder / "index.sqlite")
    status, text = check_store(binary, folder)
    assert status == 0 and "replaced" in text, text
    assert rows(folder) == live
    assert "the index agrees" in check_store(binary, folder)[1]


def test_numbers_are_not_given_again(binary, folder):
    store_some(binary, folder, 3)
    for path in (folder / "segments").iterdir():
        path.unlink()
    with Collector(binary, folder) as collector:
        assert collector.recordings() == []
        assert collector.post(folded(9))[1]["recording"] == 4
        assert collector.stop() == 0


def test_what_is_no_segment_is_left_alone(binary, folder):
    store_some(binary, folder, 1)
    other = folder / "segments" / "0000000009.segment"
    other.symlink_to("nothing")
    with Collector(binary, folder) as collector:
        wait_until(lambda: any("0000000009.segment is left alone" in line for line in collector.lines))
        assert len(collector.recordings()) == 1
        assert collector.stop() == 0
    assert other.is_symlink()


def test_a_torn_record_costs_only_itself(binary, folder, tmp_path):
    """As after a power failure: the last record ends anywhere. What was before it stays, and the collector goes on."""
    bodies = store_some(binary, folder, 4)
    size = last_segment(folder).stat().st_size
    start = rows(folder)[-1][10]
    for cut in (start + 1, start + 39, start + 41, size - 500, size - 1):
        copy = tmp_path / f"cut{cut}"
        shutil.copytree(folder, copy)
        os.truncate(last_segment(copy), cut)
        with Collector(binary, copy) as collector:
            assert [item["sequence"] for item in collector.recordings()] == [0, 1, 2], cut
            assert collector.post(bodies[3], sequence="3")[0] == 201
            assert collector.stop() == 0
        status, text = check_store(binary, copy)
        assert status == 0 and "the index agrees" in text and "1 segments end inside" in text, text


def test_damage_is_found_and_the_rest_stays(binary, folder):
    bodies = store_some(binary, folder, 6)
    segment = last_segment(folder)
    data = bytearray(segment.read_bytes())
    place = rows(folder)[2][10] + 120
    data[place] ^= 1
    segment.write_bytes(data)
    status, text = check_store(binary, folder)
    assert status == 1 and "1 places in segments are damaged" in text and "1 recordings of the index" in text, text
    with Collector(binary, folder) as collector:
        found = {item["sequence"]: collector.body_of(item["recording"]) for item in collector.recordings()}
        assert found == {number: body for number, body in bodies.items() if number != 2}
        # It may be sent again.
        assert collector.post(bodies[2], sequence="2", label="number=2")[0] == 201


def test_a_damaged_recording_is_not_handed_out(binary, folder):
    store_some(binary, folder, 3)
    data = bytearray(last_segment(folder).read_bytes())
    data[rows(folder)[1][10] + 120] ^= 1
    with Collector(binary, folder) as collector:
        last_segment(folder).write_bytes(data)
        assert [collector.request("GET", f"/v1/recordings/{number}")[0] for number in (1, 2, 3)] == [200, 500, 200]


def test_a_body_cannot_pass_for_a_record(binary, folder):
    """A record inside of a body stays part of that body, even when what is before it is damaged."""
    store_some(binary, folder, 2)
    inner = last_segment(folder).read_bytes()[rows(folder)[0][10]:]
    other = folder.parent / "other"
    with Collector(binary, other) as collector:
        assert collector.post(b"main;work 1\n" + b"# " + inner.hex().encode() + b"\n")[0] == 201
        body = b"main;a 1\n" + inner
        status, _ = collector.post(body, sequence="1")
        assert collector.stop() == 0
    data = bytearray(last_segment(other).read_bytes())
    data[rows(other)[-1][10]] ^= 1
    last_segment(other).write_bytes(data)
    check_store(binary, other)
    assert len(rows(other)) == (1 if status == 201 else 0)


def test_a_segment_that_is_gone(binary, folder):
    store_some(binary, folder, 3)
    with Collector(binary, folder) as collector:
        collector.post(folded(9), sequence="9")
        assert collector.stop() == 0
    min((folder / "segments").iterdir()).unlink()
    with Collector(binary, folder) as collector:
        assert [item["sequence"] for item in collector.recordings()] == [9]
        assert collector.stop() == 0
    assert check_store(binary, folder)[0] == 0
