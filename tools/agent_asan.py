#!/usr/bin/env python3
"""The live tests of the agent, with an agent built with the address and undefined-behaviour sanitizers.

agent_asan.py [TEST…]: files of tests/ (default: all of the agent's), or what else pytest takes. The library is built with gcc
into build-agent-asan/, and the sanitizers' own libraries are preloaded into every process. HotSpot takes SIGSEGV for itself, so
they must leave it alone. Ends with what they found; exit code 1 when there is anything, or a test failed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from test_results import ROOT, run
from test_steps import JOBS, meson_setup

FOLDER = "build-agent-asan"
# Without -Werror: gcc's warnings are often wrong about code with sanitizers.
SETUP = ("--buildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dwerror=false")

# ZGC wants the addresses at which the sanitizer keeps its shadow, and does not start even without our library; and
# readdir64 is the sanitizer's own, so that the breakpoint at libc's is never reached.
IMPOSSIBLE = [f"--deselect={folder}{test}" for folder in ("", "tests/")  # pytest's root may be either
              for test in ("test_jvm_agent.py::test_other_engines_and_modes[event=ctimer,interval=1ms-options3]",
                           "test_jvm_agent_soak.py::test_no_harm[25-Z]",
                           "test_jvm_agent_perf.py::test_a_function_as_an_event")]


def build():
    for command in (lambda: meson_setup(FOLDER, *SETUP), lambda: run(["ninja", "-C", FOLDER, f"-j{JOBS}", "libsparkflame.so"])):
        status, output = command()
        if status != 0:
            sys.exit(output)


def libraries():
    names = ("libasan.so", "libubsan.so")
    return [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
            for name in names]


def main():
    tests = sys.argv[1:] or [str(path) for path in sorted((ROOT / "tests").glob("test_jvm_agent*.py"))]
    build()
    with tempfile.TemporaryDirectory() as name:
        log = f"log_path={name}/finding"
        environment = {**os.environ, "SPARKFLAME_AGENT": str(ROOT / FOLDER / "libsparkflame.so"), "LD_PRELOAD": ":".join(libraries()),
                       "ASAN_OPTIONS": f"handle_segv=0:handle_sigbus=0:detect_leaks=0:allow_user_segv_handler=1:{log}",
                       "UBSAN_OPTIONS": f"print_stacktrace=1:{log}"}
        status = subprocess.run([sys.executable, "-m", "pytest", "-q", *IMPOSSIBLE, *tests], cwd=ROOT, env=environment, check=False,
                                stdin=subprocess.DEVNULL).returncode
        findings = [path.read_text(errors="replace") for path in sorted(pathlib.Path(name).glob("finding*"))]
    for finding in findings:
        print(finding)
    print(f"{len(findings)} processes with findings of the sanitizers")
    sys.exit(1 if status != 0 or findings else 0)


if __name__ == "__main__":
    main()
