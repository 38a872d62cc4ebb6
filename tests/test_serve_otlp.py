"""The collector as OpenTelemetry's agents and collectors meet it: profiles by OTLP over HTTP, with the messages of opentelemetry-proto."""

import gzip
import http.client

import pytest
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import ExportProfilesServiceResponse

import otlp_message
from collector import Collector, add_token, folded
from test_serve import collector, folder  # noqa: F401  two fixtures

PATH = "/v1development/profiles"
PROTOBUF = "application/x-protobuf"


def export(running, message, token=None, **headers):
    """(status, headers, bytes) of a request."""
    connection = running.connect()
    allowed = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("POST", PATH, message, {"Content-Type": PROTOBUF, **allowed, **headers})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def status_message(body):
    """The text of a google.rpc.Status, whose only field is the second."""
    assert body[0] == 2 << 3 | 2
    size, at = body[1] & 0x7f, 2
    if body[1] & 0x80:
        size, at = size | body[2] << 7, 3
    assert len(body) == at + size
    return body[at:].decode()


def test_one_service_is_stored_as_it_came(collector, sparkflame, tmp_path):  # noqa: F811
    plain = otlp_message.service_message().bytes()
    packed = gzip.compress(plain)
    status, headers, body = export(collector, plain)
    assert (status, headers["Content-Type"]) == (200, PROTOBUF)
    assert ExportProfilesServiceResponse.FromString(body) == ExportProfilesServiceResponse()
    assert export(collector, packed, **{"Content-Encoding": "gzip"})[0] == 200
    found = collector.recordings("default")
    assert [(item["application"], item["executor"], item["format"]) for item in found] == [("shop", "node-1", "otlp")] * 2
    assert found[0]["labels"] == {"service.version": "1.2", "host.name": "node-1", "process.pid": "17", "events": "cpu,offcpu"}
    assert [collector.body_of(item["recording"]) for item in found] == [plain, packed]
    (tmp_path / "received.otlp").write_bytes(packed)
    text = sparkflame("convert", tmp_path / "received.otlp", "-e", "cpu", "-f", "folded").stdout
    assert b"demo/Job.main;demo/Job.fill;demo/Row.hash 30000000\n" in text
    status, body = collector.request("GET", "/v1/profile?group=default&application=shop&event=cpu&format=folded")
    assert status == 200 and b"demo/Job.main;libc.so.6+0x1f0 40000000\n" in body


def test_what_is_sent_again_is_known(collector):  # noqa: F811
    for message in (otlp_message.service_message(), otlp_message.host_message(3)):
        for _ in range(2):
            assert export(collector, message.bytes())[0] == 200
    assert len(collector.recordings("default")) == 4


def test_each_process_of_a_host_is_a_recording(collector):  # noqa: F811
    assert export(collector, gzip.compress(otlp_message.host_message(20).bytes()), **{"Content-Encoding": "gzip"})[0] == 200
    found = collector.recordings("default")
    assert sorted(item["application"] for item in found) == sorted(f"program{number}" for number in range(1, 21))
    assert {item["executor"] for item in found} == {"node-1"}
    assert found[0]["labels"]["ratio"] == "0.5" and "tags" not in found[0]["labels"]
    body = gzip.decompress(collector.body_of(found[4]["recording"]))
    assert b"work5_1" in body and b"work6_1" not in body
    # Each is a message of its own that others can read.
    part = otlp_message.service.ExportProfilesServiceRequest.FromString(body)
    profile = part.resource_profiles[0].scope_profiles[0].profiles[0]
    assert [part.dictionary.string_table[index] for index in (profile.sample_type.type_strindex, profile.sample_type.unit_strindex)] == ["cpu", "ns"]
    stack = part.dictionary.stack_table[profile.samples[0].stack_index]
    functions = [part.dictionary.function_table[part.dictionary.location_table[index].lines[0].function_index] for index in stack.location_indices]
    assert [part.dictionary.string_table[function.name_strindex] for function in functions] == ["work5_0", "main"]
    status, text = collector.request("GET", "/v1/profile?group=default&format=folded&by=application")
    assert status == 200
    assert {line.split(b";")[0] for line in text.splitlines()} == {b"program%d" % number for number in range(1, 21)}


@pytest.mark.parametrize("attributes, application, executor", [
    ({"service__name": "my shop", "k8s__pod__name": "p-1", "host__name": "h"}, "my_shop", "p-1"),
    ({"host__name": "h", "service__instance__id": "i/7"}, "unknown_service", "i_7"),
    ({"process__executable__name": "java", "process__pid": 7}, "java", "7"),
    ({"service__name": "..", "cloud__region": "eu"}, "_.", "0")])
def test_names(collector, attributes, application, executor):  # noqa: F811
    assert export(collector, otlp_message.service_message(**attributes).bytes())[0] == 200
    item, = collector.recordings("default")
    assert (item["application"], item["executor"]) == (application, executor)


def test_what_is_no_profile_is_refused_as_a_whole(collector):  # noqa: F811
    good = otlp_message.service_message().bytes()
    broken = otlp_message.host_message(3)
    broken.request.resource_profiles[2].scope_profiles[0].profiles[0].samples[0].stack_index = 1000
    many = otlp_message.Message()
    for _ in range(1025):
        many.resource()
    for body, headers, expected in [
            (good, {"Content-Type": "application/json"}, 415), (good, {"Content-Type": "text/plain"}, 415), (good, {"Content-Encoding": "br"}, 415),
            (good[:-1], {}, 400), (folded(1), {}, 400), (bytes(range(256)), {}, 400), (broken.bytes(), {}, 400), (many.bytes(), {}, 400),
            (b"\x1f\x8b\x08nothing", {"Content-Encoding": "gzip"}, 422), (gzip.compress(bytes(64 << 20)), {"Content-Encoding": "gzip"}, 413)]:
        status, answer, text = export(collector, body, **headers)
        assert (status, answer["Content-Type"]) == (expected, PROTOBUF), (text, headers)
        assert status_message(text)
    assert collector.request("GET", PATH)[0] == 405
    assert export(collector, b"")[0] == 200
    assert collector.get("/v1/groups") == {"groups": []}


def test_the_token_and_the_tenant_choose_the_group(binary, folder):  # noqa: F811
    message = otlp_message.service_message().bytes()
    writes, reads, every = add_token(binary, folder, "write:etl"), add_token(binary, folder, "read:etl"), add_token(binary, folder, "read,write:*")
    with Collector(binary, folder) as running:
        assert export(running, message)[0] == 401
        assert export(running, message, token=reads)[0] == 403
        assert export(running, message, token=writes)[0] == 200
        assert export(running, message, token=writes, **{"X-Scope-OrgID": "other"})[0] == 403
        assert export(running, message, token=every, **{"X-Scope-OrgID": "other"})[0] == 200
        groups = {item["group"]: item["recordings"] for item in running.get("/v1/groups", token=every)["groups"]}
    assert groups == {"etl": 1, "other": 1}


def test_a_full_disk_is_a_status_after_which_senders_try_again(binary, folder):  # noqa: F811
    with Collector(binary, folder, "--min-free-mib", 1 << 30) as running:
        status, headers, body = export(running, otlp_message.service_message().bytes())
        assert (status, headers["Retry-After"]) == (503, "60") and status_message(body)


def test_random_damage_is_answered(collector):  # noqa: F811
    """Every byte of a message wrong, once; the server goes on."""
    good = otlp_message.host_message(2).bytes()
    connection = collector.connect()
    for at in range(0, len(good)):
        body = good[:at] + bytes([good[at] ^ 0xff]) + good[at + 1:]
        try:
            connection.request("POST", PATH, body, {"Content-Type": PROTOBUF})
            answer = connection.getresponse()
            assert answer.status in (200, 400, 413), (at, answer.status)
            answer.read()
        except http.client.HTTPException as error:
            raise AssertionError(f"byte {at}: {error}") from error
    connection.close()
