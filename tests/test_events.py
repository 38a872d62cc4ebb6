"""A recording with several events: which one is shown, what is said of the others, and what pprof's own tool opens."""

import gzip
import os
import re
import shutil
import subprocess

import pprof_message
import pytest

# recording: the event that is shown, the others, and pprof's sample type of the first
RECORDINGS = {
    "spans.jfr": ("cpu", ["wall", "alloc", "lock"], "cpu"),
    "jdk17.jfr.gz": ("cpu", ["alloc", "park"], "cpu"),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_folded_says_on_stderr_what_it_shows(sparkflame, data, name):
    shown, others, _ = RECORDINGS[name]
    run = sparkflame("convert", data / "jfr" / name)
    assert run.returncode == 0
    assert run.stderr.decode() == f"sparkflame convert: showing event {shown}; others, with --event: {', '.join(others)}\n"
    chosen = sparkflame("convert", data / "jfr" / name, "--event", shown)
    assert (chosen.stdout, chosen.stderr) == (run.stdout, b"")
    quiet = sparkflame("convert", data / "jfr" / name, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (run.stdout, b"")
    for other in others:
        assert sparkflame("convert", "-q", data / "jfr" / name, "--event", other).stdout not in (b"", run.stdout)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_picture_says_what_it_shows(sparkflame, data, name):
    shown, others, _ = RECORDINGS[name]
    subtitle = f">Event: {shown} (also recorded: {', '.join(others)})<"
    whole = sparkflame("flame", "-f", "svg", "-o", "-", data / "jfr" / name)
    assert subtitle in whole.stdout.decode()
    assert b"showing event" in whole.stderr
    own = sparkflame("flame", "-f", "svg", "-o", "-", "--subtitle", "mine", data / "jfr" / name).stdout.decode()
    assert ">mine<" in own and "also recorded" not in own
    one = sparkflame("flame", "-f", "svg", "-o", "-", "-e", shown, data / "jfr" / name)
    assert b"also recorded" not in one.stdout and one.stderr == b""


def test_one_event_needs_no_words(sparkflame, data):
    run = sparkflame("flame", "-f", "svg", "-o", "-", data / "pprof" / "cpu.pb")
    assert run.stderr == b"" and b"also recorded" not in run.stdout


def test_wall_is_preferred_to_allocations(sparkflame, data, tmp_path):
    """Where there is no cpu, and whatever was recorded first."""
    wall, lock = tmp_path / "wall.jfr", tmp_path / "lock.jfr"
    for path, event in ((wall, "wall"), (lock, "lock")):
        made = sparkflame("convert", "-f", "jfr", "-o", path, "-e", event, data / "jfr" / "spans.jfr")
        assert made.returncode == 0, made.stderr
    run = sparkflame("convert", lock, wall)
    assert run.stderr.decode() == "sparkflame convert: showing event wall; others, with --event: lock\n"
    profile = decoded(sparkflame("convert", "-f", "pprof", lock, wall))
    assert profile.string_table[profile.default_sample_type] == "wall"


def decoded(run):
    assert run.returncode == 0, run.stderr
    return pprof_message.decode(gzip.decompress(run.stdout))


@pytest.mark.parametrize("name", RECORDINGS)
def test_pprof_names_program_and_default_type(sparkflame, data, name):
    profile = decoded(sparkflame("convert", "-f", "pprof", data / "jfr" / name))
    text = profile.string_table
    assert text[profile.default_sample_type] == RECORDINGS[name][2]
    assert len({text[each.type] for each in profile.sample_type}) == len(profile.sample_type) > 2
    first, *kinds = profile.mapping
    assert (first.id, text[first.filename]) == (1, "java")
    assert all(re.fullmatch(r"\[.+\]", text[each.filename]) for each in kinds)
    assert all(each.has_functions and each.has_filenames and each.has_line_numbers for each in profile.mapping)


def test_pprof_of_one_application_has_its_name(sparkflame, tmp_path):
    """Of several applications it is the program that they share."""
    for applications, program in ((["app-7"], "app-7"), (["app-7", "app-8"], "java")):
        message = pprof_message.profile_class()()
        message.string_table.extend(["", "cpu", "count", "Job.run", "application", "[compiled]", *applications])
        message.mapping.add(id=1, filename=5)
        message.sample_type.add(type=1, unit=2)
        message.function.add(id=1, name=3)
        message.location.add(id=1, mapping_id=1).line.add(function_id=1)
        for number in range(len(applications)):
            message.sample.add(location_id=[1], value=[1]).label.add(key=4, str=6 + number)
        path = tmp_path / "labelled.pb"
        path.write_bytes(message.SerializeToString())
        profile = decoded(sparkflame("convert", "-f", "pprof", path))
        assert profile.string_table[profile.mapping[0].filename] == program


@pytest.mark.parametrize("stack, program", [("main (job.py:3);work (job.py:9)", "python"), ("main;work", "")])
def test_pprof_of_folded_stacks(sparkflame, tmp_path, stack, program):
    path = tmp_path / "in.folded"
    path.write_text(f"{stack} 4\n")
    profile = decoded(sparkflame("convert", "-f", "pprof", path))
    assert profile.string_table[profile.mapping[0].filename] == program
    assert profile.string_table[profile.default_sample_type] == "samples"


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
@pytest.mark.parametrize("name", RECORDINGS)
def test_the_tool_of_pprof_opens_on_cpu(sparkflame, data, tmp_path, name):
    path = tmp_path / "profile.pb.gz"
    assert sparkflame("convert", "-f", "pprof", "-o", path, data / "jfr" / name).returncode == 0

    def pprof(*options):
        done = subprocess.run(["go", "tool", "pprof", *options, path], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=400, env={**os.environ, "PPROF_TMPDIR": str(tmp_path)})
        if "no such tool" in done.stderr:
            pytest.skip("this go has no pprof")
        assert done.returncode == 0, done.stderr
        return done
    top = pprof("-top")
    assert top.stdout.splitlines()[:2] == ["File: java", f"Type: {RECORDINGS[name][2]}"]
    assert "binary" not in top.stderr and "ymboliz" not in top.stderr
    raw = pprof("-raw").stdout
    assert re.search(r"(^| )cpu/count\[dflt\]( |$)", raw, re.MULTILINE)
    assert raw.split("Mappings\n")[1].splitlines()[0] == "1: 0x0/0x0/0x0 java  [FN][FL][LN]"
