#!/usr/bin/env python3
"""check_agent.py LIBRARY: fail when it needs any library but libc and the loader."""

import re
import subprocess
import sys

ALLOWED = re.compile(r"^(libc\.so\.6|ld-linux-[\w-]+\.so\.\d+|libc\.musl-\w+\.so\.\d+)$")


def main():
    output = subprocess.run(["readelf", "-d", sys.argv[1]], capture_output=True, check=True, text=True,
                            stdin=subprocess.DEVNULL).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output)
    extra = [name for name in needed if not ALLOWED.match(name)]
    for name in extra:
        print(f"{sys.argv[1]} needs {name}")
    return 1 if extra else 0


if __name__ == "__main__":
    sys.exit(main())
