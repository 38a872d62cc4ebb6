"""The Spark plugin sends its recordings to a collector."""

import gzip
import json
import threading

import pytest

import spark
from collector import Collector, add_token, tls_context
from test_serve import make_certificate
from test_spark_control import wait_for


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5")


def in_folder(out):
    """{(executor, sequence): bytes} of what is in outputDir."""
    return {(path.parent.name.removeprefix("exec-"), int(path.stem)): path.read_bytes() for path in out.glob("nightly/*/*/*.jfr")}


def test_a_collector_that_is_away_for_a_while_gets_all(binary, tmp_path):
    """Beside outputDir, which does not wait for it, nor does the job. What both have is the same."""
    out, data = tmp_path / "out", tmp_path / "data"
    token = tmp_path / "token"
    reads = add_token(binary, data, "read:nightly")
    token.write_text(add_token(binary, data, "write:nightly") + "\n")
    options = make_certificate(tmp_path)
    done = []
    with Collector(binary, data, *options, context=tls_context(options[1])) as collector:
        conf = {"spark.sparkflame.outputDir": out.as_uri(), "spark.sparkflame.interval": "1s", "spark.sparkflame.join": "0",
                "spark.plugins": "software.amazon.profiler.AmazonProfilerPlugin", "spark.sparkflame.collector": f"https://localhost:{collector.port}/",
                "spark.sparkflame.collector.tokenFile": str(token), "spark.sparkflame.collector.caFile": str(options[1])}
        # The group is that of CodeGuru's context, as its users have it.
        context = json.dumps({"profilingGroupName": "nightly", "driverEnabled": "true"})
        for place in ("spark.executorEnv", "spark.yarn.appMasterEnv"):
            conf |= {f"{place}.ENABLE_AMAZON_PROFILER": "true", f"{place}.PROFILING_CONTEXT": context}
        job = threading.Thread(target=lambda: done.append(spark.submit(
            "3.5", tmp_path / "run", "until_told.py", tmp_path / "told", conf=conf, master="local-cluster[1,1,1024]")))
        job.start()
        try:
            wait_for(lambda: done or {item["executor"] for item in collector.recordings("nightly", token=reads)} == {"driver", "0"})
            collector.kill()
            sofar = len(in_folder(out))
            wait_for(lambda: done or len(in_folder(out)) >= sofar + 4)
            collector.command[collector.command.index("--listen") + 1] = f"127.0.0.1:{collector.port}"
            collector.start()
        finally:
            (tmp_path / "told").touch()
            job.join()
        listed = collector.recordings("nightly", token=reads)
        found = {(item["executor"], item["sequence"]): gzip.decompress(collector.request(
            "GET", f"/v1/recordings/{item['recording']}", token=reads)[1]) for item in listed}
        heap = collector.get("/v1/heap?group=nightly", token=reads)
    log = spark.said(done[0].log)
    assert done[0].returncode == 0, done[0].log[-5000:]
    assert len(found) == len(listed) and found == in_folder(out), log
    assert {item["executor"] for item in heap["processes"]} == {"driver", "0"} and heap["skipped"] == 0
    assert all(0 < item["peak_bytes"] <= item["limit_bytes"] for item in heap["processes"])
    assert {item["labels"]["application_name"] for item in listed} == {"until told"}
    assert {item["application"] for item in listed} == {path.name for path in (out / "nightly").iterdir()}
    assert any("cannot write to https://localhost" in line for line in log), log
    assert not any("dropped" in line for line in log) and not list((tmp_path / "run" / "local").rglob("*.jfr")), log
