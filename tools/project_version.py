#!/usr/bin/env python3
"""project_version.py: print the version of this source tree. meson.build has it, everything else asks here."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    return re.search(r"^project\('sparkflame'.*?version: '([^']+)'", (ROOT / "meson.build").read_text(), re.DOTALL)[1]


if __name__ == "__main__":
    print(version())
