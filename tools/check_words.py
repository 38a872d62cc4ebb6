#!/usr/bin/env python3
"""Reject phrasings that docs/GLOSSARY.md replaces, and comments wider than 120 columns.

A line of code may be wider (clang-format decides), data and other tools' words are exempt, see ALLOWED_*.
"""

import re
import sys

from check_style import ROOT, committed_files

MOST_COLUMNS = 120
# Measurements and changes of the past, the words' own list, sample data.
ALLOWED_PATHS = ("bench/HISTORY.md", "docs/GLOSSARY.md", "tools/check_words.py", "tests/data/", "tests/expected/", "fuzz/seeds/", "LICENSE")
PROSE = {".md", ".1", ".5", ".txt"}
CODE = {".c", ".h", ".def", ".py", ".ts", ".mjs", ".js", ".java", ".sh", ".build", ".html", ".css"}
# (phrasing, what to write instead)
BANNED = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in [
    (r"(?-i:\bPythons\b)", "Python processes"),
    (r"\bto Spark, (and|it)\b|\bwhat they are to\b|\bwhat it is to Spark\b", "Spark role"),
    (r"\b(is|are|was|were|be|been|not) told\b(?! (otherwise|apart))", "is logged, is reported"),
    (r"\b(say|says|said) so\b", "reports it, logs it"),
    (r"\bits? tells\b|\btells? (of|what|which|whether|how|no|nothing)\b", "describes, reports, shows"),
    (r"\bdear (records?|rows?|ones?|calls?)\b", "expensive"),
    (r"\b(is|are|was|were|be|it|gets|stays) packed\b|\bpacked (with|by|files?|bytes|data|logs?)\b", "compressed"),
    (r"\bpassed over\b", "skip"),
    (r"\bsomething else than\b|\bnothing else than\b|\banything else than\b", "other than"),
    (r"(?<!there )\bis no (JVM|Python|text|log|name|number|file|folder|time|error|key|format|duration|width|size|event)\b", "is not a"),
    (r"\bso that (nobody|no one)\b", "so that no one: say what happens"),
    (r"\bas it were\b", "leave it out"),
    (r"\bturn(ed|s)? round\b", "invert"),
    (r"\bto look at it\b", "to inspect it"),
    (r"\bleast level\b", "minimum level"),
    (r"\bwhere to\?|\bwhich process\?|\bwhich JVM\?", "no output file, no process given"),
    (r"\bthe ending (tells|picks|says)\b|\bits ending picks\b", "the extension selects"),
    (r"\b(the|its|their) begin\b(?!\()", "start"),
    (r"\bsays? more\b", "See … for details"),
    (r"\bof which [A-Z]+ tells\b", "name it"),
    (r"\bfor want of\b", "for lack of"),
    (r"\bgoes? by itself\b|\bcomes? by itself\b", "automatic"),
    (r"\btell(s|ing)? apart\b|\btold apart\b", "distinguish"),
]]


def comment_lines(path, text):
    """(number, line) of lines that are prose: all of a document, comments of code."""
    marks = {"c": r"\s*(/\*|\*|//)", "py": r"\s*#", "xml": r"\s*<!--"}
    mark = re.compile(marks["py"] if path.suffix in (".py", ".sh", ".build") else marks["c"])
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if mark.match(line)]


def check(path):
    name = str(path.relative_to(ROOT))
    if name.startswith(ALLOWED_PATHS) or path.suffix not in PROSE | CODE:
        return
    text = path.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in BANNED:
            found = pattern.search(line)
            if found:
                yield f"{name}:{number}: \"{found[0]}\": {instead}"
    if path.suffix in CODE:
        for number, line in comment_lines(path, text):
            if len(line) > MOST_COLUMNS:
                yield f"{name}:{number}: a comment of {len(line)} columns (at most {MOST_COLUMNS})"


def main():
    found = [line for path in committed_files() for line in check(path)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
