"""`sparkflame push`: files and folders to a collector."""

import socket
import threading

import pytest

from collector import LIMIT_SECONDS, Collector, add_token, folded, tls_context
from test_serve import collector, folder, make_certificate, wait_until  # noqa: F401  two fixtures

# A port on which nobody listens.
NOWHERE = "http://127.0.0.1:1"


def url(running):
    return f"http://127.0.0.1:{running.port}/"


@pytest.fixture
def profiles(tmp_path):
    """Recordings as the plugin writes them, of both of its layouts."""
    names = ["app-1/driver.000001.jfr", "app-1/exec-1.000001.jfr", "app-1/exec-1.000002.jfr.gz", "app-2/7/000003.jfr"]
    for number, name in enumerate(names):
        path = tmp_path / "profiles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(folded(number))
    return tmp_path / "profiles"


def test_a_folder_of_the_plugin(sparkflame, collector, profiles):  # noqa: F811
    done = sparkflame("push", "--to", url(collector), "--group", "etl", profiles)
    assert done.returncode == 0, done.stderr
    assert b"4 of 4 recordings are stored" in done.stderr
    found = {(item["application"], item["executor"], item["sequence"]): item["recording"] for item in collector.recordings()}
    assert set(found) == {("app-1", "driver", 1), ("app-1", "1", 1), ("app-1", "1", 2), ("app-2", "7", 3)}
    assert collector.body_of(found["app-1", "1", 2]) == (profiles / "app-1" / "exec-1.000002.jfr.gz").read_bytes()
    # Once more changes nothing.
    assert sparkflame("push", "--to", url(collector), "--group", "etl", "--quiet", profiles).stderr == b""
    assert len(collector.recordings()) == 4


def test_one_file_with_everything_given(sparkflame, collector, tmp_path):  # noqa: F811
    path = tmp_path / "a profile"
    path.write_bytes(folded(1))
    done = sparkflame("push", "-t", url(collector), "-g", "etl", "-a", "adhoc", "--attempt", "2", "-e", "driver", "-n", "7",
                      "-l", "release=1.2", "--label", "note=a b&c=ü%", path)
    assert done.returncode == 0, done.stderr
    item, = collector.recordings()
    assert (item["application"], item["attempt"], item["executor"], item["sequence"]) == ("adhoc", "2", "driver", 7)
    assert item["labels"] == {"release": "1.2", "note": "a b&c=ü%"}
    assert collector.body_of(item["recording"]) == path.read_bytes()


def test_a_large_recording(sparkflame, collector, tmp_path):  # noqa: F811
    """libcurl asks before it sends more than a mebibyte."""
    path = tmp_path / "large"
    path.write_bytes(folded(1, 3 << 20))
    done = sparkflame("push", "--to", url(collector), "--group", "etl", "--application", "a", "--executor", "1", path)
    assert done.returncode == 0, done.stderr


def test_what_is_refused_is_reported_and_the_rest_is_sent(sparkflame, collector, profiles):  # noqa: F811
    (profiles / "app-1" / "exec-1.000000.jfr").write_bytes(bytes(range(256)))
    (profiles / "readme").write_text("no recording")
    done = sparkflame("push", "--to", url(collector), "--group", "etl", profiles)
    assert done.returncode == 1
    text = done.stderr.decode()
    assert "exec-1.000000.jfr: status 415: the body is of no format" in text and "give --executor" in text and "4 of 6" in text
    assert len(collector.recordings()) == 4


def test_tokens(sparkflame, binary, folder, profiles, tmp_path):  # noqa: F811
    token = add_token(binary, folder, "write:etl")
    (tmp_path / "token").write_text(token + "\n")
    with Collector(binary, folder) as running:
        options = ["push", "--to", url(running), "--group", "etl", profiles / "app-2"]
        done = sparkflame(*options)
        assert done.returncode == 1 and b"status 401" in done.stderr
        assert sparkflame(*options, "--token-file", tmp_path / "token").returncode == 0
        assert sparkflame(*options, env={"SPARKFLAME_TOKEN": token}).returncode == 0
        done = sparkflame("push", "--to", url(running), "--group", "web", "--token-file", tmp_path / "token", profiles / "app-2")
        assert done.returncode == 1 and b"status 403" in done.stderr
        assert token.encode() not in done.stderr


def test_redirects_do_not_get_the_token(sparkflame, profiles):
    """A server that answers with a redirect: nothing follows it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        seen = []

        def answer():
            link, _ = server.accept()
            with link:
                seen.append(link.recv(65536))
                link.sendall(f"HTTP/1.1 307 Temporary\r\nLocation: http://127.0.0.1:{server.getsockname()[1]}/x\r\n"
                             "Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        done = sparkflame("push", "--to", f"http://127.0.0.1:{server.getsockname()[1]}", "--group", "etl", profiles / "app-2",
                          env={"SPARKFLAME_TOKEN": "secret"})
        thread.join(LIMIT_SECONDS)
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert done.returncode == 1 and b"status 307" in done.stderr
    assert b"Bearer secret" in seen[0]


def test_a_collector_that_comes_late_is_waited_for(sparkflame, binary, folder, profiles):  # noqa: F811
    """A full collector asks to come later; then there is room."""
    with Collector(binary, folder, "--max-body-mib", 1, "--max-bodies-mib", 1) as running:
        head = b"POST /v1/recordings?group=etl&application=a&executor=1&sequence=0 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n"
        with socket.create_connection(("127.0.0.1", running.port), timeout=LIMIT_SECONDS) as link:
            link.sendall(head + b"m")
            wait_until(lambda: running.post(folded(1, 500))[0] == 503)
            results = []
            thread = threading.Thread(target=lambda: results.append(
                sparkflame("push", "--to", url(running), "--group", "late", profiles / "app-2")))
            thread.start()
            wait_until(lambda: sum(" 503 " in line for line in running.lines) >= 2)
            link.sendall(b"x" * 1048575)
            link.recv(65536)
        thread.join(LIMIT_SECONDS)
        assert results[0].returncode == 0 and b"status 503" in results[0].stderr, results[0].stderr
        assert len(running.recordings(group="late")) == 1


def test_tls_is_verified(sparkflame, binary, folder, profiles, tmp_path):  # noqa: F811
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    options, other = make_certificate(tmp_path / "own"), make_certificate(tmp_path / "other")
    with Collector(binary, folder, *options, context=tls_context(options[1])) as running:
        push = ["push", "--group", "etl", profiles / "app-2", "--to", f"https://localhost:{running.port}", "--cacert"]
        done = sparkflame(*push, options[1])
        assert done.returncode == 0, done.stderr
        # What nobody vouches for gets nothing, not at the first attempt nor later.
        done = sparkflame(*push, other[1])
        assert done.returncode == 1 and b"certificate" in done.stderr, done.stderr
        assert len(running.recordings()) == 1


@pytest.mark.parametrize("arguments,status,word", [
    ([], 2, "no file"), (["x"], 2, "--to and --group"), (["x", "--to", NOWHERE, "--group", "g"], 1, "No such file"),
    (["/", "--to", NOWHERE, "--group", "g", "--sequence", "1", "x"], 2, "one file"),
    (["attributes", "--to", NOWHERE, "--group", "..", "-a", "a", "-e", "1"], 1, "group must be"),
    (["attributes", "--to", NOWHERE, "--group", "g", "-a", "a", "-e", "1", "--label", "x"], 1, "label"),
    (["attributes", "--to", NOWHERE, "--group", "g", "-a", "a", "-e", "1", "--token-file", "none"], 1, "none: "),
    (["attributes", "--to", "file:///etc", "--group", "g", "-a", "a", "-e", "1"], 1, "rotocol"),
])
def test_wrong_usage(sparkflame, tmp_path, arguments, status, word):
    (tmp_path / "attributes").write_text("main 1\n")
    done = sparkflame("push", *arguments)
    assert done.returncode == status and word in done.stderr.decode(), done.stderr
