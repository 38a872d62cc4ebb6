#!/usr/bin/env python3
"""Check what a formatter does not: sizes of functions, files and rooms, names of structs, banned functions, names of machines."""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_FUNCTION_LINES = 60
MOST_FILE_LINES = 800
# .c and .h files in one folder of src/, tests not counted.
MOST_ROOM_FILES = 60
# Replaces a file of the same name in another build, so its struct is the same.
REPLACEMENTS = ("src", "static_build")
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


def large_rooms(names):
    """Folders of src/ with too many files; a room that outgrew the limit gets sub-rooms."""
    sources = [name for name in names if name.parts[0] == "src" and name.suffix in (".c", ".h")]
    sizes = collections.Counter(name.parent.as_posix() for name in sources if not name.stem.endswith("_test"))
    for room, size in sorted(sizes.items()):
        if size > MOST_ROOM_FILES:
            yield f"{room}: {size} source files (at most {MOST_ROOM_FILES})"


def shared_names(texts):
    """Names that more than one struct, union or enum of src/ has; texts: {name of a file: its C text}."""
    places = collections.defaultdict(list)
    for name, text in sorted(texts.items()):
        if name.parts[0] == "src" and name.parts[:2] != REPLACEMENTS:
            code = without_comments(text)
            for match in re.finditer(r"^[ \t]*(?:\w+[ \t]+)*?(?:struct|union|enum)\s+(\w+)\s*\{", code, re.MULTILINE):
                places[match[1]].append(f"{name}:{code.count(chr(10), 0, match.start()) + 1}")
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield f"{where[1]}: the name {name} is taken by {where[0]}"


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
    paths = committed_files()
    found = [line for path in paths for line in check_file(path)]
    found += large_rooms([path.relative_to(ROOT) for path in paths])
    found += shared_names({path.relative_to(ROOT): path.read_text() for path in paths if path.suffix in (".c", ".h")})
    if found:
        print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
