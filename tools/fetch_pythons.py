#!/usr/bin/env python3
"""Fetch the CPython versions that the sampler is tested with into build/pythons, once each: fetch_pythons.py [VERSION…].

They come as jars from the repositories that Maven is set up with; a version that cannot be fetched is an error. 3.8 was
never published there, and Debian 12 does not have it. The machine's own is used (pyenv's, or /usr/bin/python3.8), else
Ubuntu 20.04's, which runs on Debian: from the mirror of Ubuntu's archive that SPARKFLAME_UBUNTU names (its directory
"ubuntu"), else from the servers that apt uses, since many that have Debian also have Ubuntu. Where none of these has it,
the tests leave 3.8 out and report that.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(os.environ.get("SPARKFLAME_PYTHONS", ROOT / "build" / "pythons"))
PLUGIN = "maven-dependency-plugin"
PLUGIN_VERSION = "3.6.1"
# One run of Maven copies all jars: its start takes longer than a copy.
PROJECT = """<project><modelVersion>4.0.0</modelVersion><groupId>pythons</groupId><artifactId>pythons</artifactId>
<version>1</version><packaging>pom</packaging><build><plugins><plugin><artifactId>{plugin}</artifactId>
<version>{version}</version><configuration><outputDirectory>{folder}</outputDirectory>
<artifactItems>{items}</artifactItems></configuration></plugin></plugins></build></project>
"""
ITEM = """<artifactItem><groupId>org.bytedeco</groupId><artifactId>cpython</artifactId><version>{}</version>
<classifier>linux-x86_64</classifier></artifactItem>"""
# Version of CPython: version of the artifact.
ARTIFACTS = {
    "3.9": "3.9.6-1.5.6",
    "3.10": "3.10.8-1.5.8",
    "3.11": "3.11.3-1.5.9",
    "3.12": "3.12.1-1.5.10",
    "3.13": "3.13.5-1.5.12",
    "3.14": "3.14.3-1.5.13",
}
# 3.8: packages of Ubuntu 20.04 and their SHA-256.
PACKAGED = "3.8"
PACKAGES_AT = "pool/main/p/python3.8"
PACKAGES = {
    "libpython3.8-minimal_3.8.2-1ubuntu1_amd64.deb": "70686b82fdbc4dd1514c30bdff299ab6bc4f6e4a3a0d3f50c324d64720d25378",
    "libpython3.8-stdlib_3.8.2-1ubuntu1_amd64.deb": "6e455e429ee3dec44cf1440ea91c9cde4c03cf5e4a06e54b0d5b5d8b95b7de03",
    "python3.8-minimal_3.8.2-1ubuntu1_amd64.deb": "b3f1fe647f9af294a184449845ea7f9b5f144c7e9fbfc8b7daf77288af86f131",
}
INSIDE = "org/bytedeco/cpython/linux-x86_64/"
# Fetches as apt does: through its proxy, and only what has the hash that is asked for.
APT_HELPER = "/usr/lib/apt/apt-helper"
ATTEMPTS = 3


def find_own(version):
    """An installed interpreter of that version, or None."""
    installed = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    found = shutil.which(f"/usr/bin/python{version}")
    return installed[-1] if installed else found and pathlib.Path(found)


def versions():
    return [PACKAGED, *ARTIFACTS]


def program(version):
    return FOLDER / version / "bin" / f"python{version}"


def download(versions, folder):
    """Their jars, in a folder."""
    project = pathlib.Path(folder) / "pom.xml"
    items = "".join(ITEM.format(ARTIFACTS[version]) for version in versions)
    project.write_text(PROJECT.format(plugin=PLUGIN, version=PLUGIN_VERSION, folder=folder, items=items))
    command = ["mvn", "-q", "-B", "-f", project, f"org.apache.maven.plugins:{PLUGIN}:{PLUGIN_VERSION}:copy"]
    for attempt in range(ATTEMPTS):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return [pathlib.Path(folder) / f"cpython-{ARTIFACTS[version]}-linux-x86_64.jar" for version in versions]
    sys.exit(f"cannot fetch Python {', '.join(versions)} (org.bytedeco:cpython):\n{done.stdout}{done.stderr}")


def unpack(jar, folder):
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith(INSIDE) and not name.endswith("/") and "/test/" not in name and "/include/" not in name:
                path = folder / name[len(INSIDE):]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
    for path in (folder / "bin").iterdir():
        path.chmod(0o755)


def find_mirrors():
    """Addresses of Ubuntu's archive: SPARKFLAME_UBUNTU, else apt's servers."""
    named = os.environ.get("SPARKFLAME_UBUNTU", "").rstrip("/")
    if named:
        return [named]
    done = subprocess.run(["apt-get", "update", "--print-uris"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    servers = re.findall(r"^'(\S+)/(?:debian|ubuntu)/dists/", done.stdout, re.MULTILINE)
    return [f"{server}/ubuntu" for server in dict.fromkeys(servers)]


def download_package(mirror, name, folder):
    """Gives what went wrong, or nothing."""
    command = [APT_HELPER, "download-file", f"{mirror}/{PACKAGES_AT}/{name}", f"{folder}/{name}", f"SHA256:{PACKAGES[name]}"]
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(2)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
    return done.stderr


def download_packages(folder):
    """From the first mirror that has them."""
    tried = []
    for mirror in find_mirrors():
        failed = next(filter(None, (download_package(mirror, name, folder) for name in PACKAGES)), "")
        if not failed:
            return
        tried.append(f"{mirror}:\n{failed}")
    sys.exit(f"there is no Python {PACKAGED} here, nor Ubuntu 20.04's to fetch: install one with pyenv, or let "
             f"SPARKFLAME_UBUNTU name the folder of a mirror of Ubuntu's archive\n{''.join(tried) or 'apt has no server'}")


def unpack_packages(scratch):
    """The programs and libraries below usr, which find each other wherever they are."""
    download_packages(scratch)
    for name in PACKAGES:
        subprocess.run(["dpkg-deb", "-x", pathlib.Path(scratch) / name, scratch], check=True)
    return pathlib.Path(scratch) / "usr"


def move(unpacked, version):
    """Into its place."""
    shutil.rmtree(FOLDER / version, ignore_errors=True)
    try:
        unpacked.rename(FOLDER / version)
    except OSError:  # another process was faster
        if not program(version).exists():
            raise


def fetch_missing(versions):
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        published = [version for version in versions if version != PACKAGED]
        for version, jar in zip(published, download(published, scratch) if published else ()):
            unpack(jar, pathlib.Path(scratch) / version)
            move(pathlib.Path(scratch) / version, version)
        if PACKAGED in versions:
            move(unpack_packages(scratch), PACKAGED)


def fetch_all(versions):
    """The interpreters' programs; fetched when they are not there yet."""
    programs = {version: version == PACKAGED and find_own(version) or program(version) for version in versions}
    missing = [version for version in versions if not programs[version].exists()]
    if missing:
        fetch_missing(missing)
    return programs


def fetch(version):
    return fetch_all([version])[version]


def main():
    for path in fetch_all(sys.argv[1:] or versions()).values():
        print(path)


if __name__ == "__main__":
    main()
