#!/usr/bin/env python3
"""List the C sources of one folder and the folders in it, for meson.build: list_sources.py FOLDER MACHINE [--tests].

NAME_x86_64.c and NAME_aarch64.c, also with _async_safe or _test after it, are of that architecture only."""

import pathlib
import re
import sys


def is_for(path, machine):
    only = re.search(r"_(x86_64|aarch64)(_async_safe)?(_test)?$", path.stem)
    return only is None or only[1] == machine


def main():
    folder = pathlib.Path(sys.argv[1])
    machine = sys.argv[2]
    tests = "--tests" in sys.argv[3:]
    for path in sorted(folder.rglob("*.c")):
        if path.stem.endswith("_test") == tests and is_for(path, machine):
            print(path)


if __name__ == "__main__":
    main()
