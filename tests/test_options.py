"""Every option of every command is used by a test, and does something.

The option tables (`sparkflame __options`) are walked: an option without a case fails, and so does one that changes nothing where its
case does not say why. Commands for live processes are tested elsewhere; here is checked that some test gives them each option.
"""

import ast
import dataclasses
import subprocess

import pytest

from conftest import TESTS

DATA = TESTS / "data"
RECORDING = [DATA / "jfr" / "spans.jfr", "-e", "cpu"]
PERF = [DATA / "perf" / "java.txt"]
EVENTS = DATA / "event_log" / "single"
LOG = DATA / "spark_log" / "driver.log"
STACKS = "org/example/Work.run;org/example/Work$$Lambda$17.call 3\norg/example/Work.run;org/example/Work.run 2\nmain;f_0x12 1\n"
SECRET = "24/06/01 10:00:00 ERROR Main: password=hunter2 is wrong\n"


@dataclasses.dataclass
class Case:
    """An option with its values, and an input on which it matters. `fails`: what is said when nothing is left, or it is refused;
    `same`: why nothing changes;
    `makes`: a file that it writes; `needed`: without it the command fails."""
    values: list = dataclasses.field(default_factory=list)
    inputs: list = None
    stdin: str = ""
    fails: str = ""
    same: str = ""
    makes: str = ""
    needed: bool = False


def on_stacks(*values, more=()):
    return Case(list(values), ["-", *more], STACKS)


def on_recording(*values, **more):
    return Case(list(values), RECORDING, **more)


SELECTING = {
    "--output": on_recording("out.folded", makes="out.folded"), "--format": on_recording("csv"),
    "--event": Case(["alloc"], RECORDING[:1]), "--from": on_recording("7us"), "--to": on_recording("1us"), "--thread": on_recording("main"),
    "--state": Case(["sleeping"], [DATA / "jfr" / "async_profiler.jfr.gz", "-e", "wall"]),
    "--application": on_recording("x", fails='none has the label "application"'), "--executor": on_recording("9", fails='the label "executor"'),
    "--job": on_recording("1", fails='the label "job"'), "--stage": on_recording("3"), "--task": on_recording("17"),
    "--label": on_recording("stage=5"), "--include": on_stacks("Lambda"), "--exclude": on_stacks("Lambda"), "--only-frames": on_stacks("Lambda"),
    "--drop-frames": on_stacks("Lambda"), "--base": on_stacks("Lambda"),
    "--ignore-case": on_stacks(more=["--drop-frames", "LAMBDA"]), "--min-share": on_stacks("20"), "--by": on_recording("thread"),
    "--stitch": on_recording(same="no Python stacks; test_spark_stitch.py has them"), "--reverse": on_stacks(),
    "--merge-recursion": on_stacks(), "--names": Case(["readable"], ["-"], "org/App$$Lambda$14/0x00007f1234.apply 1\n"), "--lines": on_recording(),
    "--bare-names": Case([], [DATA / "report_python", "-e", "cpu", "-f", "folded"]), "--kinds": on_recording(), "--dot": on_stacks(), "--simple": on_stacks(), "--norm": on_stacks(), "--weight": Case(["count"], [RECORDING[0], "-e", "alloc"]),
}
READING = {
    "--input-format": Case(["pprof"], ["-"], STACKS, fails="standard input"), "--threads": on_recording("1", same="the same from any number"),
    "--quiet": Case([], [DATA / "jfr" / "cut.jfr"]), "--pid": Case([], PERF), "--tid": Case([], PERF),
    "--addrs": Case([], PERF), "--kernel": Case([], PERF), "--jit": Case([], PERF), "--all": Case([], PERF),
    "--event-filter": Case(["no-such-event"], PERF, fails="no samples"),
}
LOOKS = {name: Case(values, ["-", "-f", "svg"], STACKS) for name, values in {
    "--title": ["A title"], "--subtitle": ["second"], "--notes": ["a note"], "--inverted": [], "--order": ["width"], "--colors": ["java"],
    "--bgcolors": ["blue"], "--random": [], "--width": ["700"], "--height": ["30"], "--minwidth": ["400"], "--fonttype": ["Courier"],
    "--fontsize": ["20"], "--fontwidth": ["0.9"], "--countname": ["bytes"], "--nametype": ["Procedure:"], "--total": ["100000"],
    "--factor": ["2"], "--no-script": []}.items()}
LOOKS |= {
    "--flamechart": Case([], [RECORDING[0], "-e", "cpu", "-f", "svg"]), "--hash": Case([], ["-", "-f", "svg"], STACKS, same="they always are"),
    "--cp": Case([], ["-", "-f", "svg"], STACKS, makes="palette.map"), "--nameattr": Case(["attributes"], ["-", "-f", "svg"], STACKS),
    "--negate": Case([], ["-", "-f", "svg"], "a;b 1 3\na;c 5 2\n"), "--encoding": Case(["latin1"], ["-", "-f", "svg"], STACKS, fails="utf-8"),
    "--view": Case(["q=java"], ["-", "-f", "html"], STACKS),
}
COMPARING = {"--normalize": Case(), "--strip-hex": Case(), "--widths": Case(["after"], ["before", "-f", "svg"])}
REPORT = {
    "--output": Case(["out"], makes="out"), "--format": Case(["json"]), "--application": Case(["nothing"], [EVENTS], fails="belongs to application nothing"),
    "--show-secrets": Case([], [EVENTS, "secret.log"]), "--time-zone": Case(["+05:00"]), "--log-pattern": Case(["|%p| %d %m%n"], ["odd.log"], needed=True),
    "--disable-rule": Case(["failures"]), "--price-core-hour": Case(["1"]), "--price-gb-hour": Case(["1"]),
    "--against": Case([EVENTS]), "--baseline": Case(["earlier"]), "--threads": Case(["1"], same="the same from any number"), "--quiet": Case([], ["cut-events"]),
    "--watch": Case(["1"], same="it has ended; test_report_watch.py has one that runs"),
}
CHECK = {
    "--baseline": Case(["earlier"]), "--fail-above": Case(["5%"]), "--output": Case(["out"], makes="out"), "--format": Case(["json"]),
    "--application": Case(["nothing"], fails="belongs to application nothing"), "--show-secrets": Case(same="no secrets in what it prints"),
    "--time-zone": Case(["+05:00"], same="logs are not compared"), "--log-pattern": Case(["|%p| %d %m%n"], same="logs are not compared"),
    "--threads": Case(["1"], same="the same from any number"), "--quiet": Case([], [EVENTS, "--baseline", "earlier", EVENTS]),
}
LOGS = {
    "--errors": Case(), "--top-chunks": Case(), "--jobs": Case(), "--stages": Case(), "--tasks": Case(), "--top": Case(["1"]),
    "--output": Case(["out"], makes="out"), "--format": Case(["json"]), "--level": Case(["warn"]),
    "--application": Case(["nothing"], [DATA / "spark_log"], fails="the folder contains no log"), "--time-zone": Case(["+05:00"]),
    "--log-pattern": Case(["|%p| %d %m%n"], ["odd.log"], needed=True), "--threads": Case(["1"], same="the same from any number"), "--exact": Case(),
    "--show-secrets": Case([], ["-"], SECRET), "--quiet": Case(same="no notices here; test_logs.py has some"),
}
TABLES_OF_PARQUET = {"--table": Case(["frames"], [RECORDING[0], "-f", "parquet"], needed=True)}
MERGING = {"--resolution": Case(["0"], [RECORDING[0], "-f", "jfr"]),
           "--partial": on_recording(), "--tar": on_recording(fails="no tar archive"),
           "--skip-broken": on_recording(same="nothing is broken here; test_merge.py has what is")}
WEEKS = DATA / "fleet" / "weeks.part"
FLEET = {
    "--output": Case(["out"], makes="out"), "--format": Case(["json"]), "--top": Case(["1"]), "--price-core-hour": Case(["1"]),
    "--since": Case(["2026-11-01"]), "--until": Case(["2026-11-01"]), "--group": Case(["etl"]), "--cpu-interval": Case(["20ms"]),
    "--wall-interval": Case(["50ms"]), "--skip-broken": Case([], [WEEKS, LOG], needed=True, same="but for the exit status"), "--threads": Case(["1"], same="the same from any number"),
    "--quiet": Case([], [WEEKS, LOG, "--skip-broken"]),
}
METRICS = {"--output": Case(["out"], makes="out"), "--format": Case(["csv"]), "--quiet": Case()}
CASES = {
    "convert": {**TABLES_OF_PARQUET, **SELECTING, **READING},
    "merge": {**TABLES_OF_PARQUET, **MERGING, **SELECTING, **READING},
    "flame": {**SELECTING, **LOOKS, **READING},
    "diff": {**COMPARING, **SELECTING, **LOOKS, **READING,
             "--flamechart": Case([], RECORDING, fails="cannot show a difference"),
             **{name: Case(LOOKS[name].values, ["-", "-f", "svg"], STACKS, same="a difference has colours of its own")
                for name in ("--colors", "--random")}},
    "report": REPORT, "fleet": FLEET, "check": CHECK, "logs": LOGS, "metrics": METRICS,
}
INPUTS = {"report": [EVENTS, LOG], "fleet": [WEEKS], "check": [EVENTS, "--baseline", "earlier"], "logs": [LOG], "metrics": [DATA / "uber" / "stdout.log"],
          "diff": ["before", "after", "-f", "folded"]}
LIVE = ("record", "top", "list", "dump", "doctor", "control", "serve", "query", "push")


def tables():
    """[(command, letter, option)], from the built command; none where it is not built."""
    binary = TESTS.parent / "build" / "sparkflame"
    text = subprocess.run([binary, "__options"], capture_output=True, text=True, check=False).stdout if binary.exists() else ""
    rows = [line.split("\t") for line in text.splitlines()]
    return [(row[0], row[1], row[2]) for row in rows if row[2]]


TABLES = tables()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "attributes").write_text("main\ttitle=entry\n")
    (tmp_path / "before").write_text("main;work 10\nmain;gone_0x12 5\n")
    (tmp_path / "after").write_text("main;work 30\nmain;gone_0x34 1\nmain;new 4\nmain;Work$$Lambda$3 2\n")
    (tmp_path / "odd.log").write_text("|ERROR| 2024-06-01 10:00:00,000 boom\n" * 3)
    (tmp_path / "secret.log").write_text(SECRET)
    (tmp_path / "earlier").write_text(EVENTS.read_text().replace('"App ID":"', '"App ID":"earlier-'))
    (tmp_path / "cut-events").write_bytes(EVENTS.read_bytes()[:-500])
    return tmp_path


def inputs_of(command, case):
    if case.inputs is None:
        return INPUTS[command]
    if command == "diff" and case.inputs[0] == "-":
        return ["-", "after", *case.inputs[1:]]
    return [case.inputs[0], "after" if case.inputs[0] == "before" else case.inputs[0], *case.inputs[1:]] if command == "diff" else case.inputs


@pytest.mark.parametrize("command, letter, option", [row for row in TABLES if row[0] in CASES],
                         ids=lambda value: value.lstrip("-") or "none")
def test_an_option_does_something(sparkflame, folder, command, letter, option):
    case = CASES[command].get(option)
    assert case is not None, f"no case for {command} {option}"
    inputs = inputs_of(command, case)
    without = sparkflame(command, *inputs, stdin=case.stdin.encode())
    runs = [sparkflame(command, *inputs, word, *case.values, stdin=case.stdin.encode()) for word in (option, letter) if word]
    assert (without.returncode == 0) != case.needed, without.stderr
    for done in runs:
        if case.fails:
            assert done.returncode in (1, 2) and case.fails in done.stderr.decode()
            continue
        assert done.returncode == 0, done.stderr
        changed = (done.stdout, done.stderr) != (without.stdout, without.stderr) or (case.makes != "" and (folder / case.makes).exists())
        assert changed != bool(case.same), f"{case.same or 'nothing changed'}:\n{done.stdout[:500]}"


def words_given_to(command):
    """The words of all calls and lists in tests that begin with the command's name or hold it."""
    words = set()
    for path in TESTS.rglob("test_*.py"):
        if path.name == "test_options.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            parts = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
            texts = [part.value for part in ast.walk(ast.Module(body=[ast.Expr(part) for part in parts], type_ignores=[]))
                     if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            if command in texts or command in path.name:
                words |= set(texts)
    return words


@pytest.mark.parametrize("command", LIVE)
def test_options_for_processes_are_given_by_some_test(command):
    words = words_given_to(command)
    missing = [option for name, letter, option in TABLES if name == command and option not in words and (not letter or letter not in words)]
    assert not missing


def test_every_command_with_options_is_known_here():
    assert {name for name, _, _ in TABLES} == set(CASES) | set(LIVE)
