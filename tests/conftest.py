"""What every test of the command shares."""

import os
import pathlib
import subprocess

import pytest

TESTS = pathlib.Path(__file__).resolve().parent
# Only against a hang: no test waits for a time to pass.
LIMIT_SECONDS = 600


def pytest_make_parametrize_id(val):
    """Bytes in the name of a test: by their number where they are long. Contents may differ in the workers of pytest-xdist, as gzip has a time."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > 60 else None


@pytest.fixture(scope="session")
def binary():
    """The built command; SPARKFLAME names another one."""
    path = pathlib.Path(os.environ.get("SPARKFLAME", TESTS.parent / "build" / "sparkflame"))
    assert path.exists(), f"{path} is not built: make build"
    return path


@pytest.fixture(scope="session")
def data():
    """The folder of sample data."""
    return TESTS / "data"


@pytest.fixture
def sparkflame(binary, tmp_path):
    """Run the command: sparkflame("convert", path, stdin=b"…") gives its status and both streams as bytes."""
    def call(*arguments, stdin=b"", cwd=tmp_path, env=None):
        return subprocess.run([str(binary), *map(str, arguments)], input=stdin, capture_output=True, cwd=cwd,
                              env={**os.environ, **(env or {})}, timeout=LIMIT_SECONDS, check=False)
    return call
