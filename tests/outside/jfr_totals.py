#!/usr/bin/env python3
"""Our totals of each kind of event against those of the JDK's `jfr print` and of async-profiler's converter.

    JFR_PARSER_SOURCE=…/jfr-parser JFR_CONVERTER=…/jfr-converter-4.5.jar tests/outside/jfr_totals.py [NAME…]

The recordings are those of grafana/jfr-parser, one that JDK 17 makes on the spot and one of JDK 25, ours of the agent,
and the copies that we write of all of these. For each type of event the number of events and the sum of their bytes or
nanoseconds must be equal. What differs on purpose stands in differences.tsv. Without JFR_CONVERTER only the JDK is asked.
"""

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import jvm  # noqa: E402

BINARY = os.environ.get("SPARKFLAME", HERE.parent.parent / "build" / "sparkflame")
CONVERTER = os.environ.get("JFR_CONVERTER")

# Type: our event, the field with its amount (None: events are counted), and how to select it from others of that event.
TYPES = {
    "jdk.ExecutionSample": ("cpu", None, ()),
    "jdk.CPUTimeSample": ("cpu", None, ()),
    "jdk.NativeMethodSample": ("native", None, ()),
    "profiler.WallClockSample": ("wall", "samples", ()),
    "jdk.ObjectAllocationInNewTLAB": ("alloc", "tlabSize", ("-l", "allocation=in new TLAB")),
    "jdk.ObjectAllocationOutsideTLAB": ("alloc", "allocationSize", ("-l", "allocation=outside TLAB")),
    "jdk.ObjectAllocationSample": ("alloc", "weight", ("-l", "allocation=sampled")),
    "profiler.LiveObject": ("live", "allocationSize", ()),
    "jdk.OldObjectSample": ("live", "objectSize", ()),
    "jdk.JavaMonitorEnter": ("lock", "duration", ()),
    "jdk.ThreadPark": ("park", "duration", ()),
    "jdk.JavaMonitorWait": ("wait", "duration", ()),
    "jdk.ThreadSleep": ("sleep", "duration", ()),
    "profiler.NativeLock": ("nativelock", "duration", ()),
    "jdk.MethodTrace": ("trace", "duration", ()),
    "profiler.Malloc": ("nativemem", "size", ()),
    "profiler.Free": ("free", None, ()),
    "jdk.JavaExceptionThrow": ("exception", None, ()),
    "jdk.JavaErrorThrow": ("error", None, ()),
    "jdk.FileRead": ("file-read", "duration", ()),
    "jdk.FileWrite": ("file-write", "duration", ()),
    "jdk.FileForce": ("file-force", "duration", ()),
    "jdk.SocketRead": ("socket-read", "duration", ()),
    "jdk.SocketWrite": ("socket-write", "duration", ()),
    "jdk.ClassLoad": ("class-load", "duration", ()),
    "jdk.ClassDefine": ("class-define", None, ()),
    "jdk.VirtualThreadPinned": ("pinned", "duration", ()),
}
CLASSES = ["objectClass", "monitorClass", "parkedClass", "thrownClass", "loadedClass", "definedClass", "object"]
# Options of the converter, and the events of ours that it adds up.
CONVERTED = {
    "": ("cpu", "native", "wall"),
    "--alloc": ("alloc", "alloc-sample"),
    "--live": ("live",),
    "--lock": ("lock", "park"),
    "--nativelock": ("nativelock",),
    "--nativemem": ("nativemem",),
    "--trace": ("trace",),
}
# What JDK 17 and 25 are asked to record beyond their settings "profile".
SETTINGS = {
    "17": ["jdk.ObjectAllocationInNewTLAB#enabled=true", "jdk.ObjectAllocationOutsideTLAB#enabled=true"],
    "25": ["jdk.CPUTimeSample#enabled=true", "jdk.MethodTrace#filter=EveryEvent::readAndWrite"],
}
THRESHOLDS = ["JavaMonitorEnter", "ThreadPark", "JavaMonitorWait", "ThreadSleep", "FileRead", "FileWrite", "FileForce",
              "SocketRead", "SocketWrite", "ClassLoad"]


def run(*command, check=True):
    return subprocess.run([str(word) for word in command], capture_output=True, check=check, stdin=subprocess.DEVNULL)


def nanoseconds(text):
    """PT1M2.5S"""
    hours, minutes, seconds = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(-?[\d.]+)S)?", text).groups()
    whole, _, rest = (seconds or "0").partition(".")
    return (int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(whole)) * 10**9 + int(rest.ljust(9, "0")[:9] or 0)


def amount(event, field):
    if field is None:
        return 1
    value = event.get(field, 1)  # JDK 17 does not tell the size of old objects
    return nanoseconds(value) if isinstance(value, str) else value


def is_sample(values):
    """It has a stack with a frame, or a class that is shown as one."""
    stack = values.get("stackTrace")
    return bool(stack) and bool(stack["frames"] or any(values.get(field) for field in CLASSES))


def print_events(tools, recording):
    """What the first of the tools says that can read the recording; None."""
    for tool in tools:
        printed = run(tool, "print", "--json", "--stack-depth", "1", "--events", ",".join(TYPES), recording, check=False)
        if printed.returncode == 0 and printed.stdout.strip():
            return json.loads(printed.stdout)["recording"]["events"]
    return None


def jdk_totals(tools, recording):
    """{type: (events, amount)} of those that can be samples; None when no JDK can read the recording."""
    events = print_events(tools, recording)
    if events is None:
        return None
    totals = collections.defaultdict(lambda: [0, 0])
    for each in events:
        total, values = totals[each["type"]], each["values"]
        if not is_sample(values):
            continue
        total[0] += values.get("samples", 1)
        total[1] += amount(values, TYPES[each["type"]][1])
    return totals


def our_total(recording, event, weight, select=()):
    done = run(BINARY, "convert", "-q", "-f", "folded", "-e", event, "--weight", weight, *select, recording, check=False)
    if done.returncode != 0 and b"no event" not in done.stderr and b"no sample" not in done.stderr:
        sys.exit(f"{recording}: {done.stderr.decode()}")
    return sum(round(float(line.rsplit(b" ", 1)[1])) for line in done.stdout.splitlines())


def converter_total(recording, option, scratch):
    out = scratch / "theirs.collapsed"
    words = [option] if option else []
    done = run("java", "-jar", CONVERTER, *words, "--total", "-o", "collapsed", recording, out, check=False)
    if done.returncode != 0:
        return None
    return sum(int(line.rsplit(b" ", 1)[1]) for line in out.read_bytes().splitlines())


class Report:
    """Counts comparisons; those that are known to differ are named with their reason."""

    def __init__(self):
        rows = (HERE / "differences.tsv").read_text().splitlines()
        self.reasons = {row.split("\t")[1]: row.split("\t")[2] for row in rows if row.startswith("jfr_totals\t")}
        self.same = self.known = self.failed = 0

    def compare(self, name, ours, theirs, tolerance=0):
        if abs(ours - theirs) <= tolerance:
            self.same += 1
            return
        reason = next((text for case, text in self.reasons.items() if re.fullmatch(case, name)), None)
        self.known += reason is not None
        self.failed += reason is None
        print(f"{'differs' if reason else 'FAILED'} {name}: ours {ours}, theirs {theirs}"
              + (f" ({reason})" if reason else ""), flush=True)

    def missing(self, name):
        reason = next((text for case, text in self.reasons.items() if re.fullmatch(case, name)), None)
        self.known += reason is not None
        self.failed += reason is None
        print(f"{'unread' if reason else 'FAILED'} {name}" + (f" ({reason})" if reason else ": cannot be read"), flush=True)


def events_of(totals, event):
    """Events of the types that become this event of ours, when one call shows them together."""
    return [sum(totals[each][i] for each in TYPES if TYPES[each][0] == event and each in totals) for i in range(2)]


def compare_with_jdk(report, name, recording, tools):
    totals = jdk_totals(tools, recording)
    if totals is None:
        report.missing(f"{name}:jfr")
        return
    has_tlab = any(each in totals for each in ("jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"))
    for each in totals:
        event, field, select = TYPES[each]
        if each == "jdk.ObjectAllocationSample" and has_tlab:
            event = "alloc-sample"
        expected = totals[each][:2] if select else events_of(totals, event)
        if each in ("jdk.ExecutionSample", "profiler.WallClockSample"):
            # Samples of async-profiler's wall clock engine may come as either type.
            expected = [a + b for a, b in zip(events_of(totals, "cpu"), events_of(totals, "wall"))]
            counts = our_total(recording, "cpu", "count") + our_total(recording, "wall", "count")
        else:
            counts = our_total(recording, event, "count", select)
        report.compare(f"{name}:jfr:{each}:count", counts, expected[0])
        if field not in (None, "samples"):
            # Nanoseconds come from ticks, rounded for each event.
            tolerance = expected[0] if field == "duration" else 0
            report.compare(f"{name}:jfr:{each}:amount", our_total(recording, event, "value", select), expected[1],
                           tolerance)


def compare_with_converter(report, name, recording, scratch):
    for option, events in CONVERTED.items():
        ours = sum(our_total(recording, event, "value") for event in events)
        theirs = converter_total(recording, option, scratch)
        if theirs is None:
            report.missing(f"{name}:converter:{option or 'default'}")
            continue
        counts = sum(our_total(recording, event, "count") for event in events) if option in (
            "--lock", "--nativelock", "--trace") else 0
        report.compare(f"{name}:converter:{option or 'default'}", ours, theirs, counts)


def record(folder, version):
    classes = jvm.compile_classes(folder, "EveryEvent")
    path = folder / f"jdk{version}.jfr"
    settings = [f"jdk.{each}#threshold=0ms" for each in THRESHOLDS]
    settings += [f"jdk.{each}#enabled=true" for each in ("ClassLoad", "ClassDefine", "JavaExceptionThrow")]
    options = ",".join(["settings=profile", f"filename={path}", *settings, *SETTINGS[version]])
    jvm.run_java(jvm.home_of(version), classes, None, "EveryEvent", 4, options=[f"-XX:StartFlightRecording={options}"])
    return path


def record_ours(folder):
    classes = jvm.compile_classes(folder, "EveryEvent")
    path = folder / "agent.jfr"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=cpu,alloc=64k,lock=0,wall=5ms,file={path}", "EveryEvent", 3)
    return path


def recordings(folder):
    """(name, path)"""
    data = pathlib.Path(os.environ["JFR_PARSER_SOURCE"]) / "parser" / "testdata"
    for packed in sorted(data.glob("*.jfr.gz")):
        path = folder / packed.name.removesuffix(".gz")
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        yield path.stem, path
    for version in SETTINGS:
        yield f"jdk{version}", record(folder, version)
    yield "agent", record_ours(folder)


def main():
    report = Report()
    # That of JDK 17 first: it is stricter.
    tools = ["jfr", jvm.home_of("25") / "bin" / "jfr"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, path in recordings(folder):
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            compare_with_jdk(report, name, path, tools)
            if CONVERTER:
                compare_with_converter(report, name, path, folder)
            copy = folder / "copy.jfr"
            run(BINARY, "convert", "-q", path, "-o", copy)
            compare_with_jdk(report, f"{name}:written", copy, tools[:1])
            path.unlink()
    print(f"{report.same} totals are equal, {report.known} differ on purpose, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
