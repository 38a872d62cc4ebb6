#!/usr/bin/env python3
"""Compare with async-profiler's converter on its own pages: ASYNC_PROFILER_DIR=checkout JFRCONV=jar async_html.py FILE…

It turns recordings (the FILEs, .jfr or .collapsed, and the checkout's samples) into pages, and those back into folded
text; ours of the same page must be equal, but for what we do on purpose: a ';' inside a name becomes ':', and what is
wider than all its visible boxes is said to be left out.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from folded_outside import Report, convert, folder_from


def jfrconv(*arguments):
    command = ["java", "-jar", os.environ["JFRCONV"], *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def main():
    checkout = folder_from("ASYNC_PROFILER_DIR")
    if not os.environ.get("JFRCONV"):
        sys.exit("set JFRCONV to the converter's jar")
    files = sorted((checkout / "test").rglob("*.collapsed")) + [pathlib.Path(each) for each in sys.argv[1:]]
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        page, back = pathlib.Path(name) / "page.html", pathlib.Path(name) / "back.collapsed"
        for path in files:
            for options in ([], ["--reverse"], ["--minwidth", "1"]):
                if not jfrconv("-o", "html", *options, path, page) or not jfrconv("-o", "collapsed", page, back):
                    print(f"the converter itself fails on {path.name}")
                    continue
                ours = [line for line in convert(page, "--kinds")[1] if not line.startswith("[left out] ")]
                theirs = re.sub(r";([0-9a-f]+ \(deleted\))", r":\1", back.read_text(encoding="utf-8")).splitlines()
                report.case(" ".join([path.name, *options]), ours, theirs)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
