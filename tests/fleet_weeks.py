"""Two weeks of a made-up fleet: recordings as GROUP/APPLICATION/EXECUTOR/SEQUENCE.jfr, the samples in them, and what a report on
them has to say, computed from these samples in another way than the command does.

Run as a program (fleet_weeks.py COMMAND) it makes the partial sum in tests/data/fleet/ anew."""

import collections
import dataclasses
import datetime
import fractions
import math
import pathlib
import random
import subprocess
import sys
import tempfile

from jfr_builder import Chunk, standard_metadata, utf8

SECOND = 1_000_000_000
CPU_NS, WALL_NS = 10_000_000, 100_000_000
FIRST_DAY = datetime.date(2026, 10, 20)
DAYS = 14
THREAD, CALL, PARSE, GET, HOSTILE, BUFFER = range(1, 7)
# class, method; what is allocated has no method
NAMES = {THREAD: ("java/lang/Thread", "run"), CALL: ("org/example/Job", "call"), PARSE: ("org/example/Parse", "line"),
         GET: ("java/util/HashMap", "get"), HOSTILE: ("</script><script>document.title='bad'</script>", "run")}
BUFFER_CLASS = "org/example/Buffer"
STACKS = {1: (THREAD, CALL, PARSE), 2: (THREAD, CALL, GET), 3: (THREAD, CALL, CALL), 4: (THREAD, HOSTILE)}
HOSTILE_GROUP = "<script>alert(1)</script> & co"
TASK_THREAD = 2


@dataclasses.dataclass(frozen=True)
class Sample:
    """weight: nanoseconds or bytes; stack: names from the outermost on."""
    group: str
    application: str
    executor: str
    day: datetime.date
    event: str
    weight: int
    count: int
    stack: tuple


def name_of(method):
    return ".".join(NAMES[method])


def application_name(day, number):
    return f"app-{day:%Y%m%d}073000-{number:04}"


def start_chunk(start_ns):
    chunk = Chunk(standard_metadata(), start_ns=start_ns, start_ticks=0)
    texts = sorted({text for pair in NAMES.values() for text in pair} | {BUFFER_CLASS})
    symbols = {text: number for number, text in enumerate(texts, 1)}
    classes = {owner: number for number, owner in enumerate(sorted({owner for owner, _ in NAMES.values()} | {BUFFER_CLASS}), 1)}
    chunk.standard_constants(symbols={number: text for text, number in symbols.items()},
                             classes={number: symbols[owner] for owner, number in classes.items()},
                             methods={method: (classes[owner], symbols[name]) for method, (owner, name) in NAMES.items()},
                             threads={TASK_THREAD: ("Executor task launch worker-0", 2)})
    chunk.stacks({number: [(method, 0, 1) for method in reversed(methods)] for number, methods in STACKS.items()})
    return chunk, classes[BUFFER_CLASS]


def record(home, group, application, executor, start, counts, *, label=None, labelled=True, named=True):
    """Writes a recording with so many CPU samples of each stack, one a tenth of a second, and some others; returns its samples.
    `label`: the group's label, if the folder has another name; `labelled`, `named`: labels, the path have group and application."""
    start_ns = int(start.timestamp()) * SECOND
    chunk, buffer_class = start_chunk(start_ns)
    labels = f"profiling_group={label or group};application={application};executor={executor}" if labelled else "stage=1"
    chunk.add("sparkflame.Labels", 0, TASK_THREAD, utf8(labels))
    samples, tick = [], 1

    def add(event, stack, weight, count, *extra):
        nonlocal tick
        day = datetime.datetime.fromtimestamp((start_ns + tick) // SECOND, datetime.timezone.utc).date()
        names = tuple(name_of(method) for method in STACKS[stack]) + ((BUFFER_CLASS.replace("/", "."),) if event == "alloc" else ())
        samples.append(Sample(label or group, application, executor, day, event, weight, count, names))
        types = {"cpu": "jdk.ExecutionSample", "wall": "profiler.WallClockSample", "alloc": "jdk.ObjectAllocationSample"}
        chunk.add(types[event], tick, TASK_THREAD, stack, *extra)
        tick += SECOND // 10

    for stack, count in counts.items():
        for _ in range(count):
            add("cpu", stack, CPU_NS, 1, 0)
        add("wall", stack, count * WALL_NS, count, 6, count)
        add("alloc", stack, 1000 * count + stack, 1, buffer_class, 1000 * count + stack)
    home.mkdir(parents=True, exist_ok=True)
    name = "driver" if executor == "driver" else f"exec-{executor}"
    folder = home / group / application / name if named else home / "loose" / f"{application}-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "000001.jfr").write_bytes(chunk.bytes())
    return samples


def make(home):
    """Writes the recordings of all groups below the folder; returns their samples. In the last seven days parsing takes twice the
    share of group etl; group reports is as before, and only its paths name it; one more has too few applications; of the last, only
    labels name it."""
    dice = random.Random(7)
    samples = []
    for number in range(DAYS):
        day = FIRST_DAY + datetime.timedelta(days=number)
        noon = datetime.datetime(day.year, day.month, day.day, 12, tzinfo=datetime.timezone.utc)
        late = noon.replace(hour=23, minute=59, second=55)
        parse = 40 if number >= DAYS - 7 else 20
        for which in range(2):
            counts = {1: parse + dice.randint(-2, 2), 2: 60 - parse + dice.randint(-2, 2), 3: 40, 4: 1}
            # One application goes on after midnight.
            start = late if number == 4 and which == 1 else noon
            name = application_name(day, which)
            samples += record(home, "etl", name, "1", start, counts)
            samples += record(home, "etl", name, "driver", start, {3: 5})
        samples += record(home, "reports", application_name(day, 10), "1", noon, {1: 20 + dice.randint(-3, 3), 2: 30}, labelled=False)
        if number % 7 == 0:
            samples += record(home, "adhoc", application_name(day, 20), "1", noon, {4: 9}, label=HOSTILE_GROUP)
        if number % 2 == 0:
            samples += record(home, "loose", f"nightly-{number}", "1", noon, {1: 30, 2: 30 + dice.randint(-3, 3)}, named=False)
    return samples


# ---- what a report has to say ----

EVENTS = ("cpu", "wall", "alloc")
KEYS = {"cpu": "cpu_ns", "wall": "wall_ns", "alloc": "alloc_bytes"}


def weights(samples):
    return {KEYS[event]: sum(sample.weight for sample in samples if sample.event == event) for event in EVENTS}


def grouped(samples, key):
    groups = collections.defaultdict(list)
    for sample in samples:
        groups[key(sample)].append(sample)
    return groups


def method_rows(samples, event, top):
    """[(method, self, total, self by day)] of the most expensive ones."""
    own, total, daily = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in samples:
        if sample.event == event:
            own[sample.stack[-1]] += sample.weight
            daily[sample.stack[-1], sample.day] += sample.weight
            for name in set(sample.stack):
                total[name] += sample.weight
    days = sorted({sample.day for sample in samples})
    names = sorted(total, key=lambda name: (-own[name], -total[name], name))[:top]
    return [(name, own[name], total[name], [daily[name, day] for day in days]) for name in names]


def side(samples, days, method):
    """What share_change needs of one side: of applications on a day, in microseconds."""
    chosen = [sample for sample in samples if sample.event == "cpu" and sample.day in days]
    runs = grouped(chosen, lambda sample: (sample.application, sample.day)).values()
    pairs = [(sum(sample.weight for sample in run if sample.stack[-1] == method) // 1000, sum(sample.weight for sample in run) // 1000) for run in runs]
    return pairs, sum(sample.count for sample in chosen)


def error_of(pairs, count):
    """Of the share, squared."""
    whole = sum(y for _, y in pairs)
    share = fractions.Fraction(sum(x for x, _ in pairs), whole)
    between = fractions.Fraction(len(pairs), len(pairs) - 1) * sum((x - share * y) ** 2 for x, y in pairs) / whole ** 2
    counted = max(share * (1 - share), fractions.Fraction(1, count)) / count
    return share, max(between, (share / 50) ** 2, counted)


def slower_rows(samples, last):
    """[(group, method, share before, share now, z)], in any order."""
    now = [last - datetime.timedelta(days=i) for i in range(7)]
    before = [last - datetime.timedelta(days=7 + i) for i in range(7)]
    found = []
    for group, own in grouped(samples, lambda sample: sample.group).items():
        for method in {sample.stack[-1] for sample in own}:
            (pairs_before, count_before), (pairs_now, count_now) = side(own, before, method), side(own, now, method)
            fewer = min(len(pairs_before), len(pairs_now))
            if fewer < 3:
                continue
            (share_before, error_before), (share_now, error_now) = error_of(pairs_before, count_before), error_of(pairs_now, count_now)
            z = float(share_now - share_before) / math.sqrt(error_before + error_now)
            if z > 3.5 + 15 / fewer and share_now > share_before * fractions.Fraction(11, 10) and share_now - share_before > fractions.Fraction(1, 200):
                found.append((group, method, float(share_before), float(share_now), z))
    return found


def main():
    target = pathlib.Path(__file__).resolve().parent / "data" / "fleet" / "weeks.part"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder) / "recordings")
        subprocess.run([sys.argv[1], "merge", "-q", "--partial", "-f", "parquet", "--resolution", "3600", pathlib.Path(folder) / "recordings", "-o", target],
                       check=True)


if __name__ == "__main__":
    main()
