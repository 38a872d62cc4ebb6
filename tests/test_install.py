"""`make install` puts everything where the system and the command expect it."""

import os
import subprocess

import pytest


@pytest.fixture(scope="module")
def installed(binary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["meson", "install", "-C", binary.parent, "--no-rebuild", "--quiet", "--destdir", folder],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    (program,) = folder.rglob("bin/sparkflame")
    return program.parent.parent


def test_program_runs(installed):
    run = subprocess.run([installed / "bin" / "sparkflame", "version"], capture_output=True, check=True,
                         stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
    assert run.stdout.startswith(b"sparkflame ")


def test_every_command_has_its_page(installed):
    run = subprocess.run([installed / "bin" / "sparkflame", "__options"], capture_output=True, check=True,
                         stdin=subprocess.DEVNULL)
    commands = {line.split("\t")[0] for line in run.stdout.decode().splitlines()}
    pages = {path.stem for path in (installed / "share" / "man" / "man1").iterdir()}
    assert commands and pages == {"sparkflame"} | {f"sparkflame-{name}" for name in commands}
    assert (installed / "share" / "man" / "man5" / "sparkflame-formats.5").exists()


def test_completion_for_three_shells(installed):
    share = installed / "share"
    assert "flame" in (share / "bash-completion" / "completions" / "sparkflame.bash").read_text()
    assert "flame" in (share / "zsh" / "site-functions" / "_sparkflame").read_text()
    assert "flame" in (share / "fish" / "vendor_completions.d" / "sparkflame.fish").read_text()


def test_questions_for_sql(installed):
    assert "CREATE OR REPLACE TEMPORARY VIEW" in (installed / "share" / "sparkflame" / "questions.sql").read_text()


def test_agent_is_where_the_command_looks(installed):
    assert (installed / "lib" / "libsparkflame.so").exists()
