"""The collector as Grafana's data source for Pyroscope and profilecli meet it: QuerierService in the unary form of the Connect protocol."""

import gzip
import json

import pytest

import otlp_message
import pprof_message
from collector import Collector, add_token, folded
from pyroscope_message import CLASSES, stacks
from test_serve import collector, folder  # noqa: F401  two fixtures

PROTO, JSON = "application/proto", "application/json"
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
CPU_SAMPLES = "process_cpu:samples:count:cpu:nanoseconds"


def call(running, method, body=b"{}", kind=JSON, token=None, **headers):
    """(status, bytes)"""
    return running.request("POST", f"/querier.v1.QuerierService/{method}", body, token=token, headers={"Content-Type": kind, **headers})


def ask(running, method, group="etl", **fields):
    """The answer in JSON, after the one in protobuf was found to be the same message."""
    request, response = CLASSES[f"{method}Request"], CLASSES[f"{method}Response"]
    status, body = call(running, method, request(**fields).SerializeToString(), PROTO, **{"X-Scope-OrgID": group})
    assert status == 200, body
    message = response.FromString(body)
    names = {field.name: field.json_name for field in request.DESCRIPTOR.fields}
    text = json.dumps({names[name]: str(value) if name in ("start", "end", "max_nodes") else value for name, value in fields.items()})
    status, body = call(running, method, text.encode(), JSON, **{"X-Scope-OrgID": group})
    assert status == 200, body
    return message, json.loads(body)


@pytest.fixture
def stored(collector, data):  # noqa: F811
    """Recordings of three formats in the group etl, one elsewhere."""
    heap = (data / "pprof" / "heap.pb.gz").read_bytes()
    jfr = (data / "jfr" / "chunks.jfr").read_bytes()
    message = {"X-Scope-OrgID": "etl", "Content-Type": "application/x-protobuf"}
    assert collector.request("POST", "/v1development/profiles", otlp_message.service_message().bytes(), headers=message)[0] == 200
    assert collector.request("POST", "/v1development/profiles", otlp_message.host_message(3).bytes(), headers=message)[0] == 200
    collector.post(heap, application="heap", executor="driver", label=["region=eu", "team.name=a,b"])
    collector.post(jfr, application="spark", executor="1", attempt="1", label="region=us")
    collector.post(folded(1), application="plain", executor="7")
    collector.post(b'{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}\n', application="spark", executor="eventlog")
    collector.post(folded(9), group="other", application="secret", label="hidden=x")
    return collector


def test_profile_types(stored):
    message, answer = ask(stored, "ProfileTypes")
    found = [item.ID for item in message.profile_types]
    assert found == [item["ID"] for item in answer["profileTypes"]] == sorted(found)
    assert {CPU, CPU_SAMPLES, "memory:alloc_space:bytes:space:bytes", "memory:inuse_space:bytes:space:bytes", "samples:samples:count:samples:count"} <= set(found)
    for item in message.profile_types:
        assert item.ID == ":".join([item.name, item.sample_type, item.sample_unit, item.period_type, item.period_unit])
    assert ask(stored, "ProfileTypes", group="none") == (CLASSES["ProfileTypesResponse"](), {"profileTypes": []})
    assert ask(stored, "ProfileTypes", start=1, end=2)[1] == {"profileTypes": []}


def test_label_names_and_values(stored):
    names = list(ask(stored, "LabelNames")[0].names)
    assert {"service_name", "executor", "attempt", "region", "host_name", "team_name", "__profile_type__", "__name__"} <= set(names)
    assert "events" not in names and "hidden" not in names
    assert ask(stored, "LabelNames", matchers=['{service_name="plain"}'])[1] == {
        "names": ["__name__", "__period_type__", "__period_unit__", "__profile_type__", "__type__", "__unit__", "executor", "service_name"]}

    def values(name, *matchers):
        message, answer = ask(stored, "LabelValues", name=name, matchers=list(matchers))
        assert list(message.names) == answer["names"]
        return answer["names"]

    assert values("service_name") == ["heap", "plain", "program1", "program2", "program3", "shop", "spark"]
    assert values("service_name", '{service_name=~"pro.*|plain"}') == ["plain", "program1", "program2", "program3"]
    assert values("service_name", '{region!=""}') == ["heap", "spark"]
    assert values("service_name", '{region!~"e.|"}') == ["spark"]
    assert values("service_name", f'{{__profile_type__="{CPU}"}}') == ["program1", "program2", "program3", "shop"]
    assert values("host_name", "service_name='shop', executor=\"node-1\"") == ["node-1"]
    assert values("nothing") == []


def test_series(stored):
    message, answer = ask(stored, "Series", matchers=['{service_name="shop"}'], label_names=["service_name", "__profile_type__"])
    found = [{pair["name"]: pair["value"] for pair in item["labels"]} for item in answer["labelsSet"]]
    assert found == [{pair.name: pair.value for pair in item.labels} for item in message.labels_set]
    assert {item["service_name"] for item in found} == {"shop"} and CPU in {item["__profile_type__"] for item in found}
    assert len(ask(stored, "Series")[1]["labelsSet"]) > len(found)


def graph(running, profile_type, selector="{}", **more):
    message, answer = ask(running, "SelectMergeStacktraces", profile_typeID=profile_type, label_selector=selector, **more)
    if not message.HasField("flamegraph"):
        assert answer == {}
        return None
    levels = [list(level.values) for level in message.flamegraph.levels]
    assert list(message.flamegraph.names) == answer["flamegraph"]["names"]
    assert levels == [[int(value) for value in level["values"]] for level in answer["flamegraph"]["levels"]]
    found = stacks(message.flamegraph.names, levels)
    assert message.flamegraph.total == int(answer["flamegraph"]["total"]) == sum(found.values())
    assert message.flamegraph.max_self == int(answer["flamegraph"]["maxSelf"]) == max(level[at] for level in levels for at in range(2, len(level), 4))
    return found


def test_flame_graphs(stored):
    assert graph(stored, CPU, '{service_name="shop"}') == {
        ("demo/Job.main", "demo/Job.fill", "demo/Row.hash"): 30_000_000, ("demo/Job.main", "libc.so.6+0x1f0"): 20_000_000}
    assert graph(stored, CPU_SAMPLES, '{service_name="shop"}') == {
        ("demo/Job.main", "demo/Job.fill", "demo/Row.hash"): 3, ("demo/Job.main", "libc.so.6+0x1f0"): 2}
    assert sum(graph(stored, CPU, '{service_name=~"program."}').values()) == 600_000_000
    assert sum(graph(stored, CPU, '{process_pid!="2",service_name=~"program."}').values()) == 400_000_000
    assert sum(graph(stored, CPU).values()) == 650_000_000
    assert sum(graph(stored, "memory:alloc_space:bytes:space:bytes", '{region="eu"}').values()) == 4096 + 64 + 16
    assert graph(stored, "samples:samples:count:samples:count", '{service_name="plain"}') == {("main", "work1"): 1}
    assert sum(graph(stored, CPU_SAMPLES, '{service_name="spark",attempt="1"}').values()) > 0


def curves(running, profile_type, selector="{}", **more):
    """{labels: [(time, value)]}, the same in both forms."""
    message, answer = ask(running, "SelectSeries", profile_typeID=profile_type, label_selector=selector, **more)
    found = {tuple((pair.name, pair.value) for pair in series.labels): [(point.timestamp, point.value) for point in series.points] for series in message.series}
    assert found == {tuple((pair["name"], pair["value"]) for pair in series["labels"]): [(int(point["timestamp"]), point["value"]) for point in series["points"]]
                     for series in answer.get("series", [])}
    return found


def test_curves(stored):
    received = {item["application"]: item["received_ms"] for item in stored.recordings()}
    step = 1000.0
    found = curves(stored, CPU, group_by=["service_name", "nothing"], step=step)
    assert found == {(("service_name", name), ("nothing", "")): [(received[name] // 1_000_000 * 1_000_000, value)]
                     for name, value in [("program1", 2e8), ("program2", 2e8), ("program3", 2e8), ("shop", 5e7)]}
    assert [sum(value for _, value in points) for points in curves(stored, CPU, step=step).values()] == [6.5e8]
    assert [sum(value for _, value in points) for points in curves(stored, CPU_SAMPLES, '{service_name="shop"}').values()] == [5]
    by_executor = curves(stored, CPU, '{host_name="node-1",service_name!="shop"}', group_by=["executor"], step=0.001)
    assert list(by_executor) == [(("executor", "node-1"),)] and sum(value for _, value in by_executor[("executor", "node-1"),]) == 6e8
    assert curves(stored, CPU, '{service_name="none"}') == {} == curves(stored, CPU, start=1, end=2)


SAMPLES = "samples:samples:count:samples:count"


def test_curves_leave_out_what_lacks_a_label(collector):  # noqa: F811
    collector.post(b"main;a 3\n", application="a", label="region=eu")
    collector.post(b"main;b 4\n", application="b", label="region=us")
    collector.post(b"main;c 5\n", application="c")
    for selector, total in [('{region="eu"}', 3), ('{region=~"eu|us"}', 7), ("{}", 12)]:
        assert [sum(value for _, value in points) for points in curves(collector, SAMPLES, selector).values()] == [total]
        assert sum(graph(collector, SAMPLES, selector).values()) == total


def test_long_values_of_curves(collector):  # noqa: F811
    value = "v" * 240
    collector.post(b"main;a 3\n", label=f"long={value}")
    assert list(curves(collector, SAMPLES, group_by=["long"] * 60)) == [(("long", value),) * 60]


def test_others_are_excluded_also_when_their_events_are_not_listed(collector):  # noqa: F811
    collector.post(b"main;a 3\n", application="shop")
    collector.post(b"main;b 4\n", application="hidden", label="events=other")
    for selector in ('{service_name="shop"}', '{service_name=~"sh.*"}', '{service_name!="hidden"}'):
        assert sum(graph(collector, SAMPLES, selector).values()) == 3


def test_many_attributes_of_samples(collector):  # noqa: F811
    message = otlp_message.Message()
    scope = message.resource(service__name="many")
    profile = message.profile(scope, "cpu", "ns", ("cpu", "ns", 10))
    message.sample(profile, message.stack(message.location(("main", "main.c", 1))), [30], **{f"key{number}": number for number in range(80)})
    headers = {"X-Scope-OrgID": "etl", "Content-Type": "application/x-protobuf"}
    for each in (message, otlp_message.service_message()):
        assert collector.request("POST", "/v1development/profiles", each.bytes(), headers=headers)[0] == 200
    assert graph(collector, CPU, '{service_name="many"}') == {("main",): 30}


def test_what_matches_nothing_is_empty(stored):
    assert graph(stored, CPU, '{service_name="none"}') is None
    assert graph(stored, CPU, '{service_name="plain"}') is None
    assert graph(stored, CPU, start=1, end=2) is None
    assert graph(stored, CPU, group="other") is None


def test_small_boxes_become_one(collector):  # noqa: F811
    text = "".join(f"main;work{number} {number + 1}\n" for number in range(100))
    collector.post(text.encode())
    found = graph(collector, "samples:samples:count:samples:count", max_nodes=12)
    assert len(found) == 11 and sum(found.values()) == 5050
    assert found["main", "other"] == sum(range(1, 91)) and found["main", "work99"] == 100
    # Of equal ones, too.
    collector.post("".join(f"main;work{number} 1\n" for number in range(100)).encode(), application="equal")
    found = graph(collector, "samples:samples:count:samples:count", '{service_name="equal"}', max_nodes=12)
    assert len(found) == 11 and found["main", "other"] == 90


def test_pprof(stored):
    request = CLASSES["SelectMergeProfileRequest"](profile_typeID=CPU, label_selector='{service_name="shop"}')
    status, body = call(stored, "SelectMergeProfile", request.SerializeToString(), PROTO, **{"X-Scope-OrgID": "etl"})
    assert status == 200
    assert sum(values[-1] for _, _, values in pprof_message.samples(pprof_message.decode(body))) == 50_000_000
    assert call(stored, "SelectMergeProfile", b'{"profileTypeID":"%s"}' % CPU.encode(), **{"X-Scope-OrgID": "etl"})[0] == 501


def test_a_pprof_that_is_too_large(binary, folder):  # noqa: F811
    with Collector(binary, folder, "--max-answer-mib", "1") as running:
        running.post("".join(f"main;{'work' * 20}{number} 1\n" for number in range(20000)).encode())
        request = CLASSES["SelectMergeProfileRequest"](profile_typeID=SAMPLES)
        status, text = call(running, "SelectMergeProfile", request.SerializeToString(), PROTO, **{"X-Scope-OrgID": "etl"})
        assert (status, json.loads(text)["message"]) == (422, "the profile: decompresses to more than 1048576 bytes")


def test_compressed_calls(stored):
    body = gzip.compress(CLASSES["LabelValuesRequest"](name="executor").SerializeToString())
    status, answer = call(stored, "LabelValues", body, PROTO, **{"Content-Encoding": "gzip", "X-Scope-OrgID": "etl"})
    assert status == 200 and "driver" in CLASSES["LabelValuesResponse"].FromString(answer).names


@pytest.mark.parametrize("method, body, kind, headers, status, code", [
    ("ProfileTypes", b"{", JSON, {}, 400, "invalid_argument"), ("ProfileTypes", b"[]", JSON, {}, 400, "invalid_argument"),
    ("ProfileTypes", b"{} {}", JSON, {}, 400, "invalid_argument"), ("ProfileTypes", b"\x08", PROTO, {}, 400, "invalid_argument"),
    ("ProfileTypes", b"", "text/plain", {}, 415, "invalid_argument"), ("ProfileTypes", b"", PROTO, {"Content-Encoding": "br"}, 415, "invalid_argument"),
    ("ProfileTypes", gzip.compress(bytes(4 << 20), mtime=0), PROTO, {"Content-Encoding": "gzip"}, 400, "invalid_argument"),
    ("LabelNames", b'{"matchers":["{a=b}"]}', JSON, {}, 400, "invalid_argument"), ("LabelNames", b'{"matchers":["{"]}', JSON, {}, 400, "invalid_argument"),
    ("LabelNames", b'{"matchers":["{a=~\\"(b\\"}"]}', JSON, {}, 400, "invalid_argument"), ("LabelNames", b'{"matchers":[1]}', JSON, {}, 400, "invalid_argument"),
    ("SelectMergeStacktraces", b"{}", JSON, {}, 400, "invalid_argument"),
    ("SelectSeries", b'{"profileTypeID":"%s","step":"soon"}' % CPU.encode(), JSON, {}, 400, "invalid_argument"),
    ("SelectMergeStacktraces", b'{"profileTypeID":"a:b:c:d:e"}', JSON, {}, 400, "invalid_argument"),
    ("SelectMergeStacktraces", b'{"profileTypeID":"%s","format":"PROFILE_FORMAT_DOT"}' % CPU.encode(), JSON, {}, 501, "unimplemented"),
    ("SelectMergeStacktraces", b'{"profileTypeID":"%s","labelSelector":"{attempt!=\\"1\\"}"}' % CPU_SAMPLES.encode(), JSON, {}, 400, "invalid_argument"),
    ("SelectMergeStacktraces", b'{"profileTypeID":"memory:alloc_space:bytes:space:bytes","labelSelector":"{team_name=\\"a,b\\"}"}', JSON, {}, 400, "invalid_argument"),
    ("ProfileTypes", b"{}", JSON, {"X-Scope-OrgID": "../x"}, 400, "invalid_argument"), ("Nothing", b"{}", JSON, {}, 404, "not_found")])
def test_errors(stored, method, body, kind, headers, status, code):
    found, text = call(stored, method, body, kind, **{"X-Scope-OrgID": "etl", **headers})
    assert found == status, text
    assert json.loads(text).get("code") == code


def test_tokens_and_groups(binary, folder):  # noqa: F811
    reads, writes, every = add_token(binary, folder, "read:etl"), add_token(binary, folder, "write:etl"), add_token(binary, folder, "read,write:*")
    with Collector(binary, folder) as running:
        for group in ("etl", "web"):
            assert running.post(folded(1), group=group, application=f"of-{group}", token=every)[0] == 201
        request = b'{"name":"service_name"}'
        for token, headers, status, names in [(None, {}, 401, None), (writes, {}, 403, None), (reads, {}, 200, ["of-etl"]), (every, {}, 200, []),
                                              (reads, {"X-Scope-OrgID": "web"}, 403, None), (every, {"X-Scope-OrgID": "web"}, 200, ["of-web"])]:
            found, text = call(running, "LabelValues", request, token=token, **headers)
            assert (found, json.loads(text).get("names")) == (status, names)
        body = b'{"profileTypeID":"samples:samples:count:samples:count"}'
        assert call(running, "SelectMergeStacktraces", body, token=reads, **{"X-Scope-OrgID": "web"})[0] == 403
        assert b"work1" in call(running, "SelectMergeStacktraces", body, token=reads)[1]
