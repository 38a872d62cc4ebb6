#!/usr/bin/env python3
"""List what the page is made of, relative to this folder, for meson.build."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent

for path in sorted([*FOLDER.glob("src/*.ts"), FOLDER / "page.html", *FOLDER.glob("*.css")]):
    print(path.relative_to(FOLDER))
