#!/usr/bin/env python3
"""pack_python.py FOLDER OUT: a Python package as a zip for Spark's --py-files; the same zip from the same files."""

import os
import pathlib
import sys
import zipfile

DATE = (1980, 1, 1, 0, 0, 0)


def main(folder, out):
    folder = pathlib.Path(folder)
    with zipfile.ZipFile(f"{out}.new", "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(folder.rglob("*.py")):
            target.writestr(zipfile.ZipInfo(str(path.relative_to(folder.parent)), DATE), path.read_bytes(),
                            zipfile.ZIP_DEFLATED)
    os.replace(f"{out}.new", out)


if __name__ == "__main__":
    main(*sys.argv[1:])
