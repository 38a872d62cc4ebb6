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
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from make_pprof_samples import Profile, data, number  # noqa: E402

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


JOB = "java/lang/Thread.run;org/apache/spark/executor/Executor$TaskRunner.run;"
PARSE = JOB + "org/apache/spark/sql/execution/WholeStageCodegenExec$$anon$1.hasNext;com/shop/Orders.parse"
ORDERS = {PARSE: 300, PARSE + ";java/util/regex/Pattern.matcher": 80, JOB + "org/apache/spark/shuffle/sort/UnsafeShuffleWriter.write;LZ4_compress_fast": 240}


def cpu_profile(stacks):
    """pprof of {"main;work": seconds of CPU time}, 100 samples a second."""
    profile = Profile()
    profile.body += data(1, profile.value_type("samples", "count")) + data(1, profile.value_type("cpu", "nanoseconds"))
    places = {}
    for stack, seconds in stacks.items():
        for name in stack.split(";"):
            if name not in places:
                places[name] = len(places) + 1
                profile.function(places[name], name)
                profile.location(places[name], [(places[name], 0)])
        profile.sample([places[name] for name in reversed(stack.split(";"))], [int(seconds * 100), int(seconds * 1e9)])
    profile.body += data(11, profile.value_type("cpu", "nanoseconds")) + number(12, 10_000_000)
    return profile.finished()


def send_orders(address):
    """Five runs of a job, the last of which takes four times as long in one method."""
    for run in range(1, 6):
        stacks = {**ORDERS, PARSE: ORDERS[PARSE] * (4 if run == 5 else 1)}
        for executor in range(3):
            query = urllib.parse.urlencode({"group": GROUP, "application": f"orders-{run}", "executor": executor, "sequence": 0,
                                            "label": "application_name=nightly orders"})
            body = cpu_profile({stack: seconds * (1 + 0.02 * ((run + executor) % 3)) for stack, seconds in stacks.items()})
            with urllib.request.urlopen(urllib.request.Request(f"{address}/v1/recordings?{query}", data=body, method="POST")):
                pass
        time.sleep(0.01)


def ask(address):
    """How many applications there are; fails if one of the answers does."""
    def get(path):
        with urllib.request.urlopen(address + path) as answer:
            return answer.read()

    found = json.loads(get(f"/v1/applications?group={GROUP}"))["applications"]
    for path in ("/", "/api", f"/v1/profile?group={GROUP}&application=nightly-1",
                 f"/v1/difference?group={GROUP}&application=nightly-2&against_application=nightly-1",
                 f"/v1/report?group={GROUP}&application={application_of(EVENTS)}", f"/v1/methods?group={GROUP}", f"/v1/heap?group={GROUP}",
                 f"/v1/regression?group={GROUP}&application=orders-5", f"/v1/regressions?group={GROUP}"):
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
    server = subprocess.Popen([build / "sparkflame", "serve", "--data", folder, "--listen", f"127.0.0.1:{options.port}", "--ended-after", "5"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    first = server.stdout.readline()
    if not first.startswith("listening on "):
        sys.exit("demo-console: the collector did not start")
    address = first.removeprefix("listening on ").strip()
    try:
        send(build, address)
        send_orders(address)
        (folder / "groups").write_text(f"{GROUP} price-core-hour=0.05\n", encoding="utf-8")
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
