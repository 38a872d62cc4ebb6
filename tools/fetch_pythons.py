#!/usr/bin/env python3
"""Fetch the CPythons that the sampler is tested with into build/pythons, once each: fetch_pythons.py [VERSION…].

They come as jars from the repositories that Maven is set up with; a version that cannot be had is an error. 3.8 was
never published there, so one that the machine has is used (of pyenv, or /usr/bin/python3.8); without one it is left out.
Debian never had it; Ubuntu 20.04's archive does.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(os.environ.get("SPARKFLAME_PYTHONS", ROOT / "build" / "pythons"))
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
# Version of CPython: version of the artifact.
ARTIFACTS = {
    "3.9": "3.9.6-1.5.6",
    "3.10": "3.10.8-1.5.8",
    "3.11": "3.11.3-1.5.9",
    "3.12": "3.12.1-1.5.10",
    "3.13": "3.13.5-1.5.12",
    "3.14": "3.14.3-1.5.13",
}
LEFT_OUT = "3.8"
INSIDE = "org/bytedeco/cpython/linux-x86_64/"
ATTEMPTS = 3


def find_own(version):
    """An interpreter of that version that this machine has; None when it has none."""
    installed = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    found = shutil.which(f"/usr/bin/python{version}")
    return installed[-1] if installed else found and pathlib.Path(found)


def versions():
    """All that can be tested here."""
    return ([LEFT_OUT] if find_own(LEFT_OUT) else []) + list(ARTIFACTS)


def program(version):
    return FOLDER / version / "bin" / f"python{version}"


def download(artifact, folder):
    command = ["mvn", "-q", "-B", PLUGIN, f"-Dartifact=org.bytedeco:cpython:{artifact}:jar:linux-x86_64",
               f"-DoutputDirectory={folder}"]
    for attempt in range(ATTEMPTS):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return next(pathlib.Path(folder).glob("*.jar"))
    sys.exit(f"cannot fetch org.bytedeco:cpython:{artifact}:\n{done.stdout}{done.stderr}")


def unpack(jar, folder):
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith(INSIDE) and not name.endswith("/") and "/test/" not in name and "/include/" not in name:
                path = folder / name[len(INSIDE):]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
    for path in (folder / "bin").iterdir():
        path.chmod(0o755)


def fetch(version):
    """The interpreter's program; fetched when it is not there yet."""
    if version == LEFT_OUT:
        return find_own(version)
    if program(version).exists():
        return program(version)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        jar = download(ARTIFACTS[version], scratch)
        unpacked = pathlib.Path(scratch) / "unpacked"
        unpack(jar, unpacked)
        shutil.rmtree(FOLDER / version, ignore_errors=True)
        try:
            unpacked.rename(FOLDER / version)
        except OSError:  # another process was faster
            if not program(version).exists():
                raise
    return program(version)


def main():
    for version in sys.argv[1:] or versions():
        print(fetch(version))


if __name__ == "__main__":
    main()
