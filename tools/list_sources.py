#!/usr/bin/env python3
"""List the C sources of one folder and the folders in it, for meson.build: list_sources.py FOLDER [--tests]."""

import pathlib
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    tests = "--tests" in sys.argv[2:]
    for path in sorted(folder.rglob("*.c")):
        if path.stem.endswith("_test") == tests:
            print(path)


if __name__ == "__main__":
    main()
