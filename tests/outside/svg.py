#!/usr/bin/env python3
"""Boxes of our SVG pictures against inferno's own expected pictures: name, place, width and level of each.

    INFERNO_SOURCE=…/inferno FLAMEGRAPH_DIR=…/FlameGraph tests/outside/svg.py [NAME…]

Cases, inputs and expected pictures are read from inferno's tests; nothing of them is kept here. Differences on
purpose stand in differences.tsv with their reasons.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from svg_boxes import read_boxes  # noqa: E402

BINARY = os.environ.get("SPARKFLAME", HERE.parent.parent / "build" / "sparkflame")
OPTIONS = [
    (r"reverse_stack_order = true", ["--reverse"]),
    (r"Direction::Inverted", ["--inverted"]),
    (r"flame_chart = true", ["--flamechart"]),
    (r"negate_differentials = true", ["--negate"]),
    (r"factor = ([\d.]+)", ["--factor"]),
]


def cases(source):
    """(name, input paths, expected path, options) of each test that compares a picture."""
    text = (source / "tests" / "flamegraph.rs").read_text()
    for test in re.split(r"#\[test\]", text)[1:]:
        name = re.search(r"fn (\w+)", test).group(1)
        if "test_flamegraph" not in test or "_logs" in test or name.endswith("_cli") or ".unwrap_err()" in test:
            continue
        paths = re.findall(r"\"(\./[^\"]+)\"", test)
        expected = [path for path in paths if path.endswith(".svg")]
        inputs = [path for path in paths if re.search(r"\.(txt|folded|collapsed)$", path) and "nameattr/" not in path]
        if len(expected) == 1 and inputs and "{}" not in expected[0]:
            attributes = [path for path in paths if re.search(r"nameattr/.*\.txt$", path)]
            yield name, inputs, expected[0], options_of(test) + [word for path in attributes
                                                                 for word in ("--nameattr", source / path)]


def options_of(test):
    found = []
    for pattern, option in OPTIONS:
        match = re.search(pattern, test)
        if match:
            found += option + list(match.groups())
    for base in re.findall(r"base = vec!\[([^\]]*)\]", test):
        for name in re.findall(r"\"([^\"]+)\"", base):
            found += ["--base", f"^{name}$"]
    return found


def locate(path, source, flamegraph):
    if path.startswith("./flamegraph/"):
        return flamegraph / path[len("./flamegraph/"):]
    return source / path


def compare(ours, theirs):
    ours, theirs = collections.Counter(ours), collections.Counter(theirs)
    return list((theirs - ours).elements()), list((ours - theirs).elements())


def known_differences():
    rows = (HERE / "differences.tsv").read_text().splitlines()
    return {tuple(row.split("\t")[:2]): row.split("\t")[2] for row in rows if row and not row.startswith("#")}


def main():
    source, flamegraph = (pathlib.Path(os.environ[name]) for name in ("INFERNO_SOURCE", "FLAMEGRAPH_DIR"))
    same = meant = failed = 0
    known = known_differences()
    for name, inputs, expected, options in cases(source):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        paths = [locate(path, source, flamegraph) for path in inputs]
        run = subprocess.run([BINARY, "flame", "-q", "-f", "svg", *options, *paths], capture_output=True, check=False,
                             stdin=subprocess.DEVNULL)
        if run.returncode == 0:
            missing, extra = compare(read_boxes(run.stdout), read_boxes((source / expected).read_bytes()))
        else:
            missing, extra = [run.stderr.decode().strip()], []
        if not missing and not extra:
            same += 1
        elif ("svg", name) in known:
            meant += 1
            print(f"on purpose {name}: {known['svg', name]}")
        else:
            failed += 1
            print(f"FAILED {name} {' '.join(map(str, options))}: {len(missing)} missing, {len(extra)} extra")
            for box in missing[:3]:
                print(f"    missing {box}")
            for box in extra[:3]:
                print(f"    extra   {box}")
    print(f"SVG boxes: {same} the same, {meant} different on purpose, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
