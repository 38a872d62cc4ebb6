"""A short run of the soak test (tools/soak_agent.py): no JVM may crash."""

import subprocess
import sys

import pytest

import jvm


@pytest.mark.parametrize("version, collector", [("17", "G1"), ("25", "Z")])
def test_no_harm(version, collector):
    assert jvm.home_of(version)
    done = subprocess.run([sys.executable, jvm.ROOT / "tools" / "soak_agent.py", "--seconds", "30", "--versions", version,
                           "--collectors", collector], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
