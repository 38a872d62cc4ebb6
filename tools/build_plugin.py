#!/usr/bin/env python3
"""The parts of sparkflame-plugin.jar.

build_plugin.py classes FOLDER JAR      compile spark_plugin/ with Maven, in FOLDER, into JAR
build_plugin.py pack JAR LIBRARY… OUT   that jar with libsparkflame.so in it, one for each architecture
build_plugin.py test FOLDER             run its unit tests
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

from project_version import version

ROOT = pathlib.Path(__file__).resolve().parent.parent
ATTEMPTS = 3
# The same jar from the same contents.
DATE = (1980, 1, 1, 0, 0, 0)
# e_machine of ELF
MACHINES = {62: "x86_64", 183: "aarch64"}


def maven(folder, *goals):
    """Offline if everything is there; else online, with up to three attempts."""
    command = ["mvn", "-q", "-B", "-f", ROOT / "spark_plugin" / "pom.xml", f"-Dbuild.folder={folder}",
               f"-Drevision={version()}", *goals]
    for options in (["-o"], *[[]] * ATTEMPTS):
        done = subprocess.run([*map(str, command), *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0 or "COMPILATION ERROR" in done.stdout or "There are test failures" in done.stdout:
            break
    sys.stdout.write(done.stdout)
    return done.returncode


def classes(folder, jar):
    folder = pathlib.Path(folder).resolve()
    shutil.rmtree(folder / "classes", ignore_errors=True)
    status = maven(folder, "-DskipTests", "package")
    if status == 0:
        shutil.copyfile(folder / "sparkflame-plugin-classes.jar", jar)
    return status


def machine_of(library):
    """The architecture of an ELF file, as os.arch and uname name it."""
    header = library[:20]
    machine = MACHINES.get(int.from_bytes(header[18:20], "little")) if header[:6] == b"\x7fELF\x02\x01" else None
    if machine is None:
        raise ValueError("not a library for Linux on x86_64 or aarch64")
    return machine


def pack(jar, *arguments):
    *paths, out = arguments
    libraries = {}
    for path in paths:
        library = pathlib.Path(path).read_bytes()
        try:
            name = f"org/sparkflame/linux-{machine_of(library)}/libsparkflame.so"
        except ValueError as error:
            sys.exit(f"build_plugin.py: {path}: {error}")
        if name in libraries:
            sys.exit(f"build_plugin.py: {path}: a second library for the same architecture")
        libraries[name] = library
    with zipfile.ZipFile(jar) as source, zipfile.ZipFile(f"{out}.new", "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(name for name in source.namelist() if not name.endswith("/")):
            target.writestr(zipfile.ZipInfo(name, DATE), source.read(name), zipfile.ZIP_DEFLATED)
        for name, library in sorted(libraries.items()):
            target.writestr(zipfile.ZipInfo(name, DATE), library, zipfile.ZIP_DEFLATED)
    os.replace(f"{out}.new", out)  # a Spark that runs keeps its own
    return 0


def test(folder):
    return maven(pathlib.Path(folder).resolve(), "test")


if __name__ == "__main__":
    sys.exit({"classes": classes, "pack": pack, "test": test}[sys.argv[1]](*sys.argv[2:]))
