"""Shell completion is made from the option tables and works in the shells."""

import pathlib
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"
OPTIONS = """\
flame\t\t\t\tdraw a flame graph
flame\t-o\t--output\tFILE\twhere to; it's [-] for standard output: really
flame\t\t--reverse\t\tcallers below
diff\t\t\t\tcompare two profiles
diff\t-n\t--negate\t\tswap colours
"""


@pytest.fixture
def folder(tmp_path):
    fake = tmp_path / "fake"
    (tmp_path / "options.tsv").write_text(OPTIONS)
    fake.write_text(f'#!/bin/sh\n[ "$1" = __options ] && cat "{tmp_path}/options.tsv"\n')
    fake.chmod(0o755)
    subprocess.run([sys.executable, TOOLS / "make_completion.py", fake, tmp_path / "completion"], check=True)
    return tmp_path / "completion"


def complete_in_bash(folder, *words):
    script = f"""source '{folder}/sparkflame.bash'
COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}
_sparkflame; printf '%s\\n' "${{COMPREPLY[@]}}" """
    output = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, check=True, text=True,
                            stdin=subprocess.DEVNULL, cwd=folder).stdout
    return output.split()


def test_bash_completes_commands(folder):
    assert complete_in_bash(folder, "sparkflame", "fl") == ["flame"]


def test_bash_completes_options_of_the_command(folder):
    assert complete_in_bash(folder, "sparkflame", "flame", "--") == ["--output", "--reverse"]
    assert complete_in_bash(folder, "sparkflame", "diff", "-") == ["-n", "--negate"]


def test_bash_completes_files(folder):
    assert complete_in_bash(folder, "sparkflame", "flame", "sparkflame.f") == ["sparkflame.fish"]


@pytest.fixture(scope="module")
def real(binary, tmp_path_factory):
    """The completion of the built command, made by the same tool as what is installed."""
    folder = tmp_path_factory.mktemp("completion")
    subprocess.run([sys.executable, TOOLS / "make_completion.py", binary, folder], check=True)
    return folder


def test_every_command_and_option_of_the_real_tables_completes(real, binary):
    rows = [line.split("\t") for line in subprocess.run([binary, "__options"], capture_output=True, text=True, check=True).stdout.splitlines()]
    commands = {row[0] for row in rows}
    assert len(commands) > 10 and commands <= set(complete_in_bash(real, "sparkflame", ""))
    for command in commands:
        expected = {word for row in rows if row[0] == command for word in row[1:3] if word}
        if expected:
            assert set(complete_in_bash(real, "sparkflame", command, "-")) == expected, command
    for name in ("_sparkflame", "sparkflame.fish"):
        text = (real / name).read_text()
        missing = [row[2] for row in rows if row[2] and row[2].lstrip("-") not in text]
        assert not missing, (name, missing)


@pytest.mark.parametrize("command, file", [
    (["bash", "-n"], "sparkflame.bash"),
    (["zsh", "-n"], "_sparkflame"),
    (["fish", "--no-execute"], "sparkflame.fish"),
])
def test_shells_accept_the_syntax(folder, real, command, file):
    for place in (folder, real):
        subprocess.run([*command, place / file], check=True, stdin=subprocess.DEVNULL)
