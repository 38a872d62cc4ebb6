#!/usr/bin/env python3
"""reproduce.py PACKAGES: build the last commit in a folder of another name, without a compiler cache, and compare its packages
with these."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"reproduce.py: {' '.join(map(str, command))} failed")
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=pathlib.Path)
    packages = parser.parse_args().packages.resolve()
    if run("git", "-C", ROOT, "status", "--porcelain", capture_output=True).stdout:
        sys.exit("reproduce.py: there are changes that are not committed")
    with tempfile.TemporaryDirectory(prefix="another-place-for-sparkflame-") as scratch:
        source = pathlib.Path(scratch) / "source"
        run("git", "clone", "-q", "--no-hardlinks", ROOT, source)
        run("make", "-C", source, "packages", "BUILD=out", env={**os.environ, "CCACHE_DISABLE": "1"}, stdout=subprocess.DEVNULL)
        made = (source / "out" / "packages" / "SHA256SUMS").read_text()
        wanted = (packages / "SHA256SUMS").read_text()
        differing = [line.split("  ")[1] for line in wanted.splitlines() if line not in made.splitlines()]
        if differing:
            shutil.rmtree(packages.with_name("packages-again"), ignore_errors=True)
            shutil.copytree(source / "out" / "packages", packages.with_name("packages-again"))
            sys.exit(f"reproduce.py: they differ, see {packages.with_name('packages-again')}: {', '.join(differing)}")
    print(f"both builds of {len(wanted.splitlines())} files are identical")


if __name__ == "__main__":
    main()
