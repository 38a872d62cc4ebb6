#!/usr/bin/env python3
"""check_agent.py LIBRARY: fail when it needs any library but libc and the loader, or a glibc newer than 2.17."""

import re
import subprocess
import sys

ALLOWED = re.compile(r"^(libc\.so\.6|ld-linux-[\w-]+\.so\.\d+|libc\.musl-\w+\.so\.\d+)$")


NEWEST_GLIBC = (2, 17)


def read(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, check=True, text=True, stdin=subprocess.DEVNULL).stdout


def main():
    library = sys.argv[1]
    wrong = [f"needs {name}" for name in re.findall(r"\(NEEDED\).*\[(.+)\]", read("-d", library)) if not ALLOWED.match(name)]
    for symbol, version in re.findall(r"UND (\w+)@GLIBC_([\d.]+)", read("--dyn-syms", library)):
        if tuple(map(int, version.split("."))) > NEWEST_GLIBC:
            wrong.append(f"needs {symbol} of glibc {version}: add it to src/jvm_agent/old_libc.c")
    for line in wrong:
        print(library, line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
