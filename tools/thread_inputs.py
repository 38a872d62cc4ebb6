"""Inputs large enough that readers start threads, and the commands that read them: for the thread sanitizer."""

import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
sys.path.insert(0, str(ROOT / "tests"))
import jfr_builder  # noqa: E402

FOLDED_LINES = 40_000
CHUNKS = 24
SAMPLES_PER_CHUNK = 8_000
LOG_COPIES = 40
TASK_COPIES = 120


def make_folded(path):
    """5 MB; the reader has one thread up to 2."""
    choose = random.Random(1)
    lines = (";".join(f"org/example/Class{choose.randrange(300)}.method{choose.randrange(20)}" for _ in range(4)) + f" {number % 9 + 1}\n"
             for number in range(FOLDED_LINES))
    path.write_text("".join(lines), encoding="utf-8")


def make_recording(path):
    """Chunks, which are read at once."""
    chunks = []
    for number in range(CHUNKS):
        chunk = jfr_builder.small_chunk(start_ns=1_700_000_000_000_000_000 + number * 1_000_000_000)
        for sample in range(SAMPLES_PER_CHUNK):
            chunk.add("jdk.ExecutionSample", 7000 + sample, 100 + sample % 2, 1 + sample % 3, 0)
        chunks.append(chunk.bytes())
    path.write_bytes(b"".join(chunks))


def make_log(path):
    """2 MB in pieces of 256 KB."""
    path.write_bytes((DATA / "spark_log" / "driver.log").read_bytes() * LOG_COPIES)


def make_event_log(path):
    """The sample with each task many times, under new numbers."""
    lines = (DATA / "event_log" / "single").read_text(encoding="utf-8").splitlines()
    out = []
    for line in lines:
        event = json.loads(line)
        out.append(line)
        if event["Event"] in ("SparkListenerTaskStart", "SparkListenerTaskEnd"):
            for copy in range(1, TASK_COPIES):
                info = {**event["Task Info"], "Task ID": event["Task Info"]["Task ID"] + 1000 * copy, "Index": event["Task Info"]["Index"] + 1000 * copy}
                out.append(json.dumps({**event, "Task Info": info}))
    path.write_text("\n".join(out) + "\n", encoding="utf-8")


def make(folder):
    """[(name, arguments after the command's path)], with `-j` left out."""
    folded, recording, log, event_log = (folder / name for name in ("large.folded", "large.jfr", "driver.log", "events"))
    make_folded(folded)
    make_recording(recording)
    make_log(log)
    make_event_log(event_log)
    (folder / "driver.000001.jfr").write_bytes((DATA / "report" / "driver.000001.jfr").read_bytes())
    parts = [event_log, log, folder / "driver.000001.jfr"]
    return [
        ("folded to pprof", ["convert", "-q", "-f", "pprof", folded]),
        ("folded to folded", ["convert", "-q", "-f", "folded", folded]),
        ("a recording to folded", ["convert", "-q", "-e", "cpu", "-f", "folded", recording]),
        ("a recording by thread to a picture", ["flame", "-q", "-e", "cpu", "--by", "thread", "-f", "svg", recording]),
        ("two at once", ["convert", "-q", "-e", "cpu", "-f", "folded", recording, folded]),
        ("a merge of all", ["merge", "-q", "-f", "pprof", *[recording, folded] * 3]),
        ("a report on a fleet", ["fleet", "-q", "-f", "json", *[recording] * 6]),
        ("a difference", ["diff", "-q", "-f", "folded", folded, folded]),
        ("a log", ["logs", "-q", "-f", "json", log]),
        ("an event log", ["report", "-q", "-f", "json", event_log]),
        ("an event log, a log and a recording", ["report", "-q", "-f", "json", *parts]),
        ("a page", ["report", "-q", "-f", "html", *parts]),
    ]
