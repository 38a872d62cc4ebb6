"""`sparkflame record --push`: one interval after the other to a collector, as long as the processes run."""

import os
import signal
import subprocess
import threading

import pytest

import jvm
from collector import LIMIT_SECONDS, Collector, tls_context, wait_until
from python_targets import VERSIONS, running
from test_serve import collector, folder, make_certificate  # noqa: F401  two fixtures


def push(binary, running_collector, *arguments):
    scheme = "http" if running_collector.context is None else "https"
    return subprocess.Popen([str(binary), "record", "--push", f"{scheme}://localhost:{running_collector.port}/", "--group", "etl",
                             "--interval", "1s", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process, number=None):
    if number is not None:
        process.send_signal(number)
    _, errors = process.communicate(timeout=LIMIT_SECONDS)
    return process.returncode, errors


def folded_of(collector, sparkflame, folder, items):  # noqa: F811
    text = b""
    for item in items:
        path = folder / f"{item['recording']}.pb.gz"
        path.write_bytes(collector.body_of(item["recording"]))
        done = sparkflame("convert", "-q", "-f", "folded", path)
        assert done.returncode == 0, done.stderr
        text += done.stdout
    return text


@pytest.fixture
def waits(tmp_path):
    classes = jvm.compile_classes(tmp_path, "Waits")
    with subprocess.Popen([jvm.home_of("17") / "bin" / "java", "-cp", str(classes), "Waits", str(LIMIT_SECONDS * 1000)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_a_jvm_until_it_is_told(sparkflame, binary, collector, waits, tmp_path):  # noqa: F811
    """The collector is away for a while: what was recorded then follows."""
    process = push(binary, collector, waits.pid, "--label", "release=1.2")
    wait_until(lambda: len(collector.recordings()) >= 1)
    collector.kill()
    waits_line = []
    reader = threading.Thread(target=lambda: waits_line.append(next(line for line in process.stderr if "recordings wait" in line)))
    reader.start()
    reader.join(LIMIT_SECONDS)
    assert waits_line
    collector.command[collector.command.index("--listen") + 1] = f"127.0.0.1:{collector.port}"
    collector.start()
    before = len(collector.recordings())
    wait_until(lambda: len(collector.recordings()) >= before + 2)
    status, errors = finish(process, signal.SIGTERM)
    items = collector.recordings()
    assert status == 0 and f"{len(items)} of {len(items)} recordings are stored" in errors, errors
    assert {(item["application"], item["executor"], item["format"]) for item in items} == {
        ("java", f"{os.uname().nodename}-{waits.pid}", "pprof")}
    assert {item["labels"]["release"] for item in items} == {"1.2"}
    assert b"Waits.burns" in folded_of(collector, sparkflame, tmp_path, items[:1])


def test_a_python_process_until_it_ends(sparkflame, binary, tmp_path):
    options = make_certificate(tmp_path)
    with Collector(binary, tmp_path / "data", *options, context=tls_context(options[1])) as collector:  # noqa: F811
        with running(VERSIONS[-1], "alternating_chains.py", 20, 3) as target:
            process = push(binary, collector, target.pid, "--application", "chains", "--executor", "7", "--idle", "--cacert", options[1])
            wait_until(lambda: len(collector.recordings()) >= 2)
        status, errors = finish(process)
        items = collector.recordings()
        assert status == 0 and f"{len(items)} of {len(items)}" in errors, errors
        assert {(item["application"], item["executor"]) for item in items} == {("chains", "7")}
        assert items[0]["sequence"] < items[1]["sequence"]
        assert b"leaf" in folded_of(collector, sparkflame, tmp_path, items[:1])


@pytest.mark.parametrize("arguments,status,word", [
    (["--push", "http://127.0.0.1:1", "1"], 2, "--group"),
    (["--push", "http://127.0.0.1:1", "--group", "g"], 2, "no process"),
    (["--push", "http://127.0.0.1:1", "--group", "g", "--", "true"], 2, "that run"),
    (["--push", "http://127.0.0.1:1", "--group", "g", "-f", "x", "1"], 2, "instead of writing"),
    (["--push", "http://127.0.0.1:1", "--group", "g", "--interval", "0.1", "1"], 2, "at least 1s"),
    (["--push", "http://127.0.0.1:1", "--group", "..", "1"], 1, "group must be"),
    (["--group", "g", "1"], 2, "are for --push"),
    (["--push", "http://127.0.0.1:1", "--group", "g", "--token-file", "none", "1"], 1, "none: "),
])
def test_wrong_usage(sparkflame, arguments, status, word):
    done = sparkflame("record", *arguments)
    assert done.returncode == status and word in done.stderr.decode(), done.stderr
