"""The check scripts find what they should, and the test driver counts correctly."""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

import check_includes  # noqa: E402
import check_style  # noqa: E402
import check_tables  # noqa: E402
import check_words  # noqa: E402
import coverage  # noqa: E402
import fetch_pythons  # noqa: E402
import run_outside  # noqa: E402
import run_tests  # noqa: E402
import test_results  # noqa: E402
import test_steps  # noqa: E402
import update_manual  # noqa: E402


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(check_includes, "SOURCE", tmp_path / "src")
    for header in ("base/arena.h", "model/profile.h", "formats/reader.h", "jfr/jfr_bytes.h",
                   "formats/jfr/jfr_chunk.h", "formats/text/perf_line.h", "jvm_agent/frame.h", "jvm_agent/handler/walker.h",
                   "jvm_agent/engines/engine.h"):
        write(tmp_path / "src" / header, "")
    return tmp_path / "src"


@pytest.mark.parametrize("file, header, good", [
    ("model/profile.c", "base/arena.h", True),
    ("model/profile.c", "formats/reader.h", False),
    ("base/arena.c", "model/profile.h", False),
    ("formats/jfr/read_jfr.c", "model/profile.h", True),
    ("formats/jfr/read_jfr.c", "reader.h", False),
    ("formats/jfr/read_jfr.c", "formats/missing.h", False),
    ("formats/jfr/read_jfr.c", "formats/reader.h", True),
    ("formats/jfr/read_jfr.c", "formats/text/perf_line.h", False),
    ("formats/reader_table.c", "formats/jfr/jfr_chunk.h", False),
    ("jvm_agent/jfr/jfr_shape.c", "jfr/jfr_bytes.h", True),
    ("jvm_agent/jfr/jfr_shape.c", "formats/jfr/jfr_chunk.h", False),
    ("jvm_agent/jfr/jfr_shape.c", "formats/reader.h", False),
    ("jvm_agent/handler/walker.h", "jvm_agent/frame.h", True),
    ("jvm_agent/frame.h", "jvm_agent/handler/walker.h", False),
    ("jvm_agent/handler/walker.h", "jvm_agent/engines/engine.h", False),
    ("main.c", "model/profile.h", False),
    ("base/arena_test.c", "unit_test.h", True),
    ("base/arena.c", "unit_test.h", False),
])
def test_includes(source, file, header, good, capsys):
    write(source / file, f'#include "{header}"\n')
    assert (check_includes.main() == 0) == good, capsys.readouterr().out


@pytest.mark.parametrize("file", ["cellar/wine.c", "formats/cellar/wine.c"])
def test_unknown_room(source, file):
    write(source / file, "")
    assert check_includes.main() == 1


@pytest.mark.parametrize("files, found", [
    ({"model/a.c": "model/b.h", "model/b.h": ""}, None),
    ({"model/a.c": "model/b.h", "model/a.h": "", "model/b.h": "model/a.h"}, "model/a model/b"),
    ({"model/a_async_safe.c": "model/b.h", "model/a.h": "", "model/b.c": "model/a.h", "model/b.h": ""}, "model/a model/b"),
    ({"model/a.h": "model/b.h", "model/b.h": "model/c.h", "model/c.c": "model/a.h", "model/c.h": ""},
     "model/a model/b model/c"),
    ({"model/a_test.c": "model/b.h", "model/a.h": "", "model/b.h": "model/a.h"}, None),
])
def test_modules_in_a_circle(source, files, found, capsys):
    for file, header in files.items():
        write(source / file, f'#include "{header}"\n' if header else "")
    assert check_includes.main() == (1 if found else 0)
    assert capsys.readouterr().out == (f"modules include each other in a circle: {found}\n" if found else "")


def test_rooms_of_the_table_in_a_circle(source, monkeypatch, capsys):
    monkeypatch.setitem(check_includes.ALLOWED, "base", {"model"})
    assert check_includes.main() == 1 and "base" in capsys.readouterr().out


def test_long_function_is_found():
    body = "    x++;\n" * 61
    found = check_style.check_c("a.c", f"int x;\nvoid f(void)\n{{\n{body}}}\n")
    assert found == ["a.c:3: a function of 61 lines (at most 60)"]
    assert not check_style.check_c("a.c", f"void f(void)\n{{\n{body[:-9]}}}\n")


def test_banned_function_is_found_but_not_in_comments():
    assert check_style.check_c("a.c", "void f(void)\n{\n    strcpy(a, b);\n}\n") == ["a.c:3: strcpy() is banned"]
    assert not check_style.check_c("a.c", '/* strcpy(a, b) */\nconst char *s = "gets(";\nint my_strcpy(int);\n')


def test_large_room_is_found():
    files = [pathlib.Path("src/formats/jfr") / f"{number}.c" for number in range(60)]
    assert not list(check_style.large_rooms([*files, pathlib.Path("src/formats/a.c"), files[0].with_name("a_test.c")]))
    assert list(check_style.large_rooms([*files, files[0].with_name("a.h")])) == [
        "src/formats/jfr: 61 source files (at most 60)"]


@pytest.mark.parametrize("second, good", [
    ("struct part;\nstruct part *f(void);\n", True),
    ("struct other {\n};\nstatic const struct part x = {1};\n", True),
    ("/* struct part { } */\n", True),
    ("\nstruct part {\n    int x;\n};\n", False),
    ("\nenum part { A };\n", False),
    ("\ntypedef struct part {\n    int x;\n} part_t;\n", False),
    ("\nstatic struct part {\n    int x;\n} parts[1];\n", False),
])
def test_shared_name_is_found(second, good):
    texts = {pathlib.Path("src/a/one.h"): "struct part {\n    int x;\n};\n", pathlib.Path("src/b/two.c"): second}
    found = list(check_style.shared_names(texts))
    assert found == ([] if good else ["src/b/two.c:2: the name part is taken by src/a/one.h:1"])
    assert not list(check_style.shared_names({path.parent.parent.parent / "fuzz" / path.name: text for path, text in texts.items()}))


def test_documents_name_files_that_exist():
    root = TOOLS.parent
    rooms = "|".join(path.name for path in (root / "src").iterdir() if path.is_dir())
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *(root / "fuzz").glob("*.md"), *(root / "bench").glob("*.md")]
    named = [(page.name, name) for page in pages
             for name in re.findall(rf"(?<![\w/])(?:src/)?((?:{rooms})/[a-z0-9_/]+\.(?:c|h|def|html|js))\b", page.read_text())]
    assert len(named) > 20
    assert [(page, name) for page, name in named if not (root / "src" / name).exists()] == []


def test_machine_path_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(check_style, "ROOT", tmp_path)
    bad = write(tmp_path / "a.md", "see " + "/wo" + "rk/main\n")
    good = write(tmp_path / "b.md", "see frame" + "/wo" + "rk/main and docs/work.md\n")
    assert check_style.check_file(bad) and not check_style.check_file(good)


@pytest.mark.parametrize("name, text, count", [
    ("docs/A.md", "All Pyth" "ons of the application\n", 1),
    ("src/model/a.c", "/* Whatever is wrong is " "told. */\n", 1),
    ("src/jvm_agent/a.c", "/* Whatever is wrong is " "told. */\n", 1),
    ("tests/data/a.txt", "All Pyth" "ons\n", 0),
    ("src/model/a.c", f"/* {'long ' * 30} */\n", 1),
    ("src/model/a.c", f"    call({'argument, ' * 20}0);\n", 0),
    ("docs/A.md", "All Python processes; the reason is logged.\n", 0),
])
def test_words(tmp_path, monkeypatch, name, text, count):
    monkeypatch.setattr(check_words, "ROOT", tmp_path)
    assert len(list(check_words.check(write(tmp_path / name, text)))) == count


def test_table_line_needs_sample_and_manual(tmp_path, monkeypatch):
    monkeypatch.setattr(check_tables, "ROOT", tmp_path)
    write(tmp_path / "src/formats/reader_table.def", "/* READER(old) */\nREADER(folded)\n")
    assert check_tables.main() == 1
    write(tmp_path / "tests/data/folded/a.txt", "a;b 1\n")
    assert check_tables.main() == 1
    write(tmp_path / "man/sparkflame-formats.5", ".SS folded\n")
    assert check_tables.main() == 0
    write(tmp_path / "src/commands/command_table.def", "COMMAND(hidden)\n")
    write(tmp_path / "src/commands/command_hidden.c", '.name = "__hidden",')
    assert check_tables.main() == 0
    write(tmp_path / "src/commands/command_table.def", "COMMAND(flame)\n")
    assert check_tables.main() == 1


def test_tap_is_counted():
    results = test_results.Results()
    test_results.add_tap(results, "t", 1, "ok 1 - a\n# a.c:3: x is 1, not 2\nnot ok 2 - b\n1..2\n")
    assert results.passed == ["t: a"] and results.failures == [("t: b", "# a.c:3: x is 1, not 2")]


@pytest.mark.parametrize("status, output", [
    (0, "ok 1 - a\n"),
    (0, "ok 1 - a\n1..2\n"),
    (139, "ok 1 - a\n1..1\n"),
    (0, ""),
])
def test_tap_that_breaks_off_fails(status, output):
    results = test_results.Results()
    test_results.add_tap(results, "t", status, output)
    assert len(results.failures) == 1


@pytest.mark.parametrize("status, output, passed, failed", [
    (0, "TAP version 13\nok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\n", 1, 0),
    (0, "✔ a (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n", 1, 0),
    (1, "not ok 1 - a\n# pass 2\n# fail 1\n", 2, 1),
    (1, "# pass 2\n# fail 0\n", 2, 1),
    (0, "", 0, 1),
])
def test_node_report_is_counted(status, output, passed, failed):
    results = test_results.Results()
    test_steps.add_node(results, "viewer", status, output)
    assert (len(results.passed), len(results.failures)) == (passed, failed)


def test_closing_line_stands_alone():
    results = test_results.Results()
    results.add("good", True)
    results.add("bad", False, "\n".join(f"line {i}" for i in range(99)))
    lines = results.closing().splitlines()
    assert lines[-2:] == ["2 distinct checks, and 0 files read by clang-tidy; reruns: 0", "1 passed, 1 failed"]
    assert len(lines) == 3 + test_results.SHOWN_LINES


def test_what_runs_in_several_builds_is_one_check(tmp_path):
    first, results = test_results.Results(), test_results.Results()
    for name in ("build base_test: adds", "build-tsan base_test: adds", "clang-tidy src/a.c"):
        first.add(name, True)
    first.add("build-asan base_test: adds", False, "leaks")
    first.skip("python 3.8", "no registry has it")
    first.save(tmp_path / "first.json")
    results.merge(tmp_path / "first.json")
    assert results.distinct() == "1 distinct checks, and 1 files read by clang-tidy; reruns: 0"
    assert results.closing().splitlines()[0] == "left out: python 3.8: no registry has it"
    assert results.closing().endswith("3 passed, 1 failed, 1 skipped")


def test_program_that_hangs_is_ended():
    status, _ = test_results.run(["sh", "-c", "sleep 1000 & wait"], limit_seconds=2)
    assert status == 124


def test_a_hung_unit_test_is_named_with_its_stacks(tmp_path):
    write(tmp_path / "hangs.c", '#include <unistd.h>\n#include "unit_test.h"\nTEST(ends) {}\nTEST(hangs_here) { pause(); }\n')
    unit = TOOLS.parent / "tests" / "unit"
    subprocess.run(["gcc", "-g", f"-I{unit}", "-o", tmp_path / "hangs", tmp_path / "hangs.c", unit / "unit_test.c"], check=True)
    status, output = test_results.run([tmp_path / "hangs"], limit_seconds=3, quiet=True, stacks=True)
    results = test_results.Results()
    test_results.add_tap(results, "hangs", status, output)
    assert results.passed == ["hangs: ends"] and results.failures[0][0] == "hangs: hangs_here (exit status 124)"
    assert "error: ended after 3 s" in results.failures[0][1]
    if shutil.which("gdb"):
        assert "test_hangs_here" in output and "main (argc=1" in output


class FakeStep:
    """A step's process that notes when it runs."""
    running, seen = set(), []

    def __init__(self, step, folder):
        self.step, self.left = step, 3
        self.running.add(step.name)
        self.seen.append(frozenset(self.running))

    def has_ended(self):
        self.left -= 1
        return self.left <= 0

    def collect(self, results):
        self.running.discard(self.step.name)
        return self.step.name, 1, 0.1, 0.1


def test_steps_run_side_by_side_but_quiet_ones_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(run_tests, "Running", FakeStep)
    monkeypatch.setattr(run_tests, "JOBS", 2)
    def step(name, *after, **more):
        return test_steps.Step(name, None, None, after, **more)
    FakeStep.running, FakeStep.seen = set(), []
    steps = [step("build", processors=1.6), step("measures", "build", quiet=True), step("waits", "build", processors=0.5),
             step("computes"), step("computes too"), step("late", "computes too")]
    rows = run_tests.run_steps(steps, tmp_path, test_results.Results())
    assert {row[0] for row in rows} == {one.name for one in steps}
    seen = FakeStep.seen
    assert seen[:2] == [{"build"}, {"measures"}], seen
    assert {"waits", "computes"} in seen and max(map(len, seen)) == 2, seen
    assert not any({"computes too", "late"} <= names for names in seen), seen


def test_every_file_of_tests_belongs_to_one_step():
    groups = ["pytest", "pytest-live", "pytest-measuring", "pytest-spark"]
    files = [path for group in groups for path in test_steps.test_files(group)]
    assert sorted(files) == sorted((TOOLS.parent / "tests").glob("test_*.py"))
    assert all(test_steps.test_files(group) for group in groups)
    assert set(groups) <= {step.name for step in test_steps.STEPS}
    for name in (*test_steps.MEASURING, *test_steps.FORMATS):
        assert (TOOLS.parent / "tests" / name).exists(), name


def test_steps_are_in_order_and_need_only_what_there_is():
    names = []
    for step in test_steps.STEPS:
        assert set(step.after) <= set(names), step.name
        names.append(step.name)
    assert len(names) == len(set(names))


def test_packages_that_cannot_be_installed_are_a_failure(monkeypatch, tmp_path):
    """No other pytest of the machine takes their place."""
    write(tmp_path / "tests/requirements.txt", "no-such-package-anywhere==1\n")
    (tmp_path / "build").mkdir()
    monkeypatch.setattr(test_steps, "ROOT", tmp_path)
    monkeypatch.setattr(test_steps, "run", lambda command, **_: (0 if "venv" in command else 1, "no such package"))
    python, trouble = test_steps.virtual_environment()
    assert python is None and "pip could not install" in trouble and "no such package" in trouble


def test_every_package_has_a_version():
    lines = (TOOLS.parent / "tests" / "requirements.txt").read_text().splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line) for line in lines), lines
    status, output = test_results.run([sys.executable, "-m", "pip", "check"], quiet=True)
    assert status == 0, output


def test_every_outside_suite_has_a_place():
    """And is known by files that are in its checkout."""
    files = {path.name for path in run_outside.OUTSIDE.glob("*.py")}
    assert files == set(run_outside.SUITES) | run_outside.SHARED
    variables = {name for needed, useful in run_outside.SUITES.values() for name in needed + useful}
    assert variables == set(run_outside.MARKS) | set(run_outside.FILES)
    for suite, (needed, _) in run_outside.SUITES.items():
        text = (run_outside.OUTSIDE / suite).read_text()
        assert all(name in text or name == "PEER" for name in needed), suite


def test_outside_suites_run_and_are_left_out(tmp_path, monkeypatch, capsys):
    write(tmp_path / "checkouts" / "a-name" / "stackcollapse-perf.pl", "")
    write(tmp_path / "suites" / "flamegraph_perf.py", "import os, sys\nprint(os.path.basename(os.environ['FLAMEGRAPH_DIR']))\nsys.exit(len(sys.argv) - 1)\n")
    monkeypatch.setattr(run_outside, "OUTSIDE", tmp_path / "suites")
    monkeypatch.setattr(run_outside, "SUITES", {name: run_outside.SUITES[name] for name in ("flamegraph_perf.py", "speedscope.py")})
    monkeypatch.setattr(sys, "argv", ["run_outside.py", str(tmp_path / "checkouts")])
    assert run_outside.main() == 0
    output = capsys.readouterr().out
    assert "a-name" in output and "no SPEEDSCOPE_DIR in the directories" in output
    assert output.endswith("1 passed, 0 failed, 1 left out\n")
    write(tmp_path / "suites" / "flamegraph_perf.py", "raise SystemExit(3)\n")
    assert run_outside.main() == 1
    monkeypatch.setattr(sys, "argv", ["run_outside.py", str(tmp_path / "suites")])
    assert run_outside.main() == 1  # nothing ran


def test_rooms_below_the_bar_are_named():
    rooms = coverage.rooms_of({pathlib.Path("base/arena.c"): {1: 5, 2: 0, 3: 1, 4: 1}, pathlib.Path("model/tree.c"): {1: 1}, pathlib.Path("main.c"): {7: 1}})
    text, good = coverage.table(rooms, 80, 1)
    assert not good and re.search(r"base +1 +4 +3 +75.0  below 80\n    base/arena.c: 1 of 4 lines not reached", text)
    assert coverage.table(rooms, 75, 0)[1]
    for name in coverage.LIVE:
        assert (TOOLS.parent / "tests" / name).exists()


def test_driver_refuses_unknown_step():
    process = subprocess.run([sys.executable, TOOLS / "run_tests.py", "--only", "nonsense"], capture_output=True,
                             stdin=subprocess.DEVNULL, check=False)
    assert process.returncode == 2


def test_manual_keeps_what_was_written_and_follows_the_tables():
    section = ".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\nBy hand.\n.TP\n\\fB\\-\\-gone\\fR\nOld.\n"
    options = [("-o", "--output", "FILE", "where to"), ("", "--dark-mode", "", "see --output")]
    text = update_manual.options_section(options, section, {"--output": "Output"})
    assert text.startswith(".SS Output\n.TP\n")
    assert "By hand." in text and "gone" not in text
    assert ".TP\n\\fB\\-\\-dark\\-mode\\fR\nsee \\-\\-output.\n" in text


def test_unsafe_call_in_a_signal_handler_is_found(tmp_path):
    write(tmp_path / "a.c", "void *malloc(unsigned long);\nint helper(void);\nvoid *f(void) { return malloc(helper()); }\n")
    write(tmp_path / "b.c", "int helper(void) { return 1; }\n")
    for name in "ab":
        subprocess.run(["gcc", "-c", "-o", tmp_path / f"{name}_async_safe.c.o", tmp_path / f"{name}.c"], check=True)
    process = subprocess.run([sys.executable, TOOLS / "check_async_safe.py", tmp_path], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, check=False)
    assert process.returncode == 1
    assert process.stdout == "a_async_safe.c.o: calls malloc, which is not safe in a signal handler\n"


def test_library_besides_libc_is_found(tmp_path):
    write(tmp_path / "a.c", "double sin(double);\ndouble f(double x);\ndouble f(double x) { return sin(x); }\n")
    for name, flags, status in (("plain", [], 0), ("math", ["-Wl,--no-as-needed", "-lm"], 1)):
        library = tmp_path / f"{name}.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-fno-builtin", "-o", library, tmp_path / "a.c", *flags], check=True)
        process = subprocess.run([sys.executable, TOOLS / "check_agent.py", library], capture_output=True,
                                 stdin=subprocess.DEVNULL, check=False)
        assert process.returncode == status


def test_ubuntu_is_looked_for_beside_what_apt_has(tmp_path, monkeypatch):
    uris = ["a.example/debian/dists/x/InRelease", "a.example/debian/dists/y/InRelease", "b.example/apt/dists/x/InRelease",
            "c.example/mirror/ubuntu/dists/x/InRelease"]
    lines = "\n".join(f"'http://{uri}' name 0" for uri in uris)
    write(tmp_path / "apt-get", f"#!/bin/sh\ncat << end\n{lines}\nend\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("SPARKFLAME_UBUNTU", raising=False)
    assert fetch_pythons.find_mirrors() == ["http://a.example/ubuntu", "http://c.example/mirror/ubuntu"]
    monkeypatch.setenv("SPARKFLAME_UBUNTU", "http://d.example/ubuntu/")
    assert fetch_pythons.find_mirrors() == ["http://d.example/ubuntu"]


def test_a_python_that_cannot_be_had_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARKFLAME_UBUNTU", "file:///no/such/folder")
    monkeypatch.setattr(fetch_pythons, "FOLDER", tmp_path)
    monkeypatch.setattr(fetch_pythons, "find_own", lambda version: None)
    monkeypatch.setattr(fetch_pythons, "ATTEMPTS", 1)
    with pytest.raises(SystemExit, match="there is no Python 3.8 here(.|\n)*SPARKFLAME_UBUNTU(.|\n)*/no/such/folder"):
        fetch_pythons.fetch("3.8")
    assert "3.8" in fetch_pythons.versions() and not list(tmp_path.iterdir())


def elf_library(machine, size=64):
    """The head of an ELF file for a little-endian 64-bit processor."""
    return (b"\x7fELF\x02\x01".ljust(18, b"\0") + machine.to_bytes(2, "little")).ljust(size, b"\0")


def test_the_jar_has_a_library_for_each_architecture(tmp_path):
    with zipfile.ZipFile(tmp_path / "classes.jar", "w") as archive:
        archive.writestr("org/sparkflame/Agent.class", b"class")
    (tmp_path / "x.so").write_bytes(elf_library(62))
    (tmp_path / "a.so").write_bytes(elf_library(183))
    (tmp_path / "other.so").write_bytes(elf_library(243))
    (tmp_path / "short.so").write_bytes(b"\x7fELF\x02\x01")

    def pack(*names):
        return subprocess.run([sys.executable, TOOLS / "build_plugin.py", "pack", "classes.jar", *names, "out.jar"], cwd=tmp_path,
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    assert pack("a.so", "x.so").returncode == 0
    first = (tmp_path / "out.jar").read_bytes()
    assert pack("x.so", "a.so").returncode == 0
    assert (tmp_path / "out.jar").read_bytes() == first
    with zipfile.ZipFile(tmp_path / "out.jar") as archive:
        assert archive.read("org/sparkflame/linux-x86_64/libsparkflame.so") == elf_library(62)
        assert archive.read("org/sparkflame/linux-aarch64/libsparkflame.so") == elf_library(183)
    assert "x.so: a second library for the same architecture" in pack("x.so", "x.so").stderr
    assert "other.so: not a library for Linux on x86_64 or aarch64" in pack("other.so").stderr
    assert "short.so: not a library" in pack("short.so").stderr
    assert (tmp_path / "out.jar").read_bytes() == first


def test_sources_of_another_architecture_are_left_out(tmp_path):
    for name in ("a.c", "a_x86_64.c", "b_aarch64_async_safe.c", "c_aarch64_test.c", "c_test.c"):
        write(tmp_path / name, "")

    def listed(*arguments):
        done = subprocess.run([sys.executable, TOOLS / "list_sources.py", tmp_path, *arguments], capture_output=True, text=True,
                              check=True, stdin=subprocess.DEVNULL)
        return [pathlib.Path(line).name for line in done.stdout.splitlines()]

    assert listed("x86_64") == ["a.c", "a_x86_64.c"]
    assert listed("aarch64") == ["a.c", "b_aarch64_async_safe.c"]
    assert listed("x86_64", "--tests") == ["c_test.c"]
    assert listed("aarch64", "--tests") == ["c_aarch64_test.c", "c_test.c"]
