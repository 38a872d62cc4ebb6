"""A Debian package: the dynamically linked command, the agent, the plugin, and a service for the collector."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from contents import DATA, DESCRIPTION, NAME, PROGRAM, ROOT, SUMMARY, VERSION, File, date, gzip_bytes

FOLDER = ROOT / "packaging" / "debian"
# What commands load when they start, and can do without: libraries of the collector, and libcurl for Spark's web UI.
RECOMMENDS = "libmicrohttpd12, libsqlite3-0, libgnutls30, libcurl4"
CONTROL = """Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: sparkflame developers <sparkflame@localhost>
Installed-Size: {kib}
Depends: {depends}
Recommends: {recommends}
Section: devel
Priority: optional
Description: {summary}
{description}
"""


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def stripped(data):
    """Without its table of symbols."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program"
        path.write_bytes(data)
        run("strip", "--strip-unneeded", "--remove-section=.comment", path)
        return path.read_bytes()


def depends(command, agent):
    """The packages whose libraries these two are linked with, in the versions that they need."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "debian").mkdir()
        (folder / "debian" / "control").write_text(f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n")
        (folder / "command").write_bytes(command)
        (folder / "agent").write_bytes(agent)
        text = run("dpkg-shlibdeps", "-O", "--ignore-missing-info", "command", "agent", cwd=folder)
    return re.search(r"^shlibs:Depends=(.+)$", text, re.MULTILINE)[1]


def files(build):
    """All below /usr, but for the defaults of the service."""
    yield File("usr/bin/sparkflame", stripped(build.command), PROGRAM)
    yield File(f"usr/lib/{NAME}/libsparkflame.so", build.agent)
    for file in build.shared_files():
        is_page = file.name.startswith("share/man/")
        yield File(f"usr/{file.name}.gz", gzip_bytes(file.data)) if is_page else File(f"usr/{file.name}", file.data)
    yield File("usr/lib/systemd/system/sparkflame-collector.service", (FOLDER / "sparkflame-collector.service").read_bytes())
    yield File("etc/default/sparkflame-collector", (FOLDER / "sparkflame-collector.default").read_bytes())
    yield File(f"usr/share/doc/{NAME}/copyright", (FOLDER / "copyright").read_bytes())
    yield File(f"usr/share/doc/{NAME}/changelog.gz", gzip_bytes((ROOT / "CHANGELOG.md").read_bytes()))


def control_files(contents, architecture, dependencies):
    size = sum(len(file.data) for file in contents)
    description = "\n".join(f" {line}" for line in DESCRIPTION.strip().splitlines())
    control = CONTROL.format(name=NAME, version=VERSION, architecture=architecture, kib=-(-size // 1024), depends=dependencies,
                             recommends=RECOMMENDS, summary=SUMMARY, description=description)
    yield File("DEBIAN/control", control.encode())
    yield File("DEBIAN/conffiles", b"/etc/default/sparkflame-collector\n")
    sums = "".join(f"{hashlib.md5(file.data, usedforsecurity=False).hexdigest()}  {file.name}\n" for file in contents
                   if not file.name.startswith("etc/"))
    yield File("DEBIAN/md5sums", sums.encode(), DATA)


def make(build, out):
    architecture = run("dpkg", "--print-architecture").strip()
    contents = sorted(files(build), key=lambda file: file.name)
    dependencies = depends(build.command, build.agent)
    path = out / f"{NAME}_{VERSION}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "tree"
        for file in [*contents, *control_files(contents, architecture, dependencies)]:
            target = tree / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)
            target.chmod(file.mode)
        for folder in [tree, *(path for path in tree.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)
        made = pathlib.Path(scratch) / path.name
        run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, made, env={**os.environ, "SOURCE_DATE_EPOCH": str(date())})
        shutil.copyfile(made, path)
    return path
