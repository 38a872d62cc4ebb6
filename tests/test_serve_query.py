"""Profiles that the collector makes of stored recordings: which samples, for whom, within which limits."""

import json
import os
import threading
import urllib.parse

import pytest

from collector import Collector, add_token, check_store, folded, wait_until
from test_serve import collector, folder  # noqa: F401  two fixtures


def get(running, what, token=None, **parameters):
    """(status, bytes) of GET /v1/WHAT."""
    query = urllib.parse.urlencode({"group": "etl", **parameters}, doseq=True)
    return running.request("GET", f"/v1/{what}?{query}", token=token)


def counts(running, what="profile", token=None, **parameters):
    """{stack: count} of a query, with two counts of a difference."""
    status, body = get(running, what, token, format="folded", **parameters)
    assert status == 200, body
    lines = [line.split(" ") for line in body.decode().splitlines()]
    return {line[0]: tuple(map(int, line[1:])) if len(line) > 2 else int(line[1]) for line in lines}


def error(running, what="profile", token=None, **parameters):
    """(status, text) of a query that fails."""
    status, body = get(running, what, token, **parameters)
    return status, json.loads(body)["error"]


@pytest.fixture
def filled(collector):  # noqa: F811
    """Two executors of app-1, one of app-2 with another release, and another group with an application of the same name."""
    for number, (text, more) in enumerate([
            ("main;join 10\nmain;sort 5\n", {"label": "release=1.1"}),
            ("main;join 1\nmain;scan 7\n", {"label": "release=1.1", "executor": "2"}),
            ("main;join 20\nmain;new 2\n", {"label": ["release=1.2", "env=a b"], "application": "app-2"}),
            ("secret;work 3\n", {"group": "web"})]):
        assert collector.post(text.encode(), sequence=str(number), **more)[0] == 201
    return collector


def test_recordings_are_summed_up(filled):
    assert counts(filled, application="app-1") == {"main;join": 11, "main;sort": 5, "main;scan": 7}
    assert counts(filled)["main;join"] == 31
    assert counts(filled, application="app-1", executor="2") == {"main;join": 1, "main;scan": 7}
    assert counts(filled, label="release=1.2") == {"main;join": 20, "main;new": 2}
    assert counts(filled, label="release=1.2,1.1")["main;join"] == 31
    assert counts(filled, label=["release=1.2", "env=a b"]) == {"main;join": 20, "main;new": 2}
    assert counts(filled, include="sort|scan") == {"main;sort": 5, "main;scan": 7}
    lines = get(filled, "profile", format="folded", by="release")[1].decode().splitlines()
    assert sorted(lines) == ["release 1.1;main;join 11", "release 1.1;main;scan 7", "release 1.1;main;sort 5",
                             "release 1.2;main;join 20", "release 1.2;main;new 2"]
    assert counts(filled, reverse="1", application="app-2") == {"join;main": 20, "new;main": 2}


def test_ranges_of_time_select_recordings(filled):
    received = [item["received_ms"] for item in filled.recordings()]
    assert counts(filled, **{"from": str(received[0]), "to": str(received[-1] + 1)})["main;join"] == 31
    assert error(filled, **{"to": str(received[0])}) == (404, "no recordings match")
    assert error(filled, **{"from": str(received[-1] + 1)}) == (404, "no recordings match")
    assert error(filled, **{"from": str(2**63 - 1)})[0] == 404
    # A difference of two ranges.
    assert counts(filled, "difference", application="app-1", against_to=str(received[-1] + 1))["main;join"] == (11, 11)


def test_each_format(filled, sparkflame, tmp_path):
    for name, content_type in [("html", "text/html"), ("svg", "image/svg+xml"), ("folded", "text/plain"), ("json", "application/json"),
                               ("speedscope", "application/json"), ("pprof", "application/octet-stream"), ("csv", "text/csv")]:
        connection = filled.connect()
        connection.request("GET", f"/v1/profile?group=etl&application=app-1&format={name}")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == 200, body
        assert answer.headers["Content-Type"].startswith(content_type)
        assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts")
        if name == "json":
            assert json.loads(body)["profiles"]
        if name == "pprof":
            (tmp_path / "p.pb.gz").write_bytes(body)
            assert b"main;sort 5\n" in sparkflame("convert", tmp_path / "p.pb.gz", "-f", "folded").stdout
    assert error(filled, format="exe")[0] == 400
    assert error(filled, format="")[0] == 400


def test_differences(filled):
    found = counts(filled, "difference", application="app-2", against_application="app-1")
    assert found == {"main;join": (11, 20), "main;sort": (5, 0), "main;scan": (7, 0), "main;new": (0, 2)}
    status, page = get(filled, "difference", application="app-2", against_application="app-1")
    assert status == 200 and page.startswith(b"<!doctype html>")
    assert error(filled, "difference", application="app-2", against_application="app-7")[0] == 422
    assert error(filled, "difference", application="app-7", against_application="app-1")[0] == 404


def test_a_group_is_seen_by_its_tokens_only(binary, folder):  # noqa: F811
    reads = add_token(binary, folder, "read:etl")
    writes = add_token(binary, folder, "write:*")
    with Collector(binary, folder) as running:
        running.post(b"main;join 10\n", token=writes)
        running.post(b"secret;work 3\n", token=writes, group="web")
        for what in ("profile", "difference"):
            more = {"format": "folded", **({"against_application": "app-1"} if what == "difference" else {})}
            assert get(running, what, **more)[0] == 401
            assert get(running, what, token=writes, **more)[0] == 403
            assert get(running, what, token=reads, **{**more, "group": "web"})[0] == 403
            assert get(running, what, token=reads, **{**more, "group": "none"})[0] == 403
            assert get(running, what, token=reads, **{**more, "group": ["web", "etl"]})[0] == 403
            status, body = get(running, what, token=reads, **{**more, "group": ["etl", "web"]})
            assert status == 200 and b"secret" not in body
            status, body = get(running, what, token=reads, **more)
            assert status == 200 and b"secret" not in body


@pytest.mark.parametrize("name, value", [
    ("application", "../../etc"), ("application", "a b"), ("attempt", "'"), ("executor", "-"*200), ("from", "-1"), ("to", "x"),
    ("reverse", "2"), ("label", "nolabel"), ("include", "("), ("min_share", "101"), ("min_share", "x"), ("event", b"a\0b"),
])
def test_bad_parameters_are_refused(filled, name, value):
    assert error(filled, **{name: value})[0] == 400


def test_parameters_are_no_options(filled, tmp_path):
    """Neither a value nor another parameter reaches a file."""
    target = tmp_path / "written"
    for name in ("title", "by", "event", "label", "include", "thread"):
        get(filled, "profile", **{name: f"x --output={target}"})
        get(filled, "profile", **{name: f"--output={target}"})
    get(filled, "profile", output=str(target), nameattr="/etc/passwd", data="/")
    assert not target.exists()
    # Names from outside are escaped, also in the title.
    page = get(filled, "profile", title="</title><script>alert(1)</script>")[1]
    assert b"<script>alert(1)" not in page


def test_what_cannot_be_read_is_left_out(filled, data):
    whole = (data / "pprof").glob("*")
    body = max(whole, key=lambda path: path.stat().st_size).read_bytes()
    status, answer = filled.post(body[:len(body) // 2] if body[:2] != b"\x1f\x8b" else b"\n\xff" + b"x" * 40, sequence="9")
    assert status in (201, 415, 422), answer
    assert counts(filled, application="app-1")["main;join"] == 11


def test_limits_of_a_query(binary, folder):  # noqa: F811
    with Collector(binary, folder, "--max-answer-mib", "1", "--max-query-mib", "64") as running:
        running.post(folded(1, 3 << 20))
        assert error(running, format="folded") == (422, "the answer is too large")
        running.post(b"main;small 1\n", application="small")
        assert counts(running, application="small") == {"main;small": 1}
    with Collector(binary, folder, "--max-query-mib", "16", "--query-timeout", "90", "--max-queries", "1") as running:
        status, text = error(running, format="folded")
        assert status == 422 and "memory" in text
        assert counts(running, application="small") == {"main;small": 1}


def test_queries_are_counted(filled):
    assert counts(filled)
    assert error(filled, include="(")[0] == 400
    assert error(filled, include="nothing")[0] == 422
    text = filled.request("GET", "/metrics")[1].decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert {name: values[f'sparkflame_collector_queries_total{{outcome="{name}"}}'] for name in ("good", "misused", "failed", "late")} == {
        "good": "1", "misused": "1", "failed": "1", "late": "0"}
    assert (values["sparkflame_collector_queries_waiting"], values["sparkflame_collector_queries_running"]) == ("0", "0")


def test_too_many_queries_are_refused(binary, folder):  # noqa: F811
    """Those that neither run nor fit into the queue; all others are answered."""
    with Collector(binary, folder, "--max-queries", "1") as running:
        running.post(b"main;join 10\n")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(get(running, "profile", format="folded"))) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {status for status, _ in answers} <= {200, 503} and (200, b"main;join 10\n") in answers


def test_senders_go_on_while_queries_run(filled):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(get(filled, "profile", format="folded")[0])) for _ in range(12)]
    for thread in threads:
        thread.start()
    for number in range(30):
        assert filled.post(folded(number), sequence=str(100 + number))[0] == 201
    for thread in threads:
        thread.join()
    assert set(answers) == {200}


def test_stopping_ends_queries(filled, binary, folder):  # noqa: F811
    """Whatever a query is at, the collector ends in order."""
    answers = []

    def ask():
        try:
            answers.append(get(filled, "profile")[0])
        except OSError:
            answers.append(None)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert filled.stop() == 0
    for thread in threads:
        thread.join()
    assert set(answers) <= {200, 503, None}
    assert check_store(binary, folder)[0] == 0


def test_the_command_reads_a_store(filled, sparkflame, folder, tmp_path):  # noqa: F811
    """With and without a collector that runs."""
    page = tmp_path / "etl.html"
    for _ in range(2):
        done = sparkflame("query", "--data", folder, "-g", "etl", "--application", "app-1", "-f", "folded", "--received-from", "-1h")
        assert done.returncode == 0, done.stderr
        assert set(done.stdout.decode().splitlines()) == {"main;join 11", "main;sort 5", "main;scan 7"}
        assert sparkflame("query", "--data", folder, "-g", "etl", "-o", page).returncode == 0
        assert page.stat().st_size > 0
        if filled.process is not None:
            assert filled.stop() == 0
    assert sparkflame("query", "--data", folder, "-g", "other").returncode == 1
    assert sparkflame("query", "--data", tmp_path / "none", "-g", "etl").returncode == 1
    for wrong in (["--data", folder], ["-g", "etl"], ["--data", folder, "-g", "../x"], ["--data", folder, "-g", "etl", "file"],
                  ["--data", folder, "-g", "etl", "--received-from", "yesterday"], ["--data", folder, "-g", "etl", "--stitch"]):
        assert sparkflame("query", *wrong).returncode == 2, wrong


OPTIONS = [
    ["--attempt", "2"], ["--received-to", "1000ms"], ["--against-application", "app-2"], ["--against-attempt", "2"],
    ["--against-from", "1000ms"], ["--against-to", "2100-01-01T00:00:00Z"], ["--against-application", "app-2", "--normalize"],
    ["--event", "alloc"], ["--from", "7us"], ["--to", "1us"], ["--thread", "main"], ["--state", "sleeping"], ["--executor", "9"],
    ["--job", "1"], ["--stage", "3"], ["--task", "17"], ["--label", "stage=5"], ["--include", "Lambda"], ["--exclude", "Work"],
    ["--only-frames", "Work"], ["--drop-frames", "Work"], ["--drop-frames", "WORK", "--ignore-case"], ["--base", "run"],
    ["--min-share", "99"], ["--by", "thread"], ["--reverse"], ["--merge-recursion"], ["--names", "readable"], ["--lines"], ["--kinds"],
    ["--dot"], ["--simple"], ["--norm"], ["--event", "alloc", "--weight", "count"],
]


def test_each_option_of_the_command_does_something(collector, sparkflame, folder, data):  # noqa: F811
    stacks = "org/example/Work.run;org/example/Work$$Lambda$17/0x00007f1234.call 3\norg/example/Work.run;org/example/Work.run 2\n"
    collector.post((data / "jfr" / "spans.jfr").read_bytes(), application="app-1")
    collector.post(stacks.encode(), application="stacks")
    collector.post(stacks.replace("Work", "Rest").encode(), application="app-2", attempt="2")

    def query(application, *more):
        done = sparkflame("query", "--data", folder, "-g", "etl", "--application", application, "-f", "folded", *more)
        return done.stdout, done.stderr

    applications = ("app-1", "stacks")
    plain = [query(application) for application in applications]
    assert all(stdout for stdout, _ in plain), plain
    assert not [words for words in OPTIONS if [query(application, *words) for application in applications] == plain]
    for words in (["--threads", "1"], ["--title", "A title"], ["--bare-names"]):
        assert [query(application, *words) for application in applications] == plain, words
    assert query("app-1", "--quiet") == (plain[0][0], b"")
    graphs = [sparkflame("query", "--data", folder, "-g", "etl", "-f", "flamebearer", "--max-nodes", number).stdout for number in ("0", "2")]
    lines = sparkflame("query", "--data", folder, "-g", "etl", "--over-time", "1000000000", "--split-by", "service_name,executor").stdout.decode().splitlines()
    assert lines and all(len(line.split("\t")) == 4 for line in lines) and {line.split("\t")[2] for line in lines} >= set(applications)
    assert b'"other"' in graphs[1] and len(graphs[1]) < len(graphs[0])
