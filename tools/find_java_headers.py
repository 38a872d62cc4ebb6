#!/usr/bin/env python3
"""Print the folder of a JDK's jni.h and jvmti.h; nothing when there is none."""

import os
import pathlib
import shutil


def candidates():
    if os.environ.get("JAVA_HOME"):
        yield pathlib.Path(os.environ["JAVA_HOME"])
    for command in ("javac", "java", "jfr"):
        path = shutil.which(command)
        if path:
            yield pathlib.Path(path).resolve().parent.parent


def main():
    for home in candidates():
        if (home / "include" / "jvmti.h").exists():
            print(home / "include")
            return


if __name__ == "__main__":
    main()
