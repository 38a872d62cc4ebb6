"""The collector as Pyroscope's agents meet it: by hand, and with the agents themselves (test_pyroscope_agents.py)."""

import base64
import gzip
import urllib.parse

import pytest

from collector import Collector, add_token, folded
from test_serve import collector, folder  # noqa: F401  two fixtures


def ingest(running, name, body, path="/ingest", token=None, headers=None, **parameters):
    query = urllib.parse.urlencode({"name": name, "from": "1700000000", "until": "1700000010", **parameters})
    return running.request("POST", f"{path}?{query}", body, token=token, headers=headers)


def multipart(**parts):
    body = b"".join(b"--x\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n\r\n%s\r\n" % (name.encode(), name.encode(), content)
                    for name, content in parts.items())
    return body + b"--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}


def field(number, content):
    """One field of a protobuf message, of bytes."""
    size, length = b"", len(content)
    while length >= 0x80:
        size, length = size + bytes([length & 0x7f | 0x80]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + content


def series(labels, *profiles):
    pairs = b"".join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in labels.items())
    return field(1, pairs + b"".join(field(2, field(1, profile)) for profile in profiles))


def push(running, message, token=None, **headers):
    return running.request("POST", "/push.v1.PusherService/Push", message, token=token,
                           headers={"Content-Type": "application/proto", **headers})


@pytest.fixture
def profiles(data):
    return [path.read_bytes() for path in sorted((data / "pprof").iterdir()) if path.suffix in (".gz", ".pb")][:2]


def test_ingest_takes_folded_pprof_and_jfr(collector, data, profiles):  # noqa: F811
    jfr = sorted((data / "jfr").glob("*.jfr"))[0].read_bytes()
    assert ingest(collector, "my/app.cpu{region=eu,pod=p-1}", folded(1), format="folded") == (200, b"")
    assert ingest(collector, "py", profiles[0], path="/pyroscope/ingest", format="pprof")[0] == 200
    packed = gzip.compress(jfr)
    body, headers = multipart(jfr=packed, labels=b"\x0a\x00")
    assert ingest(collector, "java{hostname=h}", body, headers=headers, format="jfr")[0] == 200
    body, headers = multipart(sample_type_config=b"{}", profile=profiles[1])
    assert ingest(collector, "go", gzip.compress(body), headers={**headers, "Content-Encoding": "gzip"})[0] == 200
    found = collector.recordings("default")
    assert [(item["application"], item["executor"], item["format"]) for item in found] == [
        ("my_app.cpu", "p-1", "folded"), ("py", "0", "pprof"), ("java", "h", "jfr"), ("go", "0", "pprof")]
    assert found[0]["labels"] == {"region": "eu", "pod": "p-1"}
    assert [collector.body_of(item["recording"]) for item in found] == [folded(1), profiles[0], packed, profiles[1]]


def test_what_is_sent_again_is_known(collector, profiles):  # noqa: F811
    for _ in range(2):
        assert ingest(collector, "a", folded(1))[0] == 200
        assert push(collector, series({"service_name": "a"}, profiles[0], profiles[1]))[0] == 200
    assert ingest(collector, "a", folded(1), **{"from": "1700000010"})[0] == 200
    assert ingest(collector, "a{b=c}", folded(1))[0] == 200
    assert len(collector.recordings("default")) == 5


def test_push_takes_all_profiles_of_a_message(collector, profiles):  # noqa: F811
    message = series({"service_name": "one", "__name__": "process_cpu", "hostname": "h"}, *profiles) + series({"service_name": "two"}, profiles[0])
    status, body = push(collector, message)
    assert (status, body) == (200, b"")
    assert push(collector, gzip.compress(series({"service_name": "three"}, profiles[1])), **{"Content-Encoding": "gzip"})[0] == 200
    assert push(collector, b"")[0] == 200
    found = collector.recordings("default")
    assert sorted((item["application"], item["executor"]) for item in found) == [("one", "h"), ("one", "h"), ("three", "0"), ("two", "0")]
    assert {tuple(item["labels"].items()) for item in found if item["application"] == "one"} == {(("profile", "process_cpu"), ("hostname", "h"), ("events", events)) for events in ("cpu", "alloc,live")}
    assert sorted(collector.body_of(item["recording"]) for item in found) == sorted([*profiles, *profiles])


def test_what_is_no_profile_is_refused_as_a_whole(collector, profiles):  # noqa: F811
    bomb = gzip.compress(bytes(64 << 20))
    assert ingest(collector, "", folded(1))[0] == 400
    assert ingest(collector, "{a=b}", folded(1))[0] == 400
    assert ingest(collector, "a", bytes(range(256)))[0] == 415
    assert ingest(collector, "a", b"")[0] == 422
    assert ingest(collector, "a", folded(1), headers={"Content-Encoding": "br"})[0] == 415
    assert ingest(collector, "a", folded(1), headers={"Content-Type": "multipart/form-data"})[0] == 400
    body, headers = multipart(labels=b"x")
    assert ingest(collector, "a", body, headers=headers)[0] == 400
    body, headers = multipart(jfr=folded(1))
    assert ingest(collector, "a", body[:-9], headers=headers)[0] == 400
    assert push(collector, series({"service_name": "a"}, profiles[0], b"no profile"))[0] == 415
    assert push(collector, series({"a": "b"}, profiles[0]))[0] == 400
    assert push(collector, series({"service_name": "a"}, profiles[0])[:-1])[0] == 400
    assert push(collector, series({"service_name": "a"}, *[profiles[0]] * 257))[0] == 400
    assert push(collector, b"{}", **{"Content-Type": "application/json"})[0] == 415
    assert push(collector, bomb, **{"Content-Encoding": "gzip"})[0] == 413
    assert push(collector, b"\x1f\x8b\x08nothing", **{"Content-Encoding": "gzip"})[0] == 422
    assert collector.request("GET", "/ingest")[0] == 405
    assert collector.get("/v1/groups") == {"groups": []}


def test_the_token_and_the_tenant_choose_the_group(binary, folder):  # noqa: F811
    writes, every = add_token(binary, folder, "write:etl"), add_token(binary, folder, "read,write:*")
    basic = {"Authorization": "Basic " + base64.b64encode(f"me:{writes}".encode()).decode()}
    with Collector(binary, folder) as running:
        assert ingest(running, "a", folded(1))[0] == 401
        assert ingest(running, "a", folded(1), token=writes)[0] == 200
        assert ingest(running, "a", folded(2), headers=basic)[0] == 200
        assert ingest(running, "a", folded(3), headers={**basic, "Origin": "http://127.0.0.1"})[0] == 401
        assert ingest(running, "a", folded(3), token=writes, headers={"X-Scope-OrgID": "other"})[0] == 403
        assert ingest(running, "a", folded(3), token=every, headers={"X-Scope-OrgID": "other"})[0] == 200
        assert ingest(running, "a", folded(3), token=every, headers={"X-Scope-OrgID": "../x"})[0] == 400
        assert ingest(running, "a", folded(4), token=every)[0] == 200
        for wrong in ("Basic", "Basic !", "Basic " + "A" * 5000, "Basic " + base64.b64encode(b"me:wrong").decode()):
            assert ingest(running, "a", folded(5), headers={"Authorization": wrong})[0] == 401
        groups = {item["group"]: item["recordings"] for item in running.get("/v1/groups", token=every)["groups"]}
    assert groups == {"etl": 2, "other": 1, "default": 1}
