"""sparkflame diff: both sides, new and removed frames."""

import re

import pytest

from svg_boxes import read_boxes

BEFORE = b"main;a 10\nmain;gone 5\n"
AFTER = b"main;a 20\nmain;new 10\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "before.folded").write_bytes(BEFORE)
    (tmp_path / "after.folded").write_bytes(AFTER)
    return tmp_path / "before.folded", tmp_path / "after.folded"


def test_folded_has_two_counts(sparkflame, files):
    run = sparkflame("diff", *files, "-f", "folded")
    assert run.stdout == b"main;a 10 20\nmain;gone 5 0\nmain;new 0 10\n"


def test_normalize_scales_the_first(sparkflame, files):
    run = sparkflame("diff", "-n", *files, "-f", "folded")
    assert run.stdout == b"main;a 20 20\nmain;gone 10 0\nmain;new 0 10\n"


def test_strip_hex(sparkflame, tmp_path):
    (tmp_path / "1").write_bytes(b"f_0x12ab 1\n")
    (tmp_path / "2").write_bytes(b"f_0x99 3\n")
    assert sparkflame("diff", "--strip-hex", "1", "2", "-f", "folded").stdout == b"f_0x... 1 3\n"


def test_removed_frames_are_drawn(sparkflame, files):
    picture = sparkflame("diff", *files, "-f", "svg").stdout
    found = {box.name: box for box in read_boxes(picture)}
    assert found["gone"].width == 5 and found["new"].width == 10 and found["a"].width == 20
    assert re.search(r"gone \(5 samples, [^)]*before 5, after 0, gone\)", picture.decode())


def test_widths_of_the_second_only(sparkflame, files):
    found = {box.name: box for box in read_boxes(sparkflame("diff", "--widths", "after", *files, "-f", "svg").stdout)}
    assert "gone" not in found and found["all"].width == 30


def test_colours_count_callees(sparkflame, tmp_path):
    (tmp_path / "1").write_bytes(b"top;parent;child 1\ntop;flat 10\n")
    (tmp_path / "2").write_bytes(b"top;parent;child 9\ntop;flat 10\n")
    picture = sparkflame("diff", "1", "2", "-f", "svg").stdout.decode()
    colors = dict(re.findall(r"<title>(\w+) .*?fill=\"rgb\((\d+,\d+,\d+)\)\"", picture))
    assert colors["parent"] == colors["child"] != colors["flat"]


def luminance(color):
    def linear(part):
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
    red, green, blue = (linear(int(part) / 255) for part in color.split(","))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_black_letters_can_be_read_on_every_colour(sparkflame, files):
    for options in ([], ["--negate"]):
        picture = sparkflame("diff", *files, "-f", "svg", *options).stdout.decode()
        for color in re.findall(r"fill=\"rgb\((\d+,\d+,\d+)\)\"", picture):
            assert (luminance(color) + 0.05) / 0.05 >= 4.5, color


def test_the_title_says_what_is_compared(sparkflame, files):
    def title(*options):
        picture = sparkflame("diff", *files, "-f", "svg", *options).stdout.decode()
        return re.search(r'<text class="title"[^>]*>([^<]*)<', picture)[1]
    assert title() == "Difference: before.folded → after.folded"
    assert title("--title", "T") == "T"
    assert title("--widths", "after") == "Difference"


def test_two_files_are_needed(sparkflame, files):
    run = sparkflame("diff", files[0])
    assert run.returncode == 2 and b"BEFORE and AFTER" in run.stderr


def test_threads_change_nothing(sparkflame, tmp_path):
    """Large enough that several threads read it."""
    def lines(step):
        return "".join(f"main;group_{i % 97};function_with_a_longer_name_{i * step % 20011} {i % 7 + 1}\n"
                       for i in range(120_000))
    (tmp_path / "1").write_text(lines(1))
    (tmp_path / "2").write_text(lines(3))
    one, four = (sparkflame("diff", "-j", threads, "1", "2", "-f", "folded") for threads in (1, 4))
    assert one.returncode == four.returncode == 0, four.stderr
    assert one.stdout == four.stdout
    totals = [sum(int(line.split()[side]) for line in one.stdout.decode().splitlines()) for side in (1, 2)]
    assert totals == [sum(i % 7 + 1 for i in range(120_000))] * 2


def test_both_files_tell_what_was_passed_over(sparkflame, tmp_path):
    for name, text in (("old", "a 1\nb 1\nc 1\nd 1\nx\n"), ("new", "a 1\nb 1\nc 1\nd 1\ny\nz\n")):
        (tmp_path / name).write_text(text)
    run = sparkflame("diff", "old", "new", "-f", "svg")
    assert run.returncode == 0
    assert b"old: 1 line without a count was skipped, the first is line 5" in run.stderr
    assert b"new: 2 lines without a count were skipped, the first is line 5" in run.stderr
