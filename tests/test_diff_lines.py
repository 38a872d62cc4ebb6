"""sparkflame diff from folded text to folded text has a fast path, whose result must equal that of the slow one."""

import random

import pytest

LONG = "x" * 70_000


def random_lines(seed):
    generator = random.Random(seed)
    names = [f"pkg/Class{i}.method$1" for i in range(40)] + ["", " ", "a b", "ü", "(f.py:12)", "1 2", "x:3", "#c"]
    return "".join(";".join(generator.choices(names, k=generator.randint(1, 30))) + f" {generator.randint(0, 9)}\n"
                   for _ in range(3000)).encode()


CASES = {
    "duplicates": (b"a;b 1\na;b 2\nc 4\n", b"c 1\nc 1\na;b 7\nd 1\n"),
    "fractions": (b"a 0.1\na 0.2\nb 1e3\nc .5\n", b"a 0.7\nb 1.25\nd 9007199254740991\nd 1\n"),
    "zeros": (b"a 0\nb 0\nc 1\n", b"a 0\nb 2\n"),
    "line ends": (b"a;b 1\r\nc 2\r\n", b"a;b 3\r\nc 4"),
    "byte order mark": (b"\xef\xbb\xbfa;b 1\nc 2\n", b"a;b 3\n"),
    "comments and blanks": (b"# a comment\n\n#!x\na;b 1\n  \n#frame;y 2\n", b"a;b   3  \n\ta;c 1\n \n"),
    "without a count": (b"a;b 1\nnothing here\nc 1\n", b"a;b 3\nc;d\n"),
    "bad count": (b"a;b 1\nc -4\nd 1\n", b"a;b 3\n"),
    "bad count behind": (b"a;b 1\nd 1\n", b"a;b 3\nc 99999999999999999999\ne 1\n"),
    "not UTF-8": (b"a;\xff\xfe 1\nc 2\n", b"a;\xff\xfe 3\nd;\xc3\xbc 4\n"),
    "control characters": (b"a;b\x01c 1\na;b\tc 2\n", b"a;b\x01c 3\na;b c 5\n"),
    "kinds": (b"a_[j];b_[i] 1\na;b 2\n", b"a_[1];b_[0] 3\na;b_[ 7\n"),
    "empty frames": (b";a 1\na; 2\n; 3\na;;b 4\n", b"a;;b 4\na; 1\n;;; 2\n"),
    "nothing but a count": (b" 5\na 1\n", b"a 2\n 7\n"),
    "two counts": (b"a;b 1 2\nc 3 4\n", b"a;b 3 4\nd 1 1\n"),
    "two counts in the second": (b"a;b 1\nc 3\n", b"a;b 3 4\nd 1 1\n"),
    "two counts in some lines": (b"a;b 1 2\nc 3\n", b"a;b 3\nd 1 1\n"),
    "long lines": (f"a;{LONG} 1\nb 2\n".encode() * 40, f"a;{LONG} 3\na;{LONG}y 1\n".encode() * 20),
    "deep": (b";".join([b"f"] * 3000) + b" 2\nb 1\n", b";".join([b"f"] * 2999) + b" 5\n"),
    "empty": (b"", b"a;b 1\n"),
    "random": (random_lines(1), random_lines(2)),
}


@pytest.mark.parametrize("name", CASES)
def test_both_ways_say_the_same(sparkflame, tmp_path, name):
    """--lines takes the slow path; it does not change the result for these files."""
    for file, content in zip(("1", "2"), CASES[name]):
        (tmp_path / file).write_bytes(content)
    long = sparkflame("diff", "-f", "folded", "--lines", "1", "2")
    for threads in ("1", "3"):
        short = sparkflame("diff", "-f", "folded", "-j", threads, "1", "2")
        assert sorted(short.stdout.splitlines()) == sorted(long.stdout.splitlines())
        assert short.returncode == long.returncode
        assert short.stderr == long.stderr


def test_lines_stand_in_the_order_of_the_files(sparkflame, tmp_path):
    (tmp_path / "1").write_bytes(b"z;b 1\na 1\nz;b 1\n")
    (tmp_path / "2").write_bytes(b"y 1\na 1\nb 1\n")
    assert sparkflame("diff", "-f", "folded", "1", "2").stdout == b"z;b 2 0\na 1 1\ny 0 1\nb 0 1\n"


def test_files_that_are_packed_or_piped_go_the_long_way(sparkflame, tmp_path):
    (tmp_path / "1").write_bytes(b"a;b 1\nc 2\n")
    run = sparkflame("diff", "-f", "folded", "1", "-", stdin=b"a;b 3\n")
    assert run.stdout == b"a;b 1 3\nc 2 0\n" and run.returncode == 0


def test_a_label_may_be_chosen(sparkflame, tmp_path):
    (tmp_path / "1").write_bytes(b"a;b 1\n")
    run = sparkflame("diff", "-f", "folded", "--label", "stage=3", "1", "1")
    assert b"no samples match" in run.stderr and run.returncode == 1
