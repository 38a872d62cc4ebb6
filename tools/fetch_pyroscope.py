#!/usr/bin/env python3
"""fetch_pyroscope.py : bring Pyroscope's agents for Java (Maven) and Python (PyPI) into build/jars/pyroscope and print that
folder. Existing ones are not fetched again."""

import pathlib
import sys
import tempfile

from fetch_jars import FOLDER, copy
from fetch_spark import move, run

JAVA = "io.pyroscope:agent:2.9.2"
PYTHON = "pyroscope-io==1.4.0"


def fetch():
    """(the jar, a folder for PYTHONPATH); OSError if they cannot be fetched."""
    target = FOLDER / "pyroscope"
    if not target.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            folder = pathlib.Path(scratch) / "pyroscope"
            folder.mkdir()
            copy(JAVA, folder)
            run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder / "python", PYTHON])
            move(folder, target)
    return next(target.glob("agent-*.jar")), target / "python"


def main():
    try:
        print(fetch()[0].parent)
    except OSError as error:
        sys.exit(f"fetch_pyroscope.py: {error}")


if __name__ == "__main__":
    main()
