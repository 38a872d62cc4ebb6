"""Pyroscope's own agents for Java and Python send to our collector, unchanged."""

import os
import re
import subprocess
import sys

import pytest

import jvm
from collector import LIMIT_SECONDS, Collector, add_token, wait_until

sys.path.insert(0, str(jvm.ROOT / "tools"))
import fetch_pyroscope  # noqa: E402

PROGRAM = """
import os, sys, pyroscope
pyroscope.configure(application_name="py/app", server_address=sys.argv[1], basic_auth_username="me", basic_auth_password=sys.argv[2],
                    tenant_id="etl", tags={"region": "eu", "pod": "p-1"}, upload_interval=1)

def spins():
    return sum(number * number for number in range(1000))

while True:
    spins()
"""


@pytest.fixture(scope="module")
def agents():
    return fetch_pyroscope.fetch()


@pytest.fixture
def collector(binary, tmp_path):
    token = add_token(binary, tmp_path / "data", "read,write:etl")
    with Collector(binary, tmp_path / "data") as running:
        running.token = token
        yield running


def stacks_until(collector, sparkflame, folder, command, frame, **popen):
    """Runs the program until the collector has a recording with that frame. What the collector knows of it, and the stacks."""
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          **popen) as process:
        seen = set()

        def look():
            assert process.poll() is None
            for item in collector.recordings(token=collector.token):
                if item["recording"] in seen:
                    continue
                seen.add(item["recording"])
                path = folder / str(item["recording"])
                path.write_bytes(collector.request("GET", f"/v1/recordings/{item['recording']}", token=collector.token)[1])
                done = sparkflame("convert", "-q", "-f", "folded", path)
                if done.returncode == 0 and frame in done.stdout:
                    found.append((item, done.stdout))
            return found
        found = []
        try:
            wait_until(look)
        finally:
            process.kill()
    # 499 is the request during which the program was killed.
    assert not any(re.search(r" POST \S+ (?!499)[45]\d\d ", line) for line in collector.lines), collector.lines
    return found[0]


def test_java(agents, collector, sparkflame, tmp_path):
    classes = jvm.compile_classes(tmp_path, "Waits")
    settings = {"PYROSCOPE_APPLICATION_NAME": "java/app", "PYROSCOPE_SERVER_ADDRESS": f"http://127.0.0.1:{collector.port}",
                "PYROSCOPE_AUTH_TOKEN": collector.token, "PYROSCOPE_UPLOAD_INTERVAL": "1s", "PYROSCOPE_PROFILER_EVENT": "itimer",
                "PYROSCOPE_LABELS": "region=eu,hostname=h-1"}
    item, _ = stacks_until(collector, sparkflame, tmp_path, [
        jvm.home_of("17") / "bin" / "java", f"-javaagent:{agents[0]}", "-cp", classes, "Waits", LIMIT_SECONDS * 1000], b"Waits.burns",
        env={**os.environ, **settings})
    assert (item["group"], item["application"], item["executor"], item["format"]) == ("etl", "java_app", "h-1", "jfr")
    assert item["labels"]["region"] == "eu"


def test_python(agents, collector, sparkflame, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    item, stacks = stacks_until(collector, sparkflame, tmp_path, [
        sys.executable, tmp_path / "program.py", f"http://127.0.0.1:{collector.port}", collector.token], b"spins",
        env={**os.environ, "PYTHONPATH": str(agents[1])})
    assert (item["group"], item["application"], item["executor"], item["format"]) == ("etl", "py_app", "p-1", "pprof")
    assert item["labels"]["region"] == "eu" and item["labels"]["profile"] == "process_cpu"
    assert b"<module>" in stacks
