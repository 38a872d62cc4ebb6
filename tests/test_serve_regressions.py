"""Hot spots, one method, heaps, and applications compared with their earlier runs: over HTTP, and reported to a webhook."""

import contextlib
import http.server
import json
import os
import pathlib
import sqlite3
import sys
import threading
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))

from collector import Collector, add_token, folded, wait_until
from demo_console import cpu_profile
from test_serve import collector, folder  # noqa: F811,F401  two fixtures

DAY_MS = 86_400_000


def get(running, what, token=None, **parameters):
    """(status, JSON) of GET /v1/WHAT."""
    query = urllib.parse.urlencode({"group": "etl", **parameters}, doseq=True)
    status, body = running.request("GET", f"/v1/{what}?{query}", token=token)
    return status, json.loads(body)


def answer(running, what, **parameters):
    status, found = get(running, what, **parameters)
    assert status == 200, found
    return found


# ---- methods ----

@pytest.fixture
def filled(collector):  # noqa: F811
    collector.post(cpu_profile({"main;f;g": 3, "main;f": 2, "main;h": 5}), application="app-1")
    collector.post(cpu_profile({"main;f;g;f": 4, "other;g": 1}), application="app-2", executor="7")
    return collector


def test_hot_spots(filled):
    found = answer(filled, "methods")
    assert (found["event"], found["unit"], found["ns_per_unit"], found["total"], found["found"]) == ("cpu", "ns", 1, 15e9, 5)
    assert [(row["method"], row["self"] / 1e9, row["total"] / 1e9) for row in found["methods"]] == [
        ("f", 6, 9), ("h", 5, 5), ("g", 4, 8), ("main", 0, 14), ("other", 0, 1)]
    assert [row["method"] for row in answer(filled, "methods", order="total", limit=2)["methods"]] == ["main", "f"]
    assert [row["method"] for row in answer(filled, "methods", search="AI")["methods"]] == ["main"]
    assert answer(filled, "methods", application="app-1", event="cpu")["total"] == 10e9
    assert answer(filled, "methods", include="h$")["total"] == 5e9
    assert get(filled, "methods", order="size")[0] == 400
    assert get(filled, "methods", limit=1001)[0] == 400
    assert get(filled, "methods", include="(")[0] == 400
    assert get(filled, "methods", application="none")[0] == 404
    # As of profiles.
    assert get(filled, "methods", event="none")[0] == filled.request("GET", "/v1/profile?group=etl&event=none")[0] == 400


def test_callers_and_callees_across_applications(filled):
    found = answer(filled, "method", method="g")
    assert (found["self"], found["method_total"], found["outermost"]) == (4e9, 8e9, 0)
    assert [(row["method"], row["weight"] / 1e9) for row in found["callers"]] == [("f", 7), ("other", 1)]
    assert [(row["method"], row["weight"] / 1e9) for row in found["callees"]] == [("f", 4)]
    assert [(row["application"], row["self"] / 1e9, row["total"] / 1e9, row["all"] / 1e9) for row in found["applications"]] == [
        ("app-2", 1, 5, 5), ("app-1", 3, 3, 10)]
    assert get(filled, "method", method="none") == (422, {"error": "no sample has this method"})
    assert get(filled, "method")[0] == 400
    assert get(filled, "method", method="--output=/tmp/x")[0] == 422


# ---- heaps ----

def test_heaps_of_a_real_recording(collector, data):  # noqa: F811
    recording = (data / "jfr" / "async_profiler.jfr.gz").read_bytes()
    collector.post(recording, application="app-1", attempt="2", executor="7")
    collector.post(folded(1), application="app-1", attempt="2", executor="8")
    found = answer(collector, "heap")
    assert found["process_count"] == len(found["processes"]) == 1 and found["skipped"] == 0
    heap = found["processes"][0]
    assert (heap["application"], heap["attempt"], heap["executor"]) == ("app-1", "2", "7")
    assert heap["peak_bytes"] == max(point["used_bytes"] for point in heap["points"]) == 45841736
    assert sum(point["used_bytes"] for point in found["total"]) >= heap["peak_bytes"]
    classes = {row["type"]: row for row in found["types"]}
    assert classes["java.lang.String[]"]["allocated_bytes"] > 10**9
    for row in found["types"]:
        assert sum(point["allocated_bytes"] for point in row["points"]) == pytest.approx(row["allocated_bytes"])
    assert answer(collector, "heap", executor="8")["processes"] == []
    assert answer(collector, "heap", label="release=1")["processes"] == []
    assert get(collector, "heap", application="none")[0] == 404


# ---- runs ----

def age(where, application, days):
    """Recordings of an application were received so many days earlier. The collector must not run."""
    connection = sqlite3.connect(where / "index.sqlite")
    changed = connection.execute("UPDATE recordings SET received_ms = received_ms - ? WHERE application = ?", (days * DAY_MS, application)).rowcount
    connection.commit()
    connection.close()
    assert changed > 0


def send_run(running, application, stacks, name="nightly", executors=2, **more):
    for executor in range(executors):
        status, body = running.post(cpu_profile(stacks), application=application, executor=str(executor), label=[f"application_name={name}"], **more)
        assert status == 201, body


SLOW = {"main;parse": 50, "main;join": 10}
QUICK = {"main;parse": 10, "main;join": 10}


class Receiver:
    """A real HTTP server on loopback; `statuses` are those of its first answers, then 200; all have this text."""

    def __init__(self, statuses=(), text=b""):
        self.statuses = list(statuses)
        self.refused = set()  # bodies that are always answered with 500
        self.requests = []
        self.free = threading.Event()
        self.free.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.path, dict(self.headers), body))
                receiver.free.wait()
                self.send_response(500 if body in receiver.refused else receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.address = f"{self.origin}/hook?team=1"

    def close(self):
        self.free.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    made = []

    def make(*statuses, **more):
        made.append(Receiver(statuses, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_two_runs_of_a_job_a_day_apart_show_as_a_regression(binary, folder, receiver):  # noqa: F811
    hook = receiver(503, 429)
    with Collector(binary, folder, "--ended-after", 0) as running:
        send_run(running, "app-1", QUICK)
        send_run(running, "other", {"main;parse": 1}, name="another job")
        running.stop()
    age(folder, "app-1", 1)
    # Sent while nothing is compared: however long that takes, the first comparison has both recordings.
    with Collector(binary, folder, "--ended-after", 0) as running:
        send_run(running, "app-2", SLOW)
        running.stop()
    options = ["--ended-after", 1, "--webhook", hook.address]
    with Collector(binary, folder, *options, env={**os.environ, "SPARKFLAME_WEBHOOK_TOKEN": "secret"}) as running:
        wait_until(lambda: answer(running, "regressions")["regressions"])
        found = answer(running, "regressions")["regressions"]
        assert [item["run"]["application"] for item in found] == ["app-2"]
        # The same when one asks for it.
        assert answer(running, "regression", application="app-2") == found[0]
        assert (found[0]["verdict"], found[0]["name"], [run["application"] for run in found[0]["earlier"]]) == ("regression", "nightly", ["app-1"])
        assert found[0]["run"]["first_ms"] - found[0]["earlier"][0]["first_ms"] >= DAY_MS
        rows = [(row["of"], row["method"], row["now"], row["median"], row["is_regression"]) for row in found[0]["changes"]]
        assert rows == [("run", "", 120_000, 40_000, True), ("method", "parse", 100_000, 20_000, True)]
        # Reported once, after it was refused twice.
        wait_until(lambda: len(hook.requests) == 3)
        wait_until(lambda: b"sparkflame_collector_reports_total 1" in running.request("GET", "/metrics")[1])
        assert len({request[2] for request in hook.requests}) == 1
        path, headers, body = hook.requests[0]
        assert path == "/hook?team=1" and headers["Content-Type"] == "application/json" and headers["Authorization"] == "Bearer secret"
        assert json.loads(body) == found[0]
        # The first run of a job, and one like the others, are none.
        assert answer(running, "regression", application="app-1")["verdict"] == "unknown"
        # It goes on: compared again, but not reported again.
        send_run(running, "app-2", SLOW, sequence="1")
        wait_until(lambda: answer(running, "regressions")["regressions"][0]["run"]["recordings"] == 4)
        send_run(running, "app-3", {"main;parse": 48, "main;join": 10})
        wait_until(lambda: answer(running, "regressions")["checked"] >= 3)
        assert answer(running, "regression", application="app-3", days=0)["verdict"] == "none"
        assert running.stop() == 0
    # A restart reports nothing again.
    with Collector(binary, folder, *options) as running:
        assert [item["run"]["application"] for item in answer(running, "regressions")["regressions"]] == ["app-2"]
        send_run(running, "app-4", {"main;parse": 5000})
        wait_until(lambda: len(hook.requests) == 4)
        assert json.loads(hook.requests[3][2])["run"]["application"] == "app-4"


def test_what_a_webhook_does_not_take_waits_and_blocks_nothing(binary, folder, receiver):  # noqa: F811
    hook = receiver()
    hook.free.clear()
    with Collector(binary, folder, "--ended-after", 1, "--webhook", hook.address) as running:
        send_run(running, "app-1", QUICK)
        wait_until(lambda: answer(running, "regressions")["checked"] == 1)
        send_run(running, "app-2", SLOW)
        wait_until(lambda: hook.requests)
        # While the hook does not answer.
        send_run(running, "app-3", {"main;parse": 5000})
        wait_until(lambda: len(answer(running, "regressions")["regressions"]) == 2)
        running.kill()
    # After a crash it is reported again: nobody knows whether the hook has taken it.
    hook.free.set()
    hook.requests.clear()
    with Collector(binary, folder, "--ended-after", 1, "--webhook", hook.address) as running:
        wait_until(lambda: {json.loads(request[2])["run"]["application"] for request in hook.requests} == {"app-2", "app-3"})


def test_an_application_that_runs_for_days_is_compared_with_itself(binary, folder):  # noqa: F811
    with Collector(binary, folder, "--ended-after", 0) as running:
        for day in range(4):
            send_run(running, "stream", SLOW if day == 3 else QUICK, sequence=str(day))
        running.stop()
    connection = sqlite3.connect(folder / "index.sqlite")
    connection.execute("UPDATE recordings SET received_ms = received_ms - (3 - sequence) * ?", (DAY_MS,))
    connection.commit()
    connection.close()
    with Collector(binary, folder, "--ended-after", 0) as running:
        found = answer(running, "regression", application="stream")
        assert found["verdict"] == "regression" and len(found["earlier"]) == 2
        assert {run["application"] for run in found["earlier"]} == {"stream"}
        assert [run["cpu_ms"] for run in found["earlier"]] == [40_000, 40_000] and found["run"]["cpu_ms"] == 120_000
        assert answer(running, "regressions") == {"regressions": [], "checked": 0}


def test_who_may_see_it(binary, folder):  # noqa: F811
    reader, writer = add_token(binary, folder, "read:etl"), add_token(binary, folder, "write:*")
    with Collector(binary, folder, "--ended-after", 1) as running:
        for application, stacks in (("app-1", QUICK), ("app-2", SLOW)):
            send_run(running, application, stacks, group="web", token=writer)
        for what in ("methods", "method?method=x", "heap", "regression?application=app-2", "regressions"):
            path = f"/v1/{what}{'&' if '?' in what else '?'}group="
            assert running.request("GET", path + "web")[0] == 401
            assert running.request("GET", path + "web", token=reader)[0] == 403, what
            assert running.request("GET", path + "etl", token=writer)[0] == 403, what
        assert get(running, "regressions", token=reader) == (200, {"regressions": [], "checked": 0})
        assert get(running, "regression", token=reader, application="app-2")[0] == 404


@pytest.mark.parametrize("path", ["regression?group=etl", "regression?group=etl&application=..", "regression?group=etl&application=a&days=400",
                                  "regressions", "regressions?group=etl&limit=x", "method?group=etl&method=", "heap?group=etl&limit=-1"])
def test_bad_parameters(collector, path):  # noqa: F811
    status, body = collector.request("GET", f"/v1/{path}")
    assert status == 400, body


def test_the_webhook_s_address_is_checked(binary, folder):  # noqa: F811
    with contextlib.suppress(AssertionError), Collector(binary, folder, "--webhook", "ftp://x/") as running:
        raise RuntimeError(f"it started at {running.port}")


def test_the_same_without_a_server(collector, folder, sparkflame):  # noqa: F811
    for application, stacks in (("app-1", QUICK), ("app-2", SLOW)):
        send_run(collector, application, stacks)
    asked = {
        "methods?limit=3&search=a&order=total": ["query", "--methods", "3", "--search", "a", "--by-total"],
        "method?limit=3&method=parse": ["query", "--methods", "3", "--method", "parse"],
        "heap?limit=3": ["query", "--heap", "3"],
        "regression?application=app-2&days=3": ["query", "--application", "app-2", "--attempt", "", "--regression-days", "3"],
    }
    for path, arguments in asked.items():
        done = sparkflame(*arguments, "--data", folder, "--group", "etl")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == collector.get(f"/v1/{path}&group=etl"), path
    assert sparkflame("query", "--data", folder, "-g", "etl", "--regression-days", "3").returncode == 2
    assert sparkflame("query", "--data", folder, "-g", "etl", "--method", "parse").returncode == 2
