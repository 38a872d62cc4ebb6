"""The checks of the house find what they are for, and the test driver counts right."""

import pathlib
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

import check_includes  # noqa: E402
import check_style  # noqa: E402
import check_tables  # noqa: E402
import fetch_pythons  # noqa: E402
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
    for header in ("base/arena.h", "model/profile.h", "formats/reader.h", "formats/write_jfr.h"):
        write(tmp_path / "src" / header, "")
    return tmp_path / "src"


@pytest.mark.parametrize("file, header, good", [
    ("model/profile.c", "base/arena.h", True),
    ("model/profile.c", "formats/reader.h", False),
    ("base/arena.c", "model/profile.h", False),
    ("formats/read_jfr.c", "model/profile.h", True),
    ("formats/read_jfr.c", "reader.h", False),
    ("formats/read_jfr.c", "formats/missing.h", False),
    ("jvm_agent/agent.c", "formats/write_jfr.h", True),
    ("jvm_agent/agent.c", "formats/reader.h", False),
    ("main.c", "model/profile.h", False),
    ("base/arena_test.c", "unit_test.h", True),
    ("base/arena.c", "unit_test.h", False),
])
def test_includes(source, file, header, good, capsys):
    write(source / file, f'#include "{header}"\n')
    assert (check_includes.main() == 0) == good, capsys.readouterr().out


def test_unknown_layer(source):
    write(source / "cellar" / "wine.c", "")
    assert check_includes.main() == 1


def test_long_function_is_found():
    body = "    x++;\n" * 81
    found = check_style.check_c("a.c", f"int x;\nvoid f(void)\n{{\n{body}}}\n")
    assert found == ["a.c:3: a function of 81 lines (at most 80)"]
    assert not check_style.check_c("a.c", f"void f(void)\n{{\n{body[:-9]}}}\n")


def test_banned_function_is_found_but_not_in_comments():
    assert check_style.check_c("a.c", "void f(void)\n{\n    strcpy(a, b);\n}\n") == ["a.c:3: strcpy() is banned"]
    assert not check_style.check_c("a.c", '/* strcpy(a, b) */\nconst char *s = "gets(";\nint my_strcpy(int);\n')


def test_machine_path_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(check_style, "ROOT", tmp_path)
    bad = write(tmp_path / "a.md", "see " + "/wo" + "rk/main\n")
    good = write(tmp_path / "b.md", "see frame" + "/wo" + "rk/main and docs/work.md\n")
    assert check_style.check_file(bad) and not check_style.check_file(good)


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
    assert results.passed == 1 and results.failures == [("t: b", "# a.c:3: x is 1, not 2")]


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
    assert (results.passed, len(results.failures)) == (passed, failed)


def test_closing_line_stands_alone():
    results = test_results.Results()
    results.add("good", True)
    results.add("bad", False, "\n".join(f"line {i}" for i in range(99)))
    lines = results.closing().splitlines()
    assert lines[-1] == "1 passed, 1 failed" and len(lines) == 2 + test_results.SHOWN_LINES


def test_program_that_hangs_is_ended():
    status, _ = test_results.run(["sh", "-c", "sleep 1000 & wait"], limit_seconds=2)
    assert status == 124


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
