#!/usr/bin/env python3
"""Check what a formatter does not: sizes of functions and files, banned functions, names of machines."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_FUNCTION_LINES = 80
MOST_FILE_LINES = 800
BANNED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol|atof)\s*\(")
# Written in parts, so that this file does not find itself.
MACHINE_NAMES = re.compile("|".join([
    r"(?<![\w.])/wo" + r"rk/", r"/check" + r"/work", r"registry\.npm" + r"js\.org", r"pypi\." + r"org",
    r"files\.python" + r"hosted", r"repo1?\.maven", r"deb\.deb" + r"ian\.org", r"static\.crates", r"proxy\.go" + r"lang"]))
TEXT_SUFFIXES = {".c", ".h", ".def", ".py", ".sh", ".ts", ".js", ".mjs", ".json", ".md", ".build", ".txt", ".java",
                 ".xml", ".html", ".css", ".ini", ".toml", ".1", ".5", ".yml", ".scala", ""}


def committed_files():
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout.decode()
    return [ROOT / name for name in sorted(names.split("\0")) if name and (ROOT / name).is_file()]


def without_comments(text):
    """The C text with comments and string contents blanked, lines kept."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def long_functions(lines):
    """(line, name, length) of functions over the limit: a body opens and closes in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            if number - start - 1 > MOST_FUNCTION_LINES:
                yield start, number - start - 1
            start = None


def check_c(name, text):
    found = []
    code = without_comments(text).splitlines()
    for line, length in long_functions(code):
        found.append(f"{name}:{line}: a function of {length} lines (at most {MOST_FUNCTION_LINES})")
    for number, line in enumerate(code, 1):
        banned = BANNED.search(line)
        if banned:
            found.append(f"{name}:{number}: {banned[1]}() is banned")
        if "\t" in line:
            found.append(f"{name}:{number}: a tab")
    return found


def check_file(path):
    name = path.relative_to(ROOT)
    if path.suffix not in TEXT_SUFFIXES or name.parts[:2] == ("tests", "data"):
        return []
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return []
    found = []
    lines = text.splitlines()
    is_code = path.suffix in (".c", ".h", ".py", ".ts", ".java", ".mjs", ".js", ".sh")
    if is_code and len(lines) > MOST_FILE_LINES:
        found.append(f"{name}: {len(lines)} lines (at most {MOST_FILE_LINES})")
    for number, line in enumerate(lines, 1):
        machine = MACHINE_NAMES.search(line)
        if machine:
            found.append(f"{name}:{number}: names a machine: {machine[0]}")
    if path.suffix in (".c", ".h"):
        found += check_c(name, text)
    return found


def main():
    found = [line for path in committed_files() for line in check_file(path)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
