"""The manual pages have the same commands and options as the program."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "man").glob("*.[15]"))


def plain(roff):
    """The page's text without font and dash escapes."""
    return re.sub(r"\\f[BIRP]", "", roff.replace("\\-", "-").replace("\\ ", " "))


def option_lines(sparkflame):
    result = sparkflame("__options")
    assert result.returncode == 0, result.stderr
    return [line.split("\t") for line in result.stdout.decode().splitlines()]


def page_of(command):
    return plain((ROOT / "man" / f"sparkflame-{command}.1").read_text())


def test_every_command_is_in_the_main_page(sparkflame):
    main_page = plain((ROOT / "man" / "sparkflame.1").read_text())
    missing = {command for command, *_ in option_lines(sparkflame)
               if not re.search(rf"sparkflame-{command}\b", main_page)}
    assert not missing


def test_every_option_is_in_its_page(sparkflame):
    missing = []
    for command, short, long, _, _ in option_lines(sparkflame):
        text = page_of(command)
        missing += [(command, name) for name in (short, long)
                    if name and not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
    assert not missing


def test_no_page_names_an_option_that_is_gone(sparkflame):
    lines = option_lines(sparkflame)
    for command in {line[0] for line in lines}:
        known = {line[2] for line in lines if line[0] == command} | {"--help"}
        options = page_of(command).split(".SH OPTIONS", 1)[-1].split(".SH ", 1)[0]
        tagged = {name for tag in re.findall(r"^\.TP.*\n(.*)$", options, re.MULTILINE)
                  for name in re.findall(r"--[a-z][\w-]*", tag)}
        assert tagged <= known, command


def test_help_shows_every_option(sparkflame):
    lines = option_lines(sparkflame)
    for command in {line[0] for line in lines}:
        result = sparkflame(command, "--help")
        text = result.stdout.decode()
        assert result.returncode == 0
        assert not [line for line in lines if line[0] == command and line[2] and line[2] not in text], command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_has_its_parts(page):
    text = page.read_text()
    assert text.startswith(".TH ")
    assert re.search(r"^\.SH NAME\nsparkflame\S* \\- \S", text, re.MULTILINE)


def test_pages_render_without_complaint():
    run = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", *map(str, PAGES)], capture_output=True,
                         stdin=subprocess.DEVNULL, check=False)
    assert run.returncode == 0 and not run.stderr.decode()


def examples_of(path):
    examples = path.read_text().partition(".SH EXAMPLES\n")[2].partition(".SH ")[0]
    return [line.replace("\\-", "-").replace("\\", "") for line in re.findall(r"^\.B (.*)$", examples, re.MULTILINE)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_examples_are_commands(path, sparkflame):
    """Each calls a command that there is, with options that it has."""
    options = {}
    for command, short, long, _, _ in option_lines(sparkflame):
        options.setdefault(command, set()).update(word for word in (short, long) if word)
    options = {**options, "asprof": None, "jcmd": None, "py-spy": None}
    for line in examples_of(path):
        called = re.search(r"\bsparkflame ([\w-]+)((?: [^|]*)?)", line)
        assert called or "spark" in line, line
        if called:
            assert called[1] in options, line
            given = re.findall(r"(?<= )(--[a-z][\w-]*|-[a-zA-Z](?= |$))", called[2].partition(" -- ")[0])
            assert options[called[1]] is None or set(given) <= options[called[1]], line


def test_every_command_has_examples(sparkflame):
    commands = {line[0] for line in option_lines(sparkflame)} - {"help", "version"}
    without = [command for command in commands if not examples_of(ROOT / "man" / f"sparkflame-{command}.1")]
    assert not without


@pytest.mark.parametrize("command", ["convert", "diff", "flame"])
def test_formats_are_those_of_the_table(sparkflame, command):
    """The help text is made from the table of writers; the manual repeats it."""
    rows = [row.split("\t") for row in sparkflame("__options").stdout.decode().splitlines()]
    help_text, = [row[4] for row in rows if row[0] == command and row[2] == "--format"]
    names = {path.stem.removeprefix("write_") for path in (ROOT / "src" / "formats").rglob("write_*.c")
             if not path.stem.endswith("_test")}
    assert set(re.split(", | or ", help_text)) == names | {"svg", "html"}
    assert f"\n{help_text}.\n" in (ROOT / "man" / f"sparkflame-{command}.1").read_text(encoding="utf-8")
