#!/usr/bin/env python3
"""Compare with FlameGraph's expected results for perf text: FLAMEGRAPH_DIR=checkout flamegraph_perf.py.

Intended differences, each checked to be exactly that:
- a last sample without a blank line after it is kept; stackcollapse-perf.pl drops it;
- Rust's half-decoded names are decoded and lose their hash, as inferno does;
- the results of --pid and --tid of Java files are older than the rule that takes the L off class names.
"""

import re
import sys

from folded_outside import Report, convert, folder_from, totals

OPTIONS = ["pid", "tid", "kernel", "jit", "all", "addrs"]
RUST_HASH = re.compile(r"::h[0-9a-f]{16}(?=[;_ ]|$)")
RUST_ESCAPES = {"$SP$": "@", "$BP$": "*", "$RF$": "&", "$LT$": "<", "$GT$": ">", "$LP$": "(", "$RP$": ")", "$C$": ",",
                "$u7e$": "~", "$u20$": " ", "$u27$": "", "$u5b$": "[", "$u5d$": "]", "$u7b$": "{", "$u7d$": "}"}


def frame_without_rust(frame):
    if not RUST_HASH.search(frame):
        return frame
    frame = RUST_HASH.sub("", frame)
    for mangled, plain in RUST_ESCAPES.items():
        frame = frame.replace(mangled, plain)
    return re.sub(r"^_<", "<", frame.replace("..", "::"))


def line_without_rust(line):
    stack, _, count = line.rpartition(" ")
    return ";".join(map(frame_without_rust, stack.split(";"))) + " " + count


def line_without_java_l(line):
    stack, _, count = line.rpartition(" ")
    frames = [frame[1:] if frame.startswith("L") and "/" in frame else frame for frame in stack.split(";")]
    return ";".join(frames) + " " + count


def compare(report, source, option, expected_path):
    name = f"{source.stem} --{option}"
    text = source.read_bytes()
    expected = expected_path.read_text().splitlines()
    why = None
    if not text.endswith(b"\n\n"):
        code, whole, _ = convert(source, "--" + option, "--kinds")
        cut = text[: text.rindex(b"\n\n") + 2]
        code, got, complaint = convert(source, "--" + option, "--kinds", text=cut)
        if sum(totals(whole).values()) <= sum(totals(got).values()):
            print(f"{name}: the last sample is lost")
            report.bad += 1
        why = "the last sample is kept"
    else:
        code, got, complaint = convert(source, "--" + option, "--kinds")
    if code != 0:
        print(f"{name}: {complaint}")
    if "rust" in source.stem:
        expected = [line_without_rust(line) for line in expected]
        why = "Rust names are decoded"
    if option in ("pid", "tid") and re.search("java|vertx|numa", source.stem):
        fresh = [line_without_java_l(line) if line.startswith("java") else line for line in expected]
        if totals(fresh) != totals(expected):
            expected = fresh
            why = "the expected file is older than the rule for Java names"
    report.case(name, got, expected, why)


def main():
    folder = folder_from("FLAMEGRAPH_DIR")
    report = Report()
    for source in sorted((folder / "test").glob("*.txt")):
        for option in OPTIONS:
            compare(report, source, option, folder / "test" / "results" / f"{source.stem}-collapsed-{option}.txt")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
