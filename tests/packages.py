"""Packages as users have them: made from the build, then installed."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAKE = ROOT / "packaging" / "make_packages.py"
LIMIT_SECONDS = 300
# The date of all files.
EPOCH = "1767268800"

sys.path.insert(0, str(ROOT / "tools"))
import project_version  # noqa: E402

VERSION = project_version.version()


def run(*command, check=True, **more):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=LIMIT_SECONDS, **more)
    assert not check or done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done


def make(build, out, **more):
    """Make all packages of the build folder."""
    run(sys.executable, MAKE, build, out, **{"env": {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, **more})
    return out


def one(folder, pattern):
    """The only file with such a name."""
    (path,) = folder.glob(pattern)
    return path


def install_wheel(packages, folder):
    """A virtual environment with the wheel and nothing else."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(sys.executable, "-m", "pip", "--python", folder / "bin" / "python3", "install", "--no-index", "--no-deps", "-q",
        one(packages, "*.whl"))
    return folder
