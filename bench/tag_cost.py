#!/usr/bin/env python3
"""Measure what the Spark plugin's tag costs each task: its text is made, set and cleared on the task's thread."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
import jvm  # noqa: E402

PLUGIN = HERE.parent / "build" / "sparkflame-plugin.jar"


def main():
    home = jvm.system_home()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([home / "bin" / "javac", "-cp", PLUGIN, "-d", folder, HERE / "java" / "org" / "sparkflame" / "TagCost.java"],
                       check=True, stdin=subprocess.DEVNULL)
        subprocess.run([home / "bin" / "java", "-cp", f"{folder}:{PLUGIN}", "org.sparkflame.TagCost", jvm.LIBRARY,
                        f"{folder}/out.jfr"], check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
