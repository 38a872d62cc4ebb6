#!/usr/bin/env python3
"""Check that each format and command of the tables has sample data and a place in the manual."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = [
    ("READER", "src/formats/reader_table.def"),
    ("WRITER", "src/formats/writer_table.def"),
    ("COMMAND", "src/commands/command_table.def"),
]


def names_in(word, table):
    path = ROOT / table
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL) if path.exists() else ""
    return re.findall(rf"^\s*{word}\((\w+)\)", text, re.MULTILINE)


def has_sample(name):
    folder = ROOT / "tests" / "data" / name
    return folder.is_dir() and any(path.is_file() and path.stat().st_size > 0 for path in folder.rglob("*"))


def is_hidden(name):
    """Internal commands begin with an underscore and have no manual page."""
    paths = (ROOT / "src" / "commands").rglob(f"command_{name}.c")
    return any(re.search(r'\.name = "_', path.read_text()) for path in paths)


def trouble(word, name):
    """What a table line lacks."""
    if word == "COMMAND":
        if is_hidden(name):
            return
        # A C name has no dash.
        page = f"man/sparkflame-{name.replace('_', '-')}.1"
        if not (ROOT / page).exists():
            yield f"no {page}"
        return
    if not has_sample(name):
        yield f"no sample in tests/data/{name}/"
    page = ROOT / "man" / "sparkflame-formats.5"
    section = rf'^\.SS "?{name.replace("_", "[-_ ]")}\b'
    if not page.exists() or not re.search(section, page.read_text(), re.MULTILINE | re.IGNORECASE):
        yield f"no .SS {name} in man/sparkflame-formats.5"


def main():
    bad = 0
    for word, table in TABLES:
        for name in names_in(word, table):
            for what in trouble(word, name):
                print(f"{table}: {word}({name}): {what}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
