#!/usr/bin/env python3
"""Compare with inferno's expected results for perf text: INFERNO_DIR=checkout [FLAMEGRAPH_DIR=checkout] inferno_perf.py.

Some of inferno's inputs are FlameGraph's, which it has as a submodule. Quotes are taken out of names, as
stackcollapse-perf.pl does and inferno does not, so they are left out of the comparison.
"""

import os
import pathlib
import sys

from folded_outside import Report, convert, folder_from, without_quotes


def source_of(name, folder):
    """The input that a result "NAME-collapsed[-OPTION].txt" was made from, and the option."""
    stem, _, option = name.removesuffix(".txt").partition("-collapsed")
    places = [folder]
    if os.environ.get("FLAMEGRAPH_DIR"):
        places += [pathlib.Path(os.environ["FLAMEGRAPH_DIR"]) / "test", pathlib.Path(os.environ["FLAMEGRAPH_DIR"])]
    for place in places:
        for ending in (".txt", ".txt.gz"):
            if (place / (stem + ending)).exists():
                return place / (stem + ending), option.removeprefix("-")
    return None, option


def main():
    folder = folder_from("INFERNO_DIR") / "tests" / "data" / "collapse-perf"
    report = Report()
    for result in sorted((folder / "results").glob("*.txt")):
        source, option = source_of(result.name, folder)
        if source is None:
            print(f"no input for {result.name}: set FLAMEGRAPH_DIR")
            continue
        options = ["--" + option] if option else []
        code, got, complaint = convert(source, "--kinds", "--input-format", "perf", *options)
        expected = without_quotes(result.read_text().splitlines())
        if code != 0 and expected:
            print(f"{result.name}: {complaint}")
        report.case(result.name, got, expected)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
