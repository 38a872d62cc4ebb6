"""What the collector's web page uses: lists, reports, the description of the interface, and who may see them."""

import base64
import json
import pathlib
import re
import subprocess
import sys

import pytest

from collector import LIMIT_SECONDS, Collector, add_token, folded
from test_serve import collector, folder  # noqa: F811,F401  two fixtures

ROOT = pathlib.Path(__file__).resolve().parent.parent


def headers_of(running, path, **headers):
    """(status, headers, bytes) of a GET."""
    connection = running.connect()
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def basic(token):
    return "Basic " + base64.b64encode(f"me:{token}".encode()).decode()


def test_the_demo(binary, tmp_path):
    done = subprocess.run([sys.executable, ROOT / "tools" / "demo_console.py", binary.parent, "--once", "--port", "0", "--folder", tmp_path / "demo"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d+ applications: open http://127\.0\.0\.1:\d+/", done.stdout)


# ---- lists ----

def test_series_and_labels(collector):  # noqa: F811
    for number in range(4):
        collector.post(folded(number), sequence=str(number), label=[f"release=1.{number % 2}", "env=é <b>"], executor=str(number))
    collector.post(folded(9), group="web", label="secret=x")
    received = [item["received_ms"] for item in collector.recordings()]
    series = collector.get("/v1/series?group=etl")
    assert sum(step["recordings"] for step in series["series"]) == 4
    assert series["from_ms"] == received[0] and series["to_ms"] == received[-1] + 1
    whole = collector.get(f"/v1/series?group=etl&step_ms={10**9}")["series"]
    assert [(step["recordings"], step["executors"], step["time_ms"]) for step in whole] == [(4, 4, received[0])]
    assert collector.get("/v1/series?group=etl&application=other")["series"] == []
    assert collector.get(f"/v1/series?group=etl&from={received[-1] + 1}")["series"] == []
    # All of them within a millisecond or an hour: the number of steps decides.
    assert collector.request("GET", f"/v1/series?group=etl&step_ms=1&to={2**62}")[0] == (200 if received[-1] - received[0] < 5000 else 400)
    assert collector.get("/v1/labels?group=etl")["labels"] == [
        {"name": "env", "values": ["é <b>"]}, {"name": "release", "values": ["1.0", "1.1"]}]
    assert collector.get("/v1/labels?group=etl&executor=1")["labels"][1]["values"] == ["1.1"]
    assert collector.get("/v1/labels?group=none") == {"labels": []}


@pytest.mark.parametrize("path", ["series?group=..", "series?group=etl&application=a/b", "series?group=etl&step_ms=x", "labels?group=etl&from=x",
                                  "labels", "series?group=etl&executor=%00", "labels?group=etl&limit=10001"])
def test_bad_parameters_of_lists(collector, path):  # noqa: F811
    status, body = collector.request("GET", f"/v1/{path}")
    assert status == 400, body


# ---- reports ----

def test_the_report_of_an_application(collector, data, folder, sparkflame, tmp_path):  # noqa: F811
    events = (data / "event_log" / "single").read_bytes()
    application = re.search(rb'"App ID":"([^"]+)"', events)[1].decode()
    half = events.index(b"\n", len(events) // 2) + 1
    for sequence, part in enumerate([events[:half], events[half:]], 1):
        assert collector.post(part, application=application, executor="eventlog", sequence=str(sequence))[0] == 201
    for executor in ("driver", "7"):
        recording = next((data / "report").iterdir()).read_bytes()
        assert collector.post(recording, application=application, executor=executor, sequence="1")[0] == 201
    assert {item["format"] for item in collector.recordings()} == {"event_log", "jfr"}
    assert collector.get("/v1/applications?group=etl")["applications"][0]["executors"] == 2
    path = f"/v1/report?group=etl&application={application}"
    report = collector.get(f"{path}&format=json")
    assert report["application"]["id"] == application and report["stages"]
    direct = sparkflame("report", "-f", "json", data / "event_log" / "single").stdout
    assert len(json.loads(direct)["tasks"]) == len(report["tasks"])
    status, headers, page = headers_of(collector, path)
    assert status == 200 and page.startswith(b"<!doctype html>") and b'id="profile"' in page
    assert headers["Content-Security-Policy"].startswith("sandbox")
    # Event logs are no profiles.
    assert collector.request("GET", f"/v1/profile?group=etl&application={application}&format=folded")[0] == 200
    # Nothing of it stays, and the same files can be had without a server.
    assert not list(folder.glob("query-*"))
    assert sparkflame("query", "--data", folder, "-g", "etl", "--application", application, "--export", tmp_path / "files").returncode == 0
    assert {str(found.relative_to(tmp_path / "files" / application)) for found in (tmp_path / "files").rglob("*") if found.is_file()} == {
        "events/events_1_part", "events/events_2_part", "driver/000001.jfr", "exec-7/000001.jfr"}
    done = sparkflame("query", "--data", folder, "-g", "etl", "--export", tmp_path / "more", "--max-export-mib", "0")
    assert done.returncode == 0, done.stderr


def test_reports_that_cannot_be_made(collector, folder):  # noqa: F811
    collector.post(b"main;work 1\n", application="plain")
    assert collector.request("GET", "/v1/report?group=etl")[0] == 400
    assert collector.request("GET", "/v1/report?group=etl&application=none")[0] == 404
    assert collector.request("GET", "/v1/report?group=etl&application=..%2f..")[0] == 400
    assert collector.request("GET", "/v1/report?group=etl&application=plain&format=exe")[0] == 400
    assert collector.request("GET", "/v1/report?group=etl&application=plain&attempt=")[0] == 200
    assert not list(folder.glob("query-*"))


def test_folders_that_a_crash_left_are_removed(binary, folder):  # noqa: F811
    (folder / "query-17" / "app").mkdir(parents=True)
    (folder / "query-17" / "app" / "file").write_text("x")
    with Collector(binary, folder):
        assert not list(folder.glob("query-*"))


# ---- the page and who sees it ----

def test_the_page_needs_a_token_too(binary, folder):  # noqa: F811
    token = add_token(binary, folder, "read:etl")
    writer = add_token(binary, folder, "write:etl")
    with Collector(binary, folder) as running:
        status, headers, body = headers_of(running, "/", Accept="text/html,*/*")
        assert (status, body) == (401, b'{"error":"a token is needed"}\n')
        assert headers.get_all("WWW-Authenticate") == ["Bearer", 'Basic realm="sparkflame"']
        assert headers_of(running, "/v1/groups")[1].get_all("WWW-Authenticate") == ["Bearer"]
        for path in ("/", "/api", "/v1/groups", "/v1/labels?group=etl", "/v1/series?group=etl"):
            assert headers_of(running, path)[0] == 401, path
            assert headers_of(running, path, Authorization=basic(token))[0] == 200, path
            assert headers_of(running, path, Authorization=basic(writer))[0] == 403, path
            assert headers_of(running, path, Authorization=basic(token + "0"))[0] == 401, path
        for path in ("/v1/labels?group=web", "/v1/series?group=web", "/v1/report?group=web&application=a"):
            assert headers_of(running, path, Authorization=basic(token))[0] == 403, path
        for wrong in ("Basic", "Basic ", "Basic =", "Basic !!!!", "Basic " + "QUJD" * 400, "Basic bWU=", "Digest x"):
            assert headers_of(running, "/", Authorization=wrong)[0] == 401, wrong


def test_pages_of_other_sites_get_nothing(binary, folder):  # noqa: F811
    """A browser sends the password that its user once entered with any request to this host."""
    token = add_token(binary, folder, "read,write:etl")
    with Collector(binary, folder) as running:
        known = {"Authorization": basic(token)}
        fetch = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert headers_of(running, "/v1/groups", **known, **fetch)[0] == 401
        assert headers_of(running, "/", **known, **link)[0] == 200
        assert headers_of(running, "/", **known, **{**link, "Sec-Fetch-Dest": "iframe"})[0] == 401
        assert headers_of(running, "/v1/groups", **known, Origin="https://evil.example")[0] == 401
        assert headers_of(running, "/v1/groups", **known, Origin="null")[0] == 401
        path = "/v1/recordings?group=etl&application=a&executor=1&sequence=0"
        assert running.request("POST", path, folded(1), headers={**known, **link})[0] == 401
        assert running.request("POST", path, folded(1), headers={**known, "Origin": "https://evil.example"})[0] == 401
        assert running.request("POST", path, folded(1), headers={**known, "Origin": f"http://127.0.0.1:{running.port}"})[0] == 201
    with Collector(binary, folder.parent / "open") as running:
        assert headers_of(running, "/v1/groups", **fetch)[0] == 403
        assert headers_of(running, "/", **link)[0] == 200


def test_the_page_has_a_strict_policy(collector):  # noqa: F811
    status, headers, body = headers_of(collector, "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    policy = re.search(rb'Content-Security-Policy" content="([^"]+)"', body)[1].decode()
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy
    assert "unsafe" not in policy and "*" not in policy


# ---- the description of the interface ----

def described(collector):  # noqa: F811
    return collector.get("/api")


def test_every_route_is_described(collector):  # noqa: F811
    table = (ROOT / "src" / "collector" / "route_table.def").read_text()
    routes = {(method.lower(), path + ("{number}" if path == "/v1/recordings/" else ""), name)
              for method, path, name in re.findall(r'^ROUTE\("(\w+)", "([^"]+)", \w+, \w+, (\w+)\)', table, re.MULTILINE)}
    found = {(method, path, operation["operationId"].removesuffix("_2")) for path, methods in described(collector)["paths"].items()
             for method, operation in methods.items()}
    assert found == routes


def resolve(document, item):
    while "$ref" in item:
        target = document
        for part in item["$ref"][2:].split("/"):
            target = target[part]
        item = target
    return item


def fits(document, schema, value):
    """What is wrong with a value, by the few words of JSON Schema that the description uses."""
    schema = resolve(document, schema)
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    if not isinstance(value, kinds[schema["type"]]):
        yield f"{value!r} is no {schema['type']}"
    elif schema["type"] == "object":
        properties = schema.get("properties", {})
        yield from (f"{name} is missing" for name in schema.get("required", []) if name not in value)
        for name, part in value.items():
            if name in properties:
                yield from fits(document, properties[name], part)
            elif schema.get("additionalProperties", True) is False:
                yield f"{name} is not described"
    elif schema["type"] == "array":
        for part in value:
            yield from fits(document, schema["items"], part)
    elif schema["type"] == "string":
        if not re.search(schema.get("pattern", ""), value) or value not in schema.get("enum", [value]):
            yield f"{value!r} does not match"
    elif schema["type"] != "boolean" and value < schema.get("minimum", value):
        yield f"{value} is too small"


def test_answers_are_as_described(collector):  # noqa: F811
    document = described(collector)
    collector.post(folded(1), label="a=b", attempt="2")
    paths = {"/v1/recordings/{number}": "/v1/recordings/1", "/v1/report": "/v1/report?group=etl&application=app-1&format=json",
             "/v1/profile": "/v1/profile?group=etl&format=json", "/v1/difference": "/v1/difference?group=etl&format=json",
             "/v1/method": "/v1/method?group=etl&method=main", "/v1/regression": "/v1/regression?group=etl&application=app-1&attempt=2"}
    for path, methods in document["paths"].items():
        if "get" not in methods:
            continue
        for query in (paths.get(path, path + "?group=etl"), path.replace("{number}", "77"), path.replace("{number}", "x")):
            status, headers, body = headers_of(collector, query)
            answer = resolve(document, methods["get"]["responses"][str(status)])
            content = answer["content"][headers["Content-Type"]]
            if headers["Content-Type"] == "application/json":
                assert not list(fits(document, content["schema"], json.loads(body))), (query, body[:300])


def test_parameters_are_the_code_s(collector):  # noqa: F811
    """Each described parameter is read by the code, and each that the code reads is described."""
    document = described(collector)
    names = {resolve(document, item)["name"] for methods in document["paths"].values() for operation in methods.values()
             for item in operation.get("parameters", [])} - {"number", "X-Scope-OrgID"}
    code = "".join(path.read_text() for path in (ROOT / "src" / "collector").glob("route*.c"))
    read = set(re.findall(r'(?:http_request_query|http_request_each_query|read_id|read_number|route_read_id|route_read_number|pass_flag)'
                          r'\((?:request, )"(\w+)"', code))
    read |= set(re.findall(r'\{"(\w+)", "--', code)) | set(re.findall(r'route_read_times\(request, "(\w+)", "(\w+)"', code)[0])
    read |= {name for pair in re.findall(r'route_read_times\(request, "(\w+)", "(\w+)"', code) for name in pair}
    assert names == read
