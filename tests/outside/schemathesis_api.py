#!/usr/bin/env python3
"""Let schemathesis (PyPI) look for requests that the collector does not answer as GET /api describes:
SCHEMATHESIS=folder-of-a-venv schemathesis_api.py.

One check of it is left out, positive_data_acceptance: whether a body is a recording, a text a regular expression, and whether samples match
cannot be said in a schema."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from folded_outside import SPARKFLAME

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from collector import Collector, add_token  # noqa: E402  the path is set before

EXAMPLES = 20
SEED = 1
# What the requests are about exists, so that more is tried than answers 404.
KNOWN = {"group": ["etl"], "application": ["app-1", "app-2"], "executor": ["1", "driver"]}


def fill(collector, token):
    recording = (ROOT / "tests" / "data" / "jfr" / "small.jfr").read_bytes()
    for sequence, (application, executor) in enumerate([("app-1", "1"), ("app-1", "driver"), ("app-2", "1")]):
        status, answer = collector.post(recording, token=token, application=application, executor=executor, sequence=str(sequence), label="release=1.2")
        assert status == 201, answer
    events = (ROOT / "tests" / "data" / "event_log" / "single").read_bytes()
    assert collector.post(events, token=token, application="app-1", executor="eventlog", sequence="1")[0] == 201


def describe(collector, token, path):
    document = collector.get("/api", token=token)
    own = [parameter for methods in document["paths"].values() for operation in methods.values() for parameter in operation.get("parameters", [])]
    for parameter in [*document["components"]["parameters"].values(), *own]:
        if parameter.get("name") in KNOWN:
            parameter["schema"] = {"type": "string", "enum": KNOWN[parameter["name"]]}
    path.write_text(json.dumps(document))


def main():
    program = pathlib.Path(os.environ["SCHEMATHESIS"]) / "bin" / "schemathesis"
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        token = add_token(SPARKFLAME, folder / "data", "read,write:etl")
        collector = stack.enter_context(Collector(SPARKFLAME, folder / "data"))
        fill(collector, token)
        describe(collector, token, folder / "api.json")
        done = subprocess.run([program, "run", folder / "api.json", "--url", f"http://127.0.0.1:{collector.port}", "--header",
                               f"Authorization: Bearer {token}", "--max-examples", str(EXAMPLES), "--seed", str(SEED), "--no-color",
                               "--exclude-checks", "positive_data_acceptance", "--request-timeout", "120"],
                              cwd=folder, stdin=subprocess.DEVNULL, check=False)
        assert collector.get("/v1/groups", token=token)["groups"], "the collector has lost its recordings"
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
