"""sparkflame list: from /proc, and from Spark's REST interface."""

import contextlib
import http.server
import json
import os
import subprocess
import threading

import pytest

import jvm

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
STAND_IN = """package org.apache.spark.executor;
public class CoarseGrainedExecutorBackend {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }
}
"""
APPLICATIONS = [{"id": "app-1", "name": "Job", "attempts": [{"sparkUser": "me", "completed": False}]}]
EXECUTORS = [{"id": "driver", "hostPort": "host1:7077", "isActive": True, "totalCores": 2, "activeTasks": 1},
             {"id": "3", "hostPort": "host2:7078", "isActive": True, "totalCores": 8, "completedTasks": 5}]


@pytest.fixture(scope="module")
def executor_class(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    source = folder / "CoarseGrainedExecutorBackend.java"
    source.write_text(STAND_IN)
    subprocess.run([jvm.system_home() / "bin" / "javac", "--release", "11", "-d", folder, source], check=True,
                   stdin=subprocess.DEVNULL)
    return folder


@contextlib.contextmanager
def started(*command):
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def listed(sparkflame, *arguments):
    result = sparkflame("list", "--json", *arguments)
    assert result.returncode == 0, result.stderr
    return {line["pid"]: line for line in map(json.loads, result.stdout.splitlines())}


def test_finds_executors_and_their_ids(executor_class, sparkflame):
    java = jvm.home_of("17") / "bin" / "java"
    application = f"app-{os.getpid()}-0001"
    with started(java, "-Xmx64m", "-cp", executor_class, EXECUTOR, "--driver-url", "spark://x", "--executor-id", "12",
                 "--app-id", application) as process:
        found = listed(sparkflame, application)
        assert list(found) == [process.pid]
        assert found[process.pid]["role"] == "executor"
        assert found[process.pid]["executor"] == "12"
        assert found[process.pid]["language"] == "jvm"
        assert process.pid in listed(sparkflame, "--spark")
        assert process.pid in listed(sparkflame, "executor 12")
        assert process.pid in listed(sparkflame, "CoarseGrainedExecutorBackend")
        table = sparkflame("list").stdout.decode().splitlines()
        line = next(line for line in table if line.split()[0] == str(process.pid))
        assert line.split()[3:6] == ["executor", application, "12"]


def test_finds_other_programs(sparkflame, tmp_path):
    script = tmp_path / "a job.py"
    script.write_text("import sys\nprint('ready', flush=True)\nsys.stdin.read()\n")
    with started("python3", "-u", script) as process:
        found = listed(sparkflame)[process.pid]
        assert (found["language"], found["role"], found["name"]) == ("python", "", "a job.py")
        assert process.pid not in listed(sparkflame, "--spark")


def test_nothing_matches(sparkflame):
    result = sparkflame("list", "no.such.Class")
    assert result.returncode == 1
    assert b"no process matches" in result.stderr


class FakeSpark(http.server.BaseHTTPRequestHandler):
    answers = {"/api/v1/applications": APPLICATIONS, "/api/v1/applications/app-1/executors": EXECUTORS}

    def do_GET(self):  # noqa: N802
        body = json.dumps(self.answers.get(self.path, "missing")).encode()
        self.send_response(200 if self.path in self.answers else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def spark_ui():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FakeSpark)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_asks_spark(sparkflame, spark_ui):
    no_proxy = {"no_proxy": "127.0.0.1"}
    result = sparkflame("list", "--ui", spark_ui + "/", "--json", env=no_proxy)
    assert result.returncode == 0, result.stderr
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["executor"], first["host"], first["cores"], first["active_tasks"]) == ("driver", "host1:7077", 2, 1)
    assert (second["executor"], second["application"], second["completed_tasks"]) == ("3", "app-1", 5)
    table = sparkflame("list", "--ui", spark_ui, env=no_proxy).stdout.decode()
    assert "host2:7078" in table
    missing = sparkflame("list", "--ui", spark_ui + "/nothing", env=no_proxy)
    assert missing.returncode == 1
    assert b"404" in missing.stderr


def test_says_why_spark_does_not_answer(sparkflame, spark_ui):
    for address in ("http://127.0.0.1:1", "ftp://127.0.0.1/", "nonsense://x"):
        result = sparkflame("list", "--ui", address, env={"no_proxy": "*"})
        assert result.returncode == 1
        assert b"cannot ask Spark" in result.stderr
