#!/usr/bin/env python3
"""make_packages.py BUILD OUT: make all packages of what is in a build folder.

OUT gets a Python wheel, a Debian package, a tarball, a Maven repository, a bill of materials (CycloneDX) and SHA256SUMS.
SOURCE_DATE_EPOCH, or the date of the last commit, is the date of all files: the same build gives the same bytes."""

import argparse
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

import make_deb
import make_maven
import make_sbom
import make_tarball
import make_wheel
from contents import NAME, ROOT, VERSION, Build


def check_agent(build):
    """The wheel's tag promises which C libraries are enough."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "check_agent.py", build.folder / "libsparkflame.so"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(done.stdout + done.stderr)


def make(build_folder, out):
    build = Build(build_folder)
    check_agent(build)
    bill, notices = make_sbom.bill(build), make_sbom.notices()
    listing = out / f"{NAME}-{VERSION}.cdx.json"
    listing.write_bytes(bill)
    paths = [listing, make_tarball.make(build, notices, bill, out), make_wheel.make(build, notices, bill, out),
             make_deb.make(build, out), *make_maven.make(build, out)]
    names = sorted(str(path.relative_to(out)) for path in paths)
    lines = [f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (out / "SHA256SUMS").write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if options.out.exists() and not (options.out / "SHA256SUMS").exists():
        sys.exit(f"make_packages.py: {options.out} has no SHA256SUMS, so it was not made by this program: not replaced")
    try:
        # What was there stays until all packages are made.
        with tempfile.TemporaryDirectory(dir=options.out.parent) as scratch:
            made = pathlib.Path(scratch) / "packages"
            made.mkdir()
            make(options.build, made)
            shutil.rmtree(options.out, ignore_errors=True)
            made.rename(options.out)
    except (OSError, ValueError) as error:
        sys.exit(f"make_packages.py: {error}")
    print((options.out / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
