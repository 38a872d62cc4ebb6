"""The collector as its users meet it: recordings in and out, access, limits, retention."""

import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from collector import LIMIT_SECONDS, Collector, add_token, check_store, folded, tls_context, wait_until


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def collector(binary, folder):
    with Collector(binary, folder) as running:
        yield running


def raw(collector, data):
    """What the server answers to these bytes until it closes the connection."""
    with socket.create_connection(("127.0.0.1", collector.port), timeout=LIMIT_SECONDS) as link:
        answer = b""
        try:
            link.sendall(data)
            while piece := link.recv(65536):
                answer += piece
        except ConnectionError:
            pass
        return answer


# ---- recordings ----

def test_a_recording_is_stored_as_received(collector, sparkflame, folder, data):
    for sequence, path in enumerate(sorted((data / "jfr").glob("*.jfr"))[:2] + sorted((data / "pprof").iterdir())[:2]):
        body = path.read_bytes()
        status, answer = collector.post(body, sequence=str(sequence), label=["release=1.2", "env=é <b>"])
        assert (status, answer["status"]) == (201, "stored")
        assert collector.body_of(answer["recording"]) == body
    listed = collector.recordings()
    assert [item["sequence"] for item in listed] == [0, 1, 2, 3]
    assert [item["format"] for item in listed] == ["jfr", "jfr", "pprof", "pprof"]
    events = [item["labels"].pop("events") for item in listed]
    assert all(item["labels"] == {"release": "1.2", "env": "é <b>"} for item in listed)
    for item, found in zip(listed, events):
        path = folder.parent / "copy"
        path.write_bytes(collector.body_of(item["recording"]))
        for event in found.split(","):
            done = sparkflame("convert", "-q", "-e", event, "-f", "folded", path)
            assert done.returncode == 0 and done.stdout, (event, done.stderr)


def test_a_recording_that_comes_again_is_known(collector):
    body = folded(1)
    first = collector.post(body)
    assert first[0] == 201
    assert collector.post(body) == (200, {"recording": first[1]["recording"], "status": "known"})
    assert collector.post(folded(2))[0] == 409
    assert collector.post(body, label="a=b")[0] == 409
    for other in ({"group": "other"}, {"application": "app-2"}, {"attempt": "1"}, {"executor": "driver"}, {"sequence": "1"}):
        assert collector.post(folded(3), **other)[0] == 201, other
    assert len(collector.recordings()) == 5


def test_the_same_recording_at_the_same_time_is_stored_once(collector):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(collector.post(folded(1)))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in answers) == [200] * 15 + [201]
    assert len({answer["recording"] for _, answer in answers}) == 1


def test_groups_and_applications_are_listed(collector):
    for number in range(3):
        collector.post(folded(number), application=f"app-{number}", executor="driver")
        collector.post(folded(number), application=f"app-{number}", executor="1")
    collector.post(folded(9), group="web")
    groups = {item["group"]: item for item in collector.get("/v1/groups")["groups"]}
    assert (groups["etl"]["applications"], groups["etl"]["recordings"], groups["web"]["recordings"]) == (3, 6, 1)
    listed = collector.get("/v1/applications?group=etl")["applications"]
    assert sorted(item["application"] for item in listed) == ["app-0", "app-1", "app-2"]
    assert all(item["executors"] == 2 for item in listed)
    assert len(collector.get("/v1/applications?group=etl&limit=1")["applications"]) == 1
    found = collector.get("/v1/recordings?group=etl&application=app-1&executor=driver")["recordings"]
    assert [item["executor"] for item in found] == ["driver"]
    middle = found[0]["received_ms"]
    assert collector.get(f"/v1/recordings?group=etl&to={middle - 3600000}")["recordings"] == []
    assert len(collector.get(f"/v1/recordings?group=etl&from={middle - 3600000}")["recordings"]) == 6


@pytest.mark.parametrize("name,value", [
    ("group", "../../etc"), ("group", ".."), ("group", ""), ("group", "a/b"), ("group", "x" * 129), ("group", "a\0b"), ("group", None),
    ("application", "a b"), ("application", "'; DROP TABLE recordings; --"), ("executor", "<script>"), ("executor", None),
    ("attempt", "\n"), ("sequence", "-1"), ("sequence", "1e3"), ("sequence", str(2**63)), ("sequence", None),
    ("label", "nolabel"), ("label", "1a=b"), ("label", "a=" + "x" * 300), ("label", "a=b\nkind=jfr"), ("label", ["a=1", "a=2"]),
    ("label", [f"l{number}=x" for number in range(17)]), ("label", b"a=\xff"),
])
def test_bad_parameters_are_refused(collector, name, value):
    status, answer = collector.post(folded(1), **{name: value})
    assert status == 400 and answer["error"]
    assert collector.get("/v1/groups") == {"groups": []}


def test_names_from_outside_are_no_paths(collector, folder):
    """Whatever was sent: nothing is in the folder but what the collector puts there."""
    for number, name in enumerate(["a..b", "-rf", "con.", "...x", "index.sqlite", "lock"]):
        assert collector.post(folded(number), group=name, application=name, executor=name)[0] == 201
    for path in ("/v1/recordings/../groups", "/../../../etc/passwd", "/v1/recordings/..%2f..%2flock", "/v1/recordings/1%00x",
                 "/v1/recordings/-1", "/v1/recordings/99999999999999999999"):
        assert collector.request("GET", path)[0] == 404, path
    assert collector.get("/v1/recordings?group=lock&application=%27%20OR%201%3D1--")["recordings"] == []
    assert {path.name for path in folder.iterdir()} <= {"lock", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "segments", "rollups"}
    assert all(path.name[:10].isdigit() and path.suffix == ".segment" for path in (folder / "segments").iterdir())


def test_other_methods_and_paths(collector):
    assert collector.request("DELETE", "/v1/recordings?group=etl")[0] == 405
    assert collector.request("PUT", "/v1/groups", b"x")[0] == 405
    assert collector.request("GET", "/nothing")[0] == 404
    assert collector.request("GET", "/v1/recordings/1")[0] == 404


def test_metrics_count(collector):
    collector.post(folded(1))
    collector.post(folded(1))
    collector.request("GET", "/nothing")
    text = collector.request("GET", "/metrics")[1].decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values['sparkflame_collector_recordings_total{result="stored"}'] == "1"
    assert values['sparkflame_collector_recordings_total{result="known"}'] == "1"
    assert values['sparkflame_collector_answers_total{status="4xx"}'] == "1"
    assert values["sparkflame_collector_stored_recordings"] == "1"


# ---- bodies ----

def test_bodies_that_are_no_recordings(collector):
    packed = gzip.compress(folded(1, 50000))
    assert collector.post(b"")[0] == 422
    assert collector.post(packed[:-9])[0] == 422
    assert collector.post(packed[:40] + b"\xff" * 20 + packed[60:])[0] == 422
    assert collector.post(bytes(range(256)) * 40)[0] == 415
    assert collector.recordings() == []
    assert collector.post(packed)[0] == 201


def test_a_decompression_bomb_is_refused(binary, folder):
    bomb = gzip.compress(b"main;work 1\n" * (8 << 20), 9)
    assert len(bomb) < 1 << 20
    with Collector(binary, folder, "--max-unpacked-mib", 8) as collector:
        before = peak_kib(collector)
        for _ in range(5):
            assert collector.post(bomb)[0] == 413
        # AddressSanitizer keeps what was freed.
        assert b"__asan_init" in pathlib.Path(binary).read_bytes() or peak_kib(collector) - before < 64 << 10
        assert collector.recordings() == []


def peak_kib(collector):
    text = pathlib.Path(f"/proc/{collector.process.pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1])


def test_large_bodies_are_refused(binary, folder):
    with Collector(binary, folder, "--max-body-mib", 1) as collector:
        large = os.urandom(1 << 20) + b"x"
        assert b" 413 " in raw(collector, b"POST /v1/recordings?group=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        assert collector.post(iter([large[:500000], large[500000:]]), headers={"Transfer-Encoding": "chunked"})[0] == 413
        assert collector.post(folded(1, 900000))[0] == 201


def test_a_chunked_body_that_finds_no_memory_may_come_again(binary, folder):
    head = b"POST /v1/recordings?group=etl&application=a&executor=1&sequence=0 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n"
    chunked = {"Transfer-Encoding": "chunked"}
    with Collector(binary, folder, "--max-body-mib", 1, "--max-bodies-mib", 1, "--request-timeout", 600) as collector:
        body = folded(1, 500000)
        assert collector.post(iter([body]), headers=chunked)[0] == 201
        # The answer comes a moment before the bytes are released.
        wait_until(lambda: "sparkflame_collector_body_bytes 0\n" in collector.request("GET", "/metrics")[1].decode())
        with socket.create_connection(("127.0.0.1", collector.port), timeout=LIMIT_SECONDS) as link:
            link.sendall(head + b"m")
            wait_until(lambda: "sparkflame_collector_body_bytes 900000\n" in collector.request("GET", "/metrics")[1].decode())
            assert collector.post(iter([body]), headers=chunked)[0] == 503
            # What is handed out counts as well.
            assert collector.request("GET", "/v1/recordings/1")[0] == 503
        wait_until(lambda: "sparkflame_collector_body_bytes 0\n" in collector.request("GET", "/metrics")[1].decode())
        assert collector.body_of(1) == body


def test_a_partial_body_is_not_stored(binary, folder):
    head = b"POST /v1/recordings?group=etl&application=a&executor=1&sequence=0 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    with Collector(binary, folder, "--request-timeout", 5) as collector:
        with socket.create_connection(("127.0.0.1", collector.port), timeout=LIMIT_SECONDS) as link:
            link.sendall(head + b"main;work 1\n")
        wait_until(lambda: any(" 499 " in line for line in collector.lines))
        assert collector.recordings() == []
        assert collector.post(folded(1))[0] == 201


def test_huge_headers_are_refused(collector):
    answer = raw(collector, b"GET /v1/groups HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: " + b"a" * 200000 + b"\r\n\r\n")
    assert answer == b"" or answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 413"))
    answer = raw(collector, b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer == b"" or answer.startswith((b"HTTP/1.1 414", b"HTTP/1.1 431", b"HTTP/1.1 413"))
    raw(collector, b"\x16\x03\x01" + os.urandom(500) + b"\r\n\r\n")
    assert collector.get("/v1/groups") == {"groups": []}


def test_bodies_at_the_same_time_have_a_limit(binary, folder):
    head = b"POST /v1/recordings?group=etl&application=a&executor=1&sequence=0 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n"
    with Collector(binary, folder, "--max-body-mib", 1, "--max-bodies-mib", 1, "--request-timeout", 600) as collector:
        body = folded(1, 500000)
        with socket.create_connection(("127.0.0.1", collector.port), timeout=LIMIT_SECONDS) as link:
            link.sendall(head + b"m")
            wait_until(lambda: "sparkflame_collector_body_bytes 0\n" not in collector.request("GET", "/metrics")[1].decode())
            assert collector.post(body)[0] == 503
            link.sendall((b"ain;work 1\nm" * 90000)[:899999])
            assert b" 201 " in link.recv(65536)
        wait_until(lambda: collector.post(body)[0] in (200, 201))
        wait_until(lambda: "sparkflame_collector_body_bytes 0\n" in collector.request("GET", "/metrics")[1].decode())


def test_slow_clients_are_cut_off(binary, folder):
    """A byte now and then keeps no connection open, neither in the headers nor in the body, and others are served meanwhile."""
    head = b"POST /v1/recordings?group=etl&application=a&executor=1&sequence=0 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    with Collector(binary, folder, "--request-timeout", 5) as collector:
        links = [socket.create_connection(("127.0.0.1", collector.port), timeout=LIMIT_SECONDS) for _ in range(20)]
        for number, link in enumerate(links):
            link.sendall(head if number % 2 else head[:40])
        end = time.monotonic() + LIMIT_SECONDS
        sequence = 0
        while links:
            assert time.monotonic() < end, f"{len(links)} slow connections are still open"
            assert collector.post(folded(sequence), sequence=str(sequence))[0] == 201
            sequence += 1
            links = [link for link in links if drips(link)]
            time.sleep(0.1)
        assert len(collector.recordings()) == sequence
        values = collector.request("GET", "/metrics")[1].decode()
        assert int(re.search(r"^sparkflame_collector_deadlines_total (\d+)$", values, re.MULTILINE)[1]) >= 20


def drips(link):
    """Send a byte more; false when the server has closed the connection."""
    try:
        link.sendall(b"a")
        link.setblocking(False)
        return link.recv(1) != b""
    except BlockingIOError:
        link.setblocking(True)
        return True
    except OSError:
        return False


def test_one_address_cannot_take_all_connections(binary, folder):
    def is_served():
        try:
            return collector.post(folded(1))[0] in (200, 201)
        except (ConnectionError, http.client.HTTPException):
            return False
    with Collector(binary, folder, "--max-connections", 8) as collector:
        links = []
        def is_refused():
            # Anew each time, since the server closes links that send nothing.
            for link in links:
                link.close()
            links[:] = [socket.create_connection(("127.0.0.1", collector.port), timeout=LIMIT_SECONDS) for _ in range(40)]
            return not is_served()
        wait_until(is_refused)
        for link in links:
            link.close()
        wait_until(is_served)


# ---- access ----

def test_without_a_token_one_learns_nothing_but_401(binary, folder):
    token = add_token(binary, folder, "read,write:*")
    with Collector(binary, folder) as collector:
        number = collector.post(folded(1), token=token)[1]["recording"]
        answers = set()
        for wrong in (None, "x", token[:-1], token + "0", token.upper(), ""):
            for method, path in (("GET", "/v1/groups"), ("GET", "/nothing"), ("GET", f"/v1/recordings/{number}"), ("GET", "/metrics"),
                                 ("POST", "/v1/recordings?group=etl"), ("DELETE", "/"), ("POST", "/v1/recordings?group=..")):
                answers.add(collector.request(method, path, b"x" if method == "POST" else None, token=wrong))
        assert answers == {(401, b'{"error":"a token is needed"}\n')}
        assert collector.get("/v1/groups", token=token)["groups"][0]["group"] == "etl"


def test_a_token_is_for_its_group_and_scope(binary, folder):
    everything = add_token(binary, folder, "read,write:*")
    writer = add_token(binary, folder, "write:etl")
    reader = add_token(binary, folder, "read:web")
    with Collector(binary, folder) as collector:
        assert collector.post(folded(1), token=writer)[0] == 201
        foreign = collector.recordings(token=everything)[0]["recording"]
        assert collector.post(folded(1), token=writer, group="web")[0] == 403
        assert collector.post(folded(1), token=reader, group="web")[0] == 403
        own = collector.post(folded(2), token=everything, group="web")[1]["recording"]
        for path in ("/v1/groups", "/v1/recordings?group=etl", "/v1/applications?group=etl", f"/v1/recordings/{own}", "/metrics"):
            assert collector.request("GET", path, token=writer)[0] == 403, path
        assert [item["group"] for item in collector.get("/v1/groups", token=reader)["groups"]] == ["web"]
        assert collector.request("GET", f"/v1/recordings/{own}", token=reader)[0] == 200
        # As if it did not exist.
        unknown = collector.request("GET", "/v1/recordings/999", token=reader)
        assert collector.request("GET", f"/v1/recordings/{foreign}", token=reader) == unknown
        for path in ("/v1/recordings?group=etl", "/v1/applications?group=etl", "/metrics"):
            assert collector.request("GET", path, token=reader)[0] == 403, path


def test_tokens_are_hashed_and_can_be_removed_while_it_runs(binary, folder):
    kept, removed = add_token(binary, folder, "read:*"), add_token(binary, folder, "read:*")
    text = (folder / "tokens").read_text()
    assert kept[13:] not in text and removed[13:] not in text
    assert (folder / "tokens").stat().st_mode & 0o077 == 0
    with Collector(binary, folder) as collector:
        assert collector.request("GET", "/v1/groups", token=removed)[0] == 200
        subprocess.run([binary, "serve", "--data", folder, "--remove-token", removed[4:12]], check=True, timeout=LIMIT_SECONDS)
        wait_until(lambda: collector.request("GET", "/v1/groups", token=removed)[0] == 401)
        assert collector.request("GET", "/v1/groups", token=kept)[0] == 200
        new = add_token(binary, folder, "write:etl")
        wait_until(lambda: collector.post(folded(1), token=new)[0] in (200, 201))


def test_other_machines_need_tokens(sparkflame, binary, folder):
    done = sparkflame("serve", "--data", folder, "--listen", "0.0.0.0:0")
    assert done.returncode == 1 and b"needs tokens" in done.stderr
    token = add_token(binary, folder, "read:*")
    with Collector(binary, folder, listen="0.0.0.0:0") as collector:
        assert collector.request("GET", "/v1/groups")[0] == 401
        assert collector.request("GET", "/v1/groups", token=token)[0] == 200
        # Without any token it does not become open.
        (folder / "tokens").unlink()
        wait_until(lambda: collector.request("GET", "/v1/groups", token=token)[0] == 401)
        assert collector.request("GET", "/v1/groups")[0] == 401


def test_foreign_web_pages_are_refused(collector):
    host = f"127.0.0.1:{collector.port}"
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Host": f"evil.example:{collector.port}"},
                    {"Origin": "null"}, {"Host": "localhost.evil.example"}):
        assert collector.post(folded(1), headers=headers)[0] == 403, headers
        assert collector.request("GET", "/v1/groups", headers=headers)[0] == 403, headers
    assert collector.post(folded(1), headers={"Origin": f"http://{host}"})[0] == 201


def test_a_proxy_needs_a_token(collector):
    for name in ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"):
        status, answer = collector.request("GET", "/v1/groups", headers={name: "1.1 proxy"})
        assert status == 403 and b"proxy need a token" in answer, name


def test_a_server_that_had_tokens_does_not_become_open(collector, binary, folder):
    token = add_token(binary, folder, "read:*")
    wait_until(lambda: collector.request("GET", "/v1/groups")[0] == 401)
    (folder / "tokens").unlink()
    wait_until(lambda: collector.request("GET", "/v1/groups", token=token)[0] == 401)
    assert collector.request("GET", "/v1/groups")[0] == 401


def make_certificate(folder):
    """The options of a server with a certificate for localhost that it signed itself."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    return ["--certificate", certificate, "--key", key]


def test_tls(binary, folder, tmp_path):
    options = make_certificate(tmp_path)
    with Collector(binary, folder, *options, context=tls_context(options[1])) as collector:
        assert collector.post(folded(1, 200000))[0] == 201
        assert collector.recordings()[0]["sequence"] == 0
        plain = raw(collector, b"GET /v1/groups HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" not in plain and b"groups" not in plain


# ---- operation ----

def test_one_process_uses_a_folder(collector, sparkflame, folder):
    done = sparkflame("serve", "--data", folder, "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and b"in use by another process" in done.stderr
    done = sparkflame("serve", "--data", folder, "--check")
    assert done.returncode == 1 and b"in use by another process" in done.stderr
    assert collector.post(folded(1))[0] == 201


def test_nearly_full_disk(binary, folder):
    with Collector(binary, folder) as collector:
        assert collector.post(folded(1))[0] == 201
        collector.stop()
    with Collector(binary, folder, "--min-free-mib", 1 << 30) as collector:
        status, answer = collector.post(folded(2), sequence="1")
        assert status == 507 and "full" in answer["error"]
        assert collector.post(folded(1))[0] == 507
        assert len(collector.recordings()) == 1


def test_a_write_that_fails_leaves_nothing(binary, folder):
    """A limit of the size of files makes writes fail as a full disk does, in the middle of a record."""
    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
    stored, refused = {}, 0
    with Collector(binary, folder, preexec_fn=limit_files, restore_signals=False) as collector:
        for number in range(12):
            body = folded(number, 50000)
            status, answer = collector.post(body, sequence=str(number))
            assert status in (201, 503), answer
            if status == 201:
                stored[number] = body
            refused += status == 503
        assert stored and refused
        assert {item["sequence"] for item in collector.recordings()} == set(stored)
        assert collector.stop() == 0
    status, text = check_store(binary, folder)
    assert status == 0 and "the index agrees" in text, text
    with Collector(binary, folder) as collector:
        for item in collector.recordings():
            assert collector.body_of(item["recording"]) == stored.pop(item["sequence"])
        assert not stored
        assert collector.post(folded(99), sequence="99")[0] == 201


def test_old_recordings_of_a_large_group_are_deleted(binary, folder):
    with Collector(binary, folder, "--keep-mib", 1) as collector:
        assert collector.post(folded(0), group="small")[0] == 201
        for number in range(30):
            assert collector.post(folded(number, 70000), sequence=str(number))[0] == 201
        assert collector.stop() == 0
    with Collector(binary, folder, "--keep-mib", 1) as collector:
        # As many as fit into 1 MiB.
        wait_until(lambda: len(collector.recordings()) <= 14)
        left = [item["sequence"] for item in collector.recordings()]
        assert left == list(range(30 - len(left), 30)) and len(left) >= 13
        assert len(collector.recordings(group="small")) == 1
        sizes = sum(path.stat().st_size for path in (folder / "segments").iterdir())
        assert sizes < 1.2 * (1 << 20)
        assert collector.stop() == 0
    assert check_store(binary, folder)[0] == 0


def test_a_clock_that_is_wrong_deletes_nothing_at_once(binary, folder):
    with Collector(binary, folder) as collector:
        assert collector.post(folded(1))[0] == 201
        assert collector.stop() == 0
    connection = sqlite3.connect(folder / "index.sqlite")
    connection.execute("UPDATE recordings SET received_ms = 1000")
    connection.commit()
    connection.close()
    with Collector(binary, folder, "--keep-days", 1) as collector:
        # Logged behind the first look for what has expired.
        wait_until(lambda: any("stop the collector if the clock is wrong" in line for line in collector.lines))
        assert len(collector.recordings()) == 1


def test_a_backup_is_a_copy_made_while_it_runs(binary, collector, folder, tmp_path):
    for number in range(5):
        collector.post(folded(number), sequence=str(number))
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("index.sqlite*"))
    collector.post(folded(9), sequence="9")
    with Collector(binary, copy) as other:
        assert [item["sequence"] for item in other.recordings()] == [0, 1, 2, 3, 4]
        assert other.stop() == 0


def test_requests_that_fail_are_logged_with_their_id(collector):
    connection = collector.connect()
    connection.request("GET", "/nothing%0Ainjected")
    answer = connection.getresponse()
    number = answer.headers["X-Request-Id"]
    assert json.loads(answer.read())["error"] == "no such path"
    connection.close()
    wait_until(lambda: any(f"request={number} " in line for line in collector.lines))
    assert not any(line.startswith("injected") for line in collector.lines)


def test_all_requests_can_be_logged(binary, folder):
    with Collector(binary, folder, "--log-requests") as collector:
        assert collector.post(folded(1))[0] == 201
        wait_until(lambda: any(" POST /v1/recordings 201 " in line for line in collector.lines))


@pytest.mark.parametrize("arguments,word", [
    ([], "--data"), (["--data", "d", "x"], "operands"), (["--data", "d", "--listen", "4041"], "HOST:PORT"),
    (["--data", "d", "--certificate", "c"], "--key"), (["--data", "d", "--threads", "0"], "range"),
    (["--data", "d", "--keep-days", "99999999999"], "large"),
])
def test_wrong_usage(sparkflame, arguments, word):
    done = sparkflame("serve", *arguments)
    assert done.returncode == 2 and word in done.stderr.decode()


def test_what_cannot_be_served_is_said(sparkflame, tmp_path):
    assert sparkflame("serve", "--data", tmp_path / "no" / "folder").returncode == 1
    assert sparkflame("serve", "--data", tmp_path / "none", "--check").returncode == 1
    done = sparkflame("serve", "--data", tmp_path / "d", "--add-token", "write:../x")
    assert done.returncode == 1 and b"read:GROUP" in done.stderr
    assert sparkflame("serve", "--data", tmp_path / "d", "--remove-token", "12345678").returncode == 1
    for name in ("none.pem", "tokens"):
        done = sparkflame("serve", "--data", tmp_path / "d", "--certificate", tmp_path / name, "--key", tmp_path / name)
        assert done.returncode == 1 and name.encode() in done.stderr
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
    done = sparkflame("serve", "--data", tmp_path / "d", "--listen", "127.0.0.1:0", "--certificate", garbage, "--key", garbage)
    assert done.returncode == 1 and b"certificate" in done.stderr and done.stdout == b""
    (tmp_path / "d" / "tokens").write_text("not a token\n")
    done = sparkflame("serve", "--data", tmp_path / "d")
    assert done.returncode == 1 and b"line 1" in done.stderr


def test_a_group_that_sends_too_much_waits(binary, folder):
    """Settings of groups are read while the collector runs; a file that is wrong changes nothing."""
    with Collector(binary, folder) as collector:
        (folder / "groups").write_text("etl mib-per-minute=1\n")

        def sends():
            status, _ = collector.post(folded(1, 3 << 20), sequence=str(next(numbers)))
            assert status in (201, 429)
            return status == 429
        numbers = iter(range(10**6))
        wait_until(sends)
        link = collector.connect()
        link.request("POST", "/v1/recordings?group=etl&application=a&executor=1&sequence=0", folded(1))
        answer = link.getresponse()
        assert answer.status == 429 and 0 < int(answer.headers["Retry-After"]) < 10**6 and b"sends more" in answer.read()
        assert collector.post(folded(1), group="web")[0] == 201
        (folder / "groups").write_text("etl mib-per-minute=lots\n")
        wait_until(lambda: any("groups: line 1: " in line for line in collector.lines))
        assert collector.post(folded(1), sequence="7")[0] == 429
        (folder / "groups").write_text("")
        wait_until(lambda: collector.post(folded(1), application="b")[0] == 201)
    (folder / "groups").write_text("etl\netl\n")
    with pytest.raises(AssertionError, match="the group etl has two lines"), Collector(binary, folder):
        pass
