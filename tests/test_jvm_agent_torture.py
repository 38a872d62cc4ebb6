"""A short run of the torture test (tools/torture_agent.py): several profilers in one JVM."""

import subprocess
import sys

import jvm


def test_no_harm():
    done = subprocess.run([sys.executable, jvm.ROOT / "tools" / "torture_agent.py", "--versions", "17", "--orders", "1", "--cycles",
                           "2"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
