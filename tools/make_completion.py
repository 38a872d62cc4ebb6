#!/usr/bin/env python3
"""make_completion.py BINARY FOLDER: write completion for bash, zsh and fish from the command's own option tables.

`BINARY __options` prints lines of five fields with tabs between: command, short option, long option, argument, summary.
A line without options describes the command itself.
"""

import pathlib
import subprocess
import sys


def read_options(text):
    """{command: (summary, [(short, long, argument, summary)])} in the order of the tables."""
    commands = {}
    for line in text.splitlines():
        command, short, long, argument, summary = line.split("\t")
        if not short and not long:
            commands[command] = (summary, commands.get(command, ("", []))[1])
        else:
            commands.setdefault(command, ("", []))[1].append((short, long, argument, summary))
    return commands


def words(options):
    return " ".join(word for short, long, _, _ in options for word in (short, long) if word)


def bash(commands):
    cases = "\n".join(f"    {name}) options='{words(options)}' ;;" for name, (_, options) in commands.items())
    return f"""# bash completion for sparkflame
_sparkflame() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" options=''
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W '{" ".join(commands)} --help --version' -- "$current")
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    case "$current" in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}}
complete -o filenames -F _sparkflame sparkflame
"""


def quoted(text):
    return text.replace("\\", "\\\\").replace("'", "'\\''")


def zsh_option(option):
    short, long, argument, summary = option
    names = [name for name in (short, long) if name]
    text = quoted(summary).replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    value = f":{argument}:_files" if argument else ""
    equals = {name: "=" if argument and name.startswith("--") else "+" if argument else "" for name in names}
    return [f"'*{name}{equals[name]}[{text}]{value}'" for name in names]


def zsh(commands):
    listed = "\n".join(f"        '{name}:{quoted(summary)}'" for name, (summary, _) in commands.items())
    cases = []
    for name, (_, options) in commands.items():
        specs = [spec for option in options for spec in zsh_option(option)] + ["'*:file:_files'"]
        cases.append(f"    {name}) _arguments " + " \\\n        ".join(specs) + " ;;")
    return f"""#compdef sparkflame
_sparkflame() {{
    local -a commands
    commands=(
{listed}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{chr(10).join(cases)}
    esac
}}
_sparkflame "$@"
"""


def fish(commands):
    lines = ["# fish completion for sparkflame"]
    for name, (summary, options) in commands.items():
        lines.append(f"complete -c sparkflame -n __fish_use_subcommand -f -a {name} -d '{quoted(summary)}'")
        for short, long, argument, text in options:
            line = f"complete -c sparkflame -n '__fish_seen_subcommand_from {name}'"
            line += f" -s {short[1:]}" if short else ""
            line += f" -l {long[2:]}" if long else ""
            line += " -r" if argument else ""
            lines.append(line + f" -d '{quoted(text)}'")
    return "\n".join(lines) + "\n"


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    text = subprocess.run([binary, "__options"], capture_output=True, check=True, text=True,
                          stdin=subprocess.DEVNULL).stdout
    commands = read_options(text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sparkflame.bash").write_text(bash(commands))
    (folder / "_sparkflame").write_text(zsh(commands))
    (folder / "sparkflame.fish").write_text(fish(commands))


if __name__ == "__main__":
    main()
