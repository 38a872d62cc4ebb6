#!/usr/bin/env python3
"""update_manual.py BINARY: update the manual pages from the option tables.

Options that are new get the text of the help, options that are gone lose theirs; what was written by hand for the others
stays. Examples are those of the help. A command without a page gets one to be filled in.
"""

import pathlib
import re
import subprocess
import sys

from make_completion import read_options

MANUAL = pathlib.Path(__file__).resolve().parent.parent / "man"


def escaped(text):
    """Text as roff shows it: dashes of options stay dashes, a leading dot is no request."""
    text = text.replace("\\", "\\e").replace("…", "...")
    text = re.sub(r"(?<!\w)--?(?=\w)", lambda match: match[0].replace("-", "\\-"), text)
    text = re.sub(r"(?<=\\-)([\w-]+)", lambda match: match[0].replace("-", "\\-"), text)
    return "\\&" + text if text.startswith((".", "'")) else text


def sentence(text):
    return escaped(text if text.endswith((".", "!", "?")) else text + ".")


def tag(option):
    short, long, argument, _ = option
    names = ", ".join(f"\\fB{name}\\fR".replace("-", "\\-") for name in (short, long) if name)
    return names + (f" \\fI{argument.replace('…', '...')}\\fR" if argument else "")


def written_options(section):
    """{long or short name: text} of the options that a page has."""
    texts = {}
    section = re.sub(r"^\.SS .*\n", "", section, flags=re.MULTILINE)
    for block in re.split(r"^\.TP.*\n", section, flags=re.MULTILINE)[1:]:
        head, _, text = block.partition("\n")
        names = re.findall(r"(?<![\w-])--?[\w-]+", re.sub(r"\\f[BIRP]", "", head.replace("\\-", "-")))
        for name in names:
            texts[name] = text
    return texts


def groups_of(help_text):
    """{long option: title of its group} as the help shows them."""
    groups, title = {}, ""
    for line in help_text.splitlines():
        heading = re.match(r"([A-Z][\w ]*):$", line)
        option = re.match(r"  (?:-\w, |    )(--[\w-]+)", line)
        if heading:
            title = heading[1]
        elif option:
            groups[option[1]] = title
    return groups


def options_section(options, section, groups):
    known = written_options(section)
    lines, last = [], None
    for option in options:
        title = groups.get(option[1])
        if title and title != last:
            lines.append(f".SS {title}\n")
            last = title
        text = known.get(option[1] or option[0]) or sentence(option[3]) + "\n"
        lines.append(f".TP\n{tag(option)}\n{text}")
    help_text = known.get("--help") or "Print this help and exit.\n"
    if not any(option[1] == "--help" for option in options):
        lines.append(".SS Help\n" if last else "")
        lines.append(f".TP\n\\fB\\-\\-help\\fR\n{help_text}")
    return "".join(lines)


def details_of(help_text):
    """The paragraphs after the options and before the examples."""
    before = help_text.split("\nExamples:\n")[0].split("\n\n")[2:]
    return [" ".join(part.split()) for part in before if not re.match(r"[A-Z][\w ]*:\n", part)]


def examples_section(help_text):
    lines = help_text.partition("\nExamples:\n")[2].partition("\n\n")[0].splitlines()
    text = ""
    for line in lines:
        if re.match(r"  \S", line):
            text += ".TP\n.B " + line.strip().replace("-", "\\-") + "\n"
        elif line.strip():
            text += sentence(line.strip()[:1].upper() + line.strip()[1:]) + "\n"
    return text


def new_page(name, summary, help_text):
    title = f"sparkflame-{name}"
    usage = re.search(rf"Usage: sparkflame {re.escape(name)} ?(.*)", help_text)
    paragraphs = [sentence(summary)] + [escaped(part) for part in details_of(help_text)]
    return "\n".join([
        f'.TH {title.upper()} 1 "" "sparkflame" "User Commands"', ".SH NAME",
        f"{title} \\- {summary[:1].lower() + summary[1:]}", ".SH SYNOPSIS", f".B sparkflame {name}",
        escaped(usage[1] if usage else "") or "\\&", ".SH DESCRIPTION", "\n.PP\n".join(paragraphs), ".SH OPTIONS",
        ".SH EXAMPLES", ".SH SEE ALSO", ".BR sparkflame (1),", ".BR sparkflame-formats (5)", ""])


def replace_section(page, title, text):
    """The page with another text in that section."""
    pattern = re.compile(rf"(^\.SH {title}\n)(.*?)(?=^\.SH |\Z)", re.MULTILINE | re.DOTALL)
    return pattern.sub(lambda match: match[1] + text, page, count=1)


def section_of(page, title):
    match = re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", page, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


def output_of(binary, *arguments):
    return subprocess.run([binary, *arguments], capture_output=True, check=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def main():
    binary = sys.argv[1]
    commands = read_options(output_of(binary, "__options"))
    for name, (summary, options) in commands.items():
        path = MANUAL / f"sparkflame-{name}.1"
        help_text = output_of(binary, name, "--help")
        page = path.read_text() if path.exists() else new_page(name, summary, help_text)
        text = options_section(options, section_of(page, "OPTIONS"), groups_of(help_text))
        page = replace_section(page, "OPTIONS", text)
        examples = examples_section(help_text)
        page = replace_section(page, "EXAMPLES", examples) if examples else page.replace(".SH EXAMPLES\n.SH", ".SH")
        path.write_text(page)
    listed = "".join(f".TP\n.BR sparkflame-{name} (1)\n{sentence(summary)}\n" for name, (summary, _) in commands.items())
    main_page = MANUAL / "sparkflame.1"
    main_page.write_text(replace_section(main_page.read_text(), "COMMANDS", listed))


if __name__ == "__main__":
    main()
