"""`sparkflame fleet`: numbers of generated recordings, computed a second time from the samples that are in them."""

import json
import os
import pty
import random
import re
import shlex
import shutil
import subprocess

import pytest

import fleet_weeks
from fleet_weeks import DAYS, EVENTS, FIRST_DAY, HOSTILE_GROUP, KEYS, grouped, method_rows, slower_rows, weights

LAST_DAY = FIRST_DAY + fleet_weeks.datetime.timedelta(days=DAYS - 1)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """(folder of the recordings, samples in them)"""
    folder = tmp_path_factory.mktemp("weeks") / "recordings"
    return folder, fleet_weeks.make(folder)


def report(sparkflame, *arguments):
    done = sparkflame("fleet", "-f", "json", *arguments)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    return json.loads(done.stdout)


def check_weights(found, samples):
    assert {key: found[key] for key in KEYS.values()} == weights(samples)


def check_all(found, samples, top=20):
    """Every number of a report, against the samples."""
    check_weights(found, samples)
    by_day = grouped(samples, lambda sample: sample.day)
    assert [row["day"] for row in found["days"]] == [day.isoformat() for day in sorted(by_day)]
    for row, day in zip(found["days"], sorted(by_day)):
        check_weights(row, by_day[day])
    by_group = grouped(samples, lambda sample: sample.group)
    assert [row["group"] for row in found["groups"]] == sorted(by_group, key=lambda group: -weights(by_group[group])["cpu_ns"])
    for row in found["groups"]:
        own = by_group[row["group"]]
        check_weights(row, own)
        assert row["applications"] == len({sample.application for sample in own})
        assert row["executors"] == len({(sample.application, sample.executor) for sample in own})
        assert row["by_day"] == [sum(sample.weight for sample in own if sample.day == day and sample.event == "cpu") for day in sorted(by_day)]
    for event in EVENTS:
        rows = [(row["method"], row["self"], row["total"], row["by_day"]) for row in found["methods"] if row["event"] == event]
        assert rows == method_rows(samples, event, top)
    by_application = grouped(samples, lambda sample: (sample.group, sample.application))
    order = sorted(by_application, key=lambda key: (*(-weights(by_application[key])[KEYS[event]] for event in EVENTS), *key))
    assert [(row["group"], row["application"]) for row in found["applications"]] == order[:top]
    assert found["application_count"] == len(order)
    for row in found["applications"]:
        own = by_application[row["group"], row["application"]]
        check_weights(row, own)
        assert row["executors"] == len({sample.executor for sample in own})
        assert (row["first_day"], row["last_day"]) == (min(sample.day for sample in own).isoformat(), max(sample.day for sample in own).isoformat())


def check_slower(found, samples, last):
    expected = {(group, method): rest for group, method, *rest in slower_rows(samples, last)}
    rows = {(row["group"], row["method"]): row for row in found["slower"]}
    assert set(rows) == set(expected) and found["slower_count"] == len(expected)
    for key, (before, now, z) in expected.items():
        assert rows[key]["self_before"] == pytest.approx(before, abs=1e-6) and rows[key]["self_now"] == pytest.approx(now, abs=1e-6)
        assert rows[key]["z"] == pytest.approx(z, abs=0.006)
    return rows


def test_all_numbers(sparkflame, weeks):
    folder, samples = weeks
    found = report(sparkflame, folder)
    check_all(found, samples)
    assert (found["before_from"], found["now_from"], found["now_to"]) == ("2026-10-20", "2026-10-27", "2026-11-02")
    assert set(check_slower(found, samples, LAST_DAY)) == {("etl", "org/example/Parse.line")}
    assert any(row["first_day"] != row["last_day"] for row in report(sparkflame, "-n", "100", folder)["applications"])


def test_extra_time_is_that_beyond_the_share_before(sparkflame, weeks):
    folder, samples = weeks
    row, = report(sparkflame, folder)["slower"]
    week = [s for s in samples if s.group == "etl" and s.event == "cpu" and (LAST_DAY - s.day).days < 7]
    assert row["more_ns"] == pytest.approx((row["self_now"] - row["self_before"]) * sum(s.weight for s in week), rel=1e-4)
    totals = [sum(s.weight for s in week if row["method"] in s.stack) / sum(s.weight for s in week)]
    assert row["total_now"] == pytest.approx(totals[0], abs=1e-6)


def test_days_that_are_chosen(sparkflame, weeks):
    folder, samples = weeks
    since, until = FIRST_DAY + fleet_weeks.datetime.timedelta(days=3), FIRST_DAY + fleet_weeks.datetime.timedelta(days=9)
    chosen = [sample for sample in samples if since <= sample.day <= until]
    found = report(sparkflame, "--since", since, "--until", until, "-n", "7", folder)
    check_all(found, chosen, top=7)
    check_slower(found, chosen, until)
    assert found["now_to"] == until.isoformat()
    assert len(found["applications"]) == 7 < found["application_count"]


def test_groups_that_are_chosen(sparkflame, weeks):
    folder, samples = weeks
    found = report(sparkflame, "--group", HOSTILE_GROUP, "-g", "reports", folder)
    check_all(found, [sample for sample in samples if sample.group in (HOSTILE_GROUP, "reports")])
    assert found["slower"] == []
    few = {row["group"]: (row["runs_before"], row["runs_now"]) for row in found["groups"]}
    assert few == {"reports": (7, 7), HOSTILE_GROUP: (1, 1)}


def test_intervals_and_prices(sparkflame, weeks):
    folder, samples = weeks
    found = report(sparkflame, "--cpu-interval", "20ms", "--wall-interval", "50ms", "--price-core-hour", "3600", folder)
    expected = weights(samples)
    assert (found["cpu_ns"], found["wall_ns"]) == (2 * expected["cpu_ns"], expected["wall_ns"] // 2)
    assert found["price_core_hour"] == 3600
    for row in [found, *found["groups"], *found["applications"]]:
        assert row["cost"] == pytest.approx(row["cpu_ns"] / 1e9, abs=1e-5)
    assert "cost" not in report(sparkflame, folder)["groups"][0]


@pytest.mark.parametrize("output", ["json", "text", "html"])
def test_the_order_and_the_threads_do_not_matter(sparkflame, weeks, output):
    folder, _ = weeks
    folders = sorted(path for path in folder.iterdir())
    outputs = set()
    for seed, threads in enumerate((1, 2, 4)):
        random.Random(seed).shuffle(folders)
        done = sparkflame("fleet", "-f", output, "-j", threads, *folders)
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_partial_sums_have_the_same_numbers(sparkflame, weeks, tmp_path):
    """Of recordings whose labels name group and application; here their paths do not."""
    folder, samples = weeks
    parts = []
    for name in ("etl", "adhoc", "loose"):
        parts.append(tmp_path / f"{name}.part")
        done = sparkflame("merge", "-q", "--partial", "-f", "parquet", folder / name, "-o", parts[-1])
        assert done.returncode == 0, done.stderr
    found = report(sparkflame, *parts)
    own = [sample for sample in samples if sample.group != "reports"]
    check_all(found, own)
    check_slower(found, own, LAST_DAY)
    halves = sorted((folder / "etl").rglob("*.jfr"))
    for number in range(2):
        done = sparkflame("merge", "-q", "--partial", "-f", "parquet", *halves[number::2], "-o", tmp_path / f"{number}.part")
        assert done.returncode == 0, done.stderr
    assert report(sparkflame, tmp_path / "0.part", tmp_path / "1.part") == report(sparkflame, parts[0])


def test_golden_json(sparkflame, data):
    """tests/fleet_weeks.py makes the input."""
    done = sparkflame("fleet", "-f", "json", "--price-core-hour", "0.5", "-n", "4", data / "fleet" / "weeks.part")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == (data / "fleet" / "weeks.json").read_text()


def test_text_has_the_same_numbers(sparkflame, weeks):
    folder, _ = weeks
    done = sparkflame("fleet", "--price-core-hour", "1", folder)
    assert done.returncode == 0, done.stderr
    text, found = done.stdout.decode(), report(sparkflame, "--price-core-hour", "1", folder)
    assert f"CPU time {found['cpu_ns'] / 1e9:.1f} s, wall clock {found['wall_ns'] / 3.6e12:.2f} h" in text
    assert f"cost of the CPU time {found['cost']:.2f}" in text
    row, = found["slower"]
    line = next(line for line in text.splitlines() if line.endswith("etl: org/example/Parse.line"))
    assert line.split()[:3] == [f"{100 * row['self_before']:.2f}%", f"{100 * row['self_now']:.2f}%", f"{row['z']:.1f}"]
    assert f"not compared: {HOSTILE_GROUP} (1 before, 1 now; at least 3 runs are needed)" in text
    assert re.search(r" 28 +56  etl$", text, re.MULTILINE)


def test_commands_show_more(binary, sparkflame, weeks, tmp_path):
    """Each is run as it stands, with the folder in its place."""
    folder, _ = weeks
    found = report(sparkflame, "-n", "100", folder)
    rows = [found["slower"][0], *found["groups"], *found["methods"][:4], found["methods"][-1], found["applications"][0], found["applications"][-1]]
    for row in rows:
        words = shlex.split(row["command"])
        assert words[0] == "sparkflame" and words.count("FOLDER") == 1
        line = row["command"].replace("sparkflame", shlex.quote(str(binary)), 1).replace("FOLDER", shlex.quote(str(folder)))
        done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
        page = tmp_path / words[words.index("-o") + 1]
        assert page.parent == tmp_path and page.stat().st_size > 1000
        page.unlink()


def test_samples_without_times_are_counted_but_not_compared(sparkflame, weeks, tmp_path):
    folder, samples = weeks
    done = sparkflame("merge", "-q", "-f", "pprof", folder / "etl", "-o", tmp_path / "etl.pb")
    assert done.returncode == 0, done.stderr
    found = report(sparkflame, tmp_path / "etl.pb")
    check_weights(found, [sample for sample in samples if sample.group == "etl"])
    assert found["days"] == [] and found["slower"] == [] and "now_to" not in found
    assert found["groups"][0]["group"] == "etl" and found["groups"][0]["applications"] == 28
    assert found["methods"][0]["by_day"] == [] and found["applications"][0]["first_day"] is None
    done = sparkflame("fleet", "--since", "2026-10-01", tmp_path / "etl.pb")
    assert done.returncode == 1 and b"no samples on the days that were chosen" in done.stderr


def test_partial_sums_for_other_outputs_are_refused(sparkflame, weeks, tmp_path):
    done = sparkflame("merge", "-q", "--partial", "-f", "folded", weeks[0] / "etl", "-o", tmp_path / "etl.part")
    assert done.returncode == 0, done.stderr
    done = sparkflame("fleet", tmp_path / "etl.part")
    assert done.returncode == 1 and b"is a partial sum without" in done.stderr and b"none of the files could be read" in done.stderr


def test_what_cannot_be_read_is_listed(sparkflame, weeks, data, tmp_path):
    folder, samples = weeks
    shutil.copytree(folder / "etl", tmp_path / "in" / "etl")
    (tmp_path / "in" / "notes.txt").write_text("nothing\n")
    (tmp_path / "in" / "cut.part").write_bytes((data / "fleet" / "weeks.part").read_bytes()[:3000])
    done = sparkflame("fleet", "-f", "json", tmp_path / "in")
    assert done.returncode == 1
    check_weights(json.loads(done.stdout), [sample for sample in samples if sample.group == "etl"])
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 3 and "skipped: " in lines[0] and "cut.part: byte " in lines[0] and "notes.txt: unknown format" in lines[1] and lines[2].endswith("2 of 58 files skipped")
    assert sparkflame("fleet", "-q", "--skip-broken", tmp_path / "in").returncode == 0
    assert sparkflame("fleet", "-q", tmp_path / "in").stderr == b""


@pytest.mark.parametrize("arguments, status, message", [
    ((), 2, "no recordings given"),
    (("nowhere",), 1, "nowhere"),
    (("empty",), 1, "the folder contains no file"),
    (("notes.txt",), 1, "none of the files could be read"),
    (("tables",), 1, "tables cannot be read"),
    (("tables/samples.parquet",), 1, "tables cannot be read"),
    (("locks.folded",), 1, "no samples of the events cpu, wall or alloc"),
    (("weeks", "--group", "etc"), 1, "no samples of group etc; there are: <script>alert(1)</script> & co, etl, loose, reports"),
    (("weeks", "--since", "2031-01-01"), 1, "no samples on the days that were chosen"),
    (("weeks", "--since", "2026-02-30"), 2, "is not a day"),
    (("weeks", "--until", "yesterday"), 2, "is not a day"),
    (("weeks", "--since", "2026-11-02", "--until", "2026-11-01"), 2, "--since is later than --until"),
    (("weeks", "--top", "0"), 2, "--top"),
    (("weeks", "--cpu-interval", "0"), 2, "--cpu-interval"),
    (("weeks", "--wall-interval", "2m"), 2, "--wall-interval"),
    (("weeks", "--price-core-hour", "-1"), 2, "--price-core-hour"),
    (("weeks", "-o", "missing/fleet.html"), 1, "missing/fleet.html"),
])
def test_errors_are_clear(sparkflame, weeks, tmp_path, arguments, status, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("nothing\n")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "samples.parquet").write_bytes(b"PAR1")
    (tmp_path / "locks.folded").write_text("main;work 3\n")
    (tmp_path / "weeks").symlink_to(weeks[0])
    done = sparkflame("fleet", *arguments)
    assert done.returncode == status, done.stderr
    assert done.stdout == b"" and message in done.stderr.decode()
    assert all(line.startswith("sparkflame fleet: ") or "--help" in line for line in done.stderr.decode().splitlines())


def test_progress_is_shown_on_a_terminal(binary, weeks, tmp_path):
    """And wiped in the end; with --quiet there is none."""
    for options in ((), ("-q",)):
        ours, its = pty.openpty()
        done = subprocess.run([binary, "fleet", *options, weeks[0], tmp_path / "none.jfr", "-o", tmp_path / "out.html"], stdin=subprocess.DEVNULL,
                              stderr=its, check=False)
        # A byte of our own, so that there is something to read.
        os.write(its, b".")
        os.close(its)
        printed = os.read(ours, 1 << 16)
        os.close(ours)
        assert done.returncode == 1 and (b"MB read; file 1: " in printed) == (options == ())
        assert options or b"none.jfr: " in printed.split(b"\x1b[K")[-1]


def peak_kilobytes(binary, *arguments):
    process = subprocess.Popen([binary, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def test_memory_does_not_follow_applications(binary, weeks, tmp_path):
    """Further applications of the same groups, days and methods."""
    some = sorted((weeks[0] / "etl").iterdir())
    for size, copies in (("few", 1), ("many", 20)):
        for copy in range(copies):
            for path in some:
                shutil.copytree(path, tmp_path / size / "etl" / f"{path.name}{copy:02}")
    small, large = (peak_kilobytes(binary, "fleet", "-q", "-j", "1", tmp_path / size) for size in ("few", "many"))
    assert large < 1.3 * small, (small, large)


def test_the_page_has_no_markup_of_names(sparkflame, weeks):
    done = sparkflame("fleet", "-f", "html", weeks[0])
    assert done.returncode == 0, done.stderr
    page = done.stdout.decode()
    assert "alert(1)" not in page and "document.title=" not in page and page.count("<script") == 2
