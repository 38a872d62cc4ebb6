"""What the packages contain, and how archives are written so that the same files give the same bytes."""

import dataclasses
import gzip
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import project_version  # noqa: E402

NAME = "sparkflame"
VERSION = project_version.version()
SUMMARY = "Profiles Apache Spark applications: flame graphs and advice from JVMs and Python workers"
DESCRIPTION = """sparkflame records where the executors, drivers and Python workers of Apache Spark spend their time, labels
samples with application, stage and task, and makes flame graphs, reports and advice of them and of event logs.
"""
LICENSE = "Apache-2.0"
# A zip file cannot have an earlier date.
EARLIEST_ZIP_DATE = 315532800
PROGRAM, DATA = 0o755, 0o644


@dataclasses.dataclass(frozen=True)
class File:
    """One file of a package: its name in there, from the top."""
    name: str
    data: bytes
    mode: int = DATA


def date():
    """Seconds since 1970 that all files of all packages have: SOURCE_DATE_EPOCH, or when the last commit was made."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        done = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        given = done.stdout.strip() or str(EARLIEST_ZIP_DATE)
    if not given.isdigit():
        raise ValueError(f"SOURCE_DATE_EPOCH={given}: not a number of seconds")
    return max(int(given), EARLIEST_ZIP_DATE)


def calendar_date():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date()))


class Build:
    """The results of a build folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.command = self._read("sparkflame")
        self.static_command = self._read("sparkflame-static")
        self.agent = self._read("libsparkflame.so")
        self.plugin = self._read("sparkflame-plugin.jar")
        self.profilers = self._read("pyspark_profilers.zip")

    def _read(self, name):
        path = self.folder / name
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: run `make build static`")
        return path.read_bytes()

    def shared_files(self):
        """What belongs into share/, wherever that is."""
        yield File(f"share/{NAME}/sparkflame-plugin.jar", self.plugin)
        yield File(f"share/{NAME}/pyspark_profilers.zip", self.profilers)
        yield File(f"share/{NAME}/questions.sql", (ROOT / "sql" / "questions.sql").read_bytes())
        for page in sorted((ROOT / "man").glob("*.[15]")):
            yield File(f"share/man/man{page.suffix[1:]}/{page.name}", page.read_bytes())
        for name, folder in (("sparkflame.bash", "bash-completion/completions"), ("_sparkflame", "zsh/site-functions"),
                             ("sparkflame.fish", "fish/vendor_completions.d")):
            yield File(f"share/{folder}/{name}", self._read(name))


def zip_bytes(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.name, time.gmtime(date())[:6])
            entry.external_attr = (0o100000 | file.mode) << 16
            entry.create_system = 3  # Unix, whose modes pip respects
            archive.writestr(entry, file.data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def gzip_bytes(data):
    """Without name and date of the file."""
    return gzip.compress(data, 9, mtime=0)


def tar_gz_bytes(top, files):
    """The files and their folders below one folder, owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        files = {f"{top}/{file.name}": file for file in files}
        folders = {str(parent) for name in files for parent in pathlib.PurePosixPath(name).parents if parent.name}
        for name in sorted([*folders, *files]):
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.uname, entry.gname = date(), "root", "root"
            if name in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(files[name].data), files[name].mode
                archive.addfile(entry, io.BytesIO(files[name].data))
    return gzip_bytes(buffer.getvalue())
