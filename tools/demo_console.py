#!/usr/bin/env python3
"""demo_console.py BUILD [--port N] [--once]: start a collector with recordings in it, and say where its page is.

The recordings are those of `make demo`, if that has run, and samples of the tests. --once asks for each kind of answer and ends."""

import argparse
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
EVENTS = DATA / "event_log" / "single"
GROUP = "demo"


def application_of(events):
    """The id in an event log."""
    return re.search(r'"App ID":"([^"]+)"', events.read_text(errors="replace"))[1]


def pushes(build):
    """Arguments of `sparkflame push`, one list for each."""
    job = build / "demo"
    if (job / "recordings").is_dir():
        yield ["-l", "release=demo", *sorted((job / "recordings").iterdir())]
        for events in sorted((job / "events").iterdir()):
            yield ["-a", application_of(events), "-e", "eventlog", "-n", "1", events]
    application = application_of(EVENTS)
    yield ["-a", application, "-e", "eventlog", "-n", "1", EVENTS]
    yield ["-a", application, "-e", "driver", "-n", "1", DATA / "report" / "driver.000001.jfr"]
    for number, name in enumerate(["jdk17", "jdk25", "async_profiler"]):
        yield ["-a", f"nightly-{number + 1}", "-e", "1", "-n", "1", "-l", f"release={name}", DATA / "jfr" / f"{name}.jfr.gz"]


def send(build, address):
    for arguments in pushes(build):
        subprocess.run([build / "sparkflame", "push", "--quiet", "--to", address, "--group", GROUP, *arguments],
                       stdin=subprocess.DEVNULL, check=True)


def ask(address):
    """How many applications there are; fails if one of the answers does."""
    def get(path):
        with urllib.request.urlopen(address + path) as answer:
            return answer.read()

    found = json.loads(get(f"/v1/applications?group={GROUP}"))["applications"]
    for path in ("/", "/api", f"/v1/profile?group={GROUP}&application=nightly-1",
                 f"/v1/difference?group={GROUP}&application=nightly-2&against_application=nightly-1",
                 f"/v1/report?group={GROUP}&application={application_of(EVENTS)}"):
        assert get(path), path
    return len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=4041)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, help="for its data (default: BUILD/demo-console)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    build = options.build.resolve()
    folder = (options.folder or build / "demo-console").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    server = subprocess.Popen([build / "sparkflame", "serve", "--data", folder, "--listen", f"127.0.0.1:{options.port}"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    first = server.stdout.readline()
    if not first.startswith("listening on "):
        sys.exit("demo-console: the collector did not start")
    address = first.removeprefix("listening on ").strip()
    try:
        send(build, address)
        count = ask(address)
        print(f"{count} applications: open {address}/ in a browser" + ("" if options.once else "; Ctrl-C ends it"), flush=True)
        if not options.once:
            signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
