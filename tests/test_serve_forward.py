"""A collector that sends what it receives on to another one, as it would to Pyroscope: /ingest and OTLP."""

import os
import socket

import pytest

from collector import Collector, add_token, folded, wait_until
from test_serve import folder  # noqa: F401  a fixture
from test_serve_regressions import receiver  # noqa: F401  a fixture

LABEL = "region.name=north {1},=2"


def test_recordings_are_forwarded_once(binary, folder, data, tmp_path):  # noqa: F811
    target = tmp_path / "target"
    token = add_token(binary, target, "write:*")
    reader = add_token(binary, target, "read:*")
    environment = {**os.environ, "SPARKFLAME_FORWARD_TOKEN": token}
    bodies = {"folded": folded(1), "pprof": (data / "pprof" / "cpu.pb").read_bytes(), "jfr": (data / "jfr" / "jdk17.jfr.gz").read_bytes()}
    otlp = (data / "otlp" / "service.otlp").read_bytes()
    with Collector(binary, folder) as running:
        running.post(folded(0), application="before")
        running.stop()
    with Collector(binary, target) as other:
        options = ["--forward", f"http://127.0.0.1:{other.port}"]
        with Collector(binary, folder, *options, env=environment) as running:
            for kind, body in bodies.items():
                assert running.post(body, application=f"app-{kind}", executor="7", label=LABEL)[0] == 201
            running.post(folded(2), application="web-1", group="web")
            assert running.post((data / "event_log" / "single").read_bytes(), application="app-log", executor="eventlog")[0] == 201
            status, _ = running.request("POST", "/v1development/profiles", otlp, headers={"Content-Type": "application/x-protobuf", "X-Scope-OrgID": "etl"})
            assert status == 200
            wait_until(lambda: len(other.recordings(token=reader)) >= 4 and other.recordings("web", token=reader))
            found = {item["application"]: item for item in other.recordings(token=reader)}
            for kind in bodies:
                item = found[f"app-{kind}"]
                assert (item["format"], item["executor"], item["labels"]["region_name"]) == (kind, "7", "north _1___2")
                theirs = other.request("GET", f"/v1/profile?group=etl&application=app-{kind}&format=folded", token=reader)
                assert theirs == running.request("GET", f"/v1/profile?group=etl&application=app-{kind}&format=folded")
            assert {item["format"] for item in found.values()} == {"folded", "pprof", "jfr", "otlp"} and "before" not in found
            count = len(other.recordings(token=reader))
            assert running.stop() == 0
        # After a restart it goes on where it was.
        with Collector(binary, folder, *options, env=environment) as running:
            running.post(folded(3), application="app-late")
            wait_until(lambda: len(other.recordings(token=reader)) > count)
            assert len(other.recordings(token=reader)) == count + 1


def test_what_the_other_server_does_not_take_yet_waits(binary, folder, tmp_path):  # noqa: F811
    # A port that nobody listens on, and nobody else gets.
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with Collector(binary, folder, "--forward", f"http://127.0.0.1:{held.getsockname()[1]}") as running:
            for number in range(20):
                assert running.post(folded(number), sequence=str(number))[0] == 201
            wait_until(lambda: any("was not taken yet" in line for line in running.lines))
            assert running.stop() == 0
    with Collector(binary, tmp_path / "target") as other, Collector(binary, folder, "--forward", f"http://127.0.0.1:{other.port}") as running:
        wait_until(lambda: len(other.recordings()) == 20)
        assert running.stop() == 0


@pytest.mark.parametrize("statuses", [(302, 308), (503, 429)])
def test_what_may_be_taken_later_is_sent_again(binary, folder, receiver, statuses):  # noqa: F811
    other = receiver(*statuses)
    with Collector(binary, folder, "--forward", other.origin) as running:
        assert running.post(folded(1))[0] == 201
        wait_until(lambda: len(other.requests) == 3)
        assert len({request[2] for request in other.requests}) == 1
        wait_until(lambda: sum("was not taken yet: status" in line for line in running.lines) == 2)
        assert running.stop() == 0
    assert (folder / "forwarded").read_text() == "1\n"


def test_a_final_status_ends_it(binary, folder, receiver):  # noqa: F811
    other = receiver(400, 404)
    with Collector(binary, folder, "--forward", other.origin) as running:
        for number in range(3):
            assert running.post(folded(number), sequence=str(number))[0] == 201
        wait_until(lambda: len(other.requests) == 3)
        assert len({request[2] for request in other.requests}) == 3
        assert running.stop() == 0


def test_one_that_is_never_taken_does_not_block_the_others(binary, folder, receiver):  # noqa: F811
    # Its answers are larger than what is read of them.
    other = receiver(text=b"x" * 100_000)
    other.refused.add(folded(0))
    with Collector(binary, folder, "--forward", other.origin, "--forward-timeout", 2) as running:
        for number in range(2):
            assert running.post(folded(number), sequence=str(number))[0] == 201
        wait_until(lambda: any("recording 1 is skipped, 1 since the start" in line for line in running.lines))
        wait_until(lambda: other.requests[-1][2] == folded(1))
        assert not any("status" in line and "status 500" not in line for line in running.lines)
        assert running.stop() == 0
    assert (folder / "forwarded").read_text() == "2\n"


def test_a_number_beyond_the_store_s(binary, folder, receiver):  # noqa: F811
    other = receiver()
    with Collector(binary, folder) as running:
        assert running.post(folded(0))[0] == 201
        assert running.stop() == 0
    (folder / "forwarded").write_text("1000\n")
    with Collector(binary, folder, "--forward", other.origin) as running:
        assert running.post(folded(1), sequence="1")[0] == 201
        wait_until(lambda: other.requests)
        assert other.requests[0][2] == folded(1)
        assert any("goes on after recording 1, the newest, not 1000" in line for line in running.lines)
        assert running.stop() == 0
    assert (folder / "forwarded").read_text() == "2\n"
