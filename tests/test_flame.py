"""sparkflame flame: what is drawn, and defects of other tools that it avoids."""

import gzip
import re
import subprocess
import xml.etree.ElementTree

import pytest

from svg_boxes import read_boxes


def draw(sparkflame, text, *options):
    run = sparkflame("flame", "-", "-f", "svg", *options, stdin=text)
    assert run.returncode == 0, run.stderr
    return run.stdout


def boxes(sparkflame, text, *options):
    return {box.name: box for box in read_boxes(draw(sparkflame, text, *options))}


def test_boxes_stand_where_their_samples_are(sparkflame):
    found = boxes(sparkflame, b"main;a;b 10\nmain;a;c 20\nmain;d 5\nmain 15\n")
    assert found["all"][1:] == (0, 50, 0)
    assert found["main"][1:] == (0, 50, 1)
    assert found["a"][1:] == (15, 30, 2)
    assert found["b"][1:] == (15, 10, 3)
    assert found["c"][1:] == (25, 20, 3)
    assert found["d"][1:] == (45, 5, 2)


def test_one_method_is_one_box_whatever_sorts_between_its_lines(sparkflame):
    picture = draw(sparkflame, b"F.apply 5\nF.apply$mcV$sp 3\nF.apply;y 4\n")
    assert sorted(box.name for box in read_boxes(picture)) == ["F.apply", "F.apply$mcV$sp", "all", "y"]


def test_several_inputs_are_merged(sparkflame, tmp_path):
    (tmp_path / "one.folded").write_bytes(b"a;b 1\n")
    (tmp_path / "two.folded").write_bytes(b"a;b 2\na;c 3\n")
    run = sparkflame("convert", "one.folded", "two.folded")
    assert run.stdout == b"a;b 3\na;c 3\n"


def test_twenty_thousand_frames_are_no_trouble(sparkflame):
    stack = ";".join(f"f{i}" for i in range(20000)).encode()
    assert len(read_boxes(draw(sparkflame, stack + b" 1\n"))) == 20001


def test_names_cannot_break_out(sparkflame):
    name = b"x</title></svg><script>alert(1)</script>]]>&\"'\x01"
    picture = draw(sparkflame, b"main;" + name + b" 1\n")
    root = xml.etree.ElementTree.fromstring(picture)
    assert len([element for element in root.iter() if element.tag.endswith("script")]) == 1
    assert "x</title></svg><script>alert(1)</script>]]>&\"'\ufffd" in {box.name for box in read_boxes(picture)}


def test_invalid_utf8_is_shown(sparkflame):
    assert "caf\ufffd" in boxes(sparkflame, b"main;caf\xe9 1\n")


def test_narrow_boxes_are_left_out_but_keep_their_room(sparkflame):
    text = b"a 1\nb 999\n"
    assert set(boxes(sparkflame, text, "--minwidth", "1%")) == {"all", "b"}
    assert boxes(sparkflame, text, "--minwidth", "1%")["b"].x == 1
    assert set(boxes(sparkflame, text, "--minwidth", "0")) == {"all", "a", "b"}
    assert set(boxes(sparkflame, text, "--width", "1200", "--minwidth", "2")) == {"all", "b"}


def test_order_by_width(sparkflame):
    found = boxes(sparkflame, b"a 1\nb 9\n", "--order", "width")
    assert found["b"].x == 0 and found["a"].x == 9


def test_inverted_has_the_root_on_top(sparkflame):
    def tops(picture):
        return {title: float(y) for title, y in re.findall(r"<title>(\w+) .*?y=\"([\d.]+)\"", picture.decode())}
    upright, inverted = draw(sparkflame, b"a;b 1\n"), draw(sparkflame, b"a;b 1\n", "--inverted")
    assert tops(upright)["all"] > tops(upright)["a"] > tops(upright)["b"]
    assert tops(inverted)["all"] < tops(inverted)["a"] < tops(inverted)["b"]
    assert b">Icicle Graph<" in inverted and b">Flame Graph<" in upright


def test_reverse_merges_from_the_innermost_frame(sparkflame):
    found = boxes(sparkflame, b"a;x 1\nb;x 2\n", "--reverse")
    assert found["x"][1:] == (0, 3, 1)
    assert found["a"].level == found["b"].level == 2


def test_a_chart_keeps_the_order_and_merges_neighbours_only(sparkflame):
    picture = draw(sparkflame, b"z;a 4\ny 1\nz;b 2\nz;a 1\n", "--flamechart")
    assert [(box.name, box.x, box.width) for box in read_boxes(picture) if box.level == 1] == \
        [("z", 0, 3), ("y", 3, 1), ("z", 4, 4)]


def test_two_counts_are_a_difference(sparkflame):
    picture = draw(sparkflame, b"a;grown 1 10\na;shrunk 10 1\na;same 5 5\n").decode()
    colors = dict(re.findall(r"<title>(\w+) .*?fill=\"rgb\((\d+,\d+,\d+)\)\"", picture))
    red, green, blue = map(int, colors["grown"].split(","))
    assert red == 255 and green == blue < 255
    red, green, blue = map(int, colors["shrunk"].split(","))
    assert blue == 255 and red == green < 255
    assert len(set(colors["same"].split(","))) == 1


def test_looks(sparkflame):
    picture = draw(sparkflame, b"a 1\n", "--title", "T<1>", "--subtitle", "S&2", "--countname", "bytes", "--nametype",
                   "Class:", "--notes", "N", "--width", "600", "--fontsize", "10", "--bgcolors", "#123456",
                   "--colors", "mem", "--height", "20", "--factor", "1000").decode()
    for part in (">T&lt;1&gt;<", ">S&amp;2<", "(1,000 bytes, 100%)", "Class:", "<desc>N</desc>", 'width="600"', "#123456",
                 "font-size: 10px"):
        assert part in picture, part
    assert 'height="19"' in picture


def test_a_larger_total_leaves_room(sparkflame):
    found = boxes(sparkflame, b"a 1\n", "--total", "4")
    assert found["all"].width == 4 and found["a"].width == 1


def test_kinds_colour_java_frames(sparkflame):
    picture = draw(sparkflame, b"java/lang/Thread.run_[j];inl_[i];memcpy;do_syscall_[k] 1\n", "--colors", "java").decode()
    colors = dict(re.findall(r"<title>(.*?) \(.*?fill=\"rgb\((\d+,\d+,\d+)\)\"", picture))
    assert len(set(colors.values())) == 5


@pytest.mark.parametrize("options, message", [
    (["--minwidth", "wide"], "not a width"),
    (["--colors", "pink"], "is not one of"),
    (["--fontsize", "0"], "font size"),
    (["--width", "5"], "too small"),
    (["--widht", "5"], "unknown option --widht; did you mean --width?"),
    (["--min"], "ambiguous"),
    (["--title"], "needs TEXT"),
    (["--reverse=1"], "takes no value"),
    (["--include", "("], "bad regular expression"),
    (["--by", "thred"], "no label \"thred\""),
    (["--event", "cpux"], "no samples of event \"cpux\""),
    (["--from", "yesterday"], "is not a time"),
    (["-f", "gif"], "no format \"gif\""),
    (["--input-format", "xml"], "no format \"xml\""),
    (["--min-share", "101"], "not between"),
])
def test_wrong_use_is_explained(sparkflame, options, message):
    run = sparkflame("flame", "-", "-f", "svg", *options, stdin=b"a 1\n")
    assert run.returncode == 2, run.stderr
    assert message in run.stderr.decode()
    assert run.stdout == b""


def test_nothing_is_written_over_when_it_fails(sparkflame, tmp_path):
    target = tmp_path / "out.svg"
    target.write_text("old")
    assert sparkflame("flame", tmp_path / "missing.folded", "-o", target).returncode == 1
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.svg"]


def test_what_was_read_before_an_error_is_drawn(sparkflame, tmp_path):
    (tmp_path / "good.folded").write_bytes(b"a 1\n")
    run = sparkflame("flame", tmp_path / "good.folded", tmp_path / "missing.folded", "-o", tmp_path / "out.svg")
    assert run.returncode == 1
    assert b"missing.folded" in run.stderr
    assert {box.name for box in read_boxes((tmp_path / "out.svg").read_bytes())} == {"all", "a"}


def test_the_ending_picks_the_format(sparkflame, tmp_path):
    (tmp_path / "in.folded").write_bytes(b"a 1\n")
    assert sparkflame("flame", "in.folded", "-o", "out.svg").returncode == 0
    assert (tmp_path / "out.svg").read_bytes().startswith(b"<?xml")
    assert sparkflame("flame", "in.folded", "-o", "out.folded").returncode == 0
    assert (tmp_path / "out.folded").read_bytes() == b"a 1\n"
    run = sparkflame("flame", "in.folded", "-o", "out.gif")
    assert run.returncode == 2 and b"--format" in run.stderr


def test_the_recording_of_the_demo(sparkflame, data):
    """Compressed, so it is read in memory, and for a page twice."""
    recording = data.parent.parent / "examples" / "word_counts.jfr.gz"
    run = sparkflame("flame", recording, "-o", "page.html")
    assert run.returncode == 0, run.stderr
    run = sparkflame("convert", recording)
    assert run.returncode == 0, run.stderr
    assert sum(int(line.rsplit(b" ", 1)[1]) for line in run.stdout.splitlines()) == 902
    # Hidden classes have their package as all others do.
    assert b";org/apache/spark/executor/Executor$TaskRunner$$Lambda$2872+0x" in run.stdout
    assert b"org.apache.spark" not in run.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["flame", "--help"], ["help", "asprof"], ["version"]])
def test_help_that_cannot_be_written(binary, arguments):
    with open("/dev/full", "wb") as full:
        run = subprocess.run([binary, *arguments], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                             check=False)
    assert run.returncode == 1 and b"cannot write output" in run.stderr


def test_a_place_that_cannot_be_written_is_told_before_reading(sparkflame):
    for command in (["flame", "no-such-profile"], ["diff", "no-such-profile", "other"], ["convert", "no-such-profile"]):
        run = sparkflame(*command, "-o", "missing/x.svg")
        assert run.returncode == 1 and b"cannot write missing/x.svg" in run.stderr and b"no-such" not in run.stderr


def fills(picture):
    return dict(re.findall(r"<title>(\S+) .*?fill=\"(rgb\(\d+,\d+,\d+\))\"", picture.decode()))


def test_colours_are_kept_in_a_palette_map(sparkflame, tmp_path):
    (tmp_path / "palette.map").write_text("a->b->rgb(1,2,3)\nmain->rgb(4,5,6)\nother->rgb(7,8,9)\n")
    first = fills(draw(sparkflame, b"main;a->b;new 1\n", "--cp"))
    assert first["main"] == "rgb(4,5,6)" and first["a-&gt;b"] == "rgb(1,2,3)"
    kept = (tmp_path / "palette.map").read_text().splitlines()
    assert kept == ["a->b->rgb(1,2,3)", "main->rgb(4,5,6)", "new->" + first["new"], "other->rgb(7,8,9)"]
    assert fills(draw(sparkflame, b"new;main 1\n", "--cp", "--colors", "mem"))["new"] == first["new"]
    (tmp_path / "palette.map").write_text("main->red\n")
    run = sparkflame("flame", "-", "-f", "svg", "--cp", stdin=b"a 1\n")
    assert run.returncode == 1 and b"palette.map: line 1" in run.stderr


def test_random_colours_differ_and_others_do_not(sparkflame):
    stacks = b";".join(b"f%d" % i for i in range(50)) + b" 1\n"
    assert draw(sparkflame, stacks) == draw(sparkflame, stacks, "--hash")
    assert draw(sparkflame, stacks, "--random") != draw(sparkflame, stacks, "--random")


def test_attributes_of_functions(sparkflame, tmp_path):
    (tmp_path / "names").write_text("a\thref=https://example.org/?x=1&y=<2>\tclass=mine \"\nb\ttitle=all about b\tid=b1\r\n"
                                    "c\thref=#c\ttarget=_blank\t\tg_extra=stroke=\"a<b\"  x-y=\"\"\ta_extra=rel=\"external\" rel=\"again\"\n")
    picture = draw(sparkflame, b"main;a 1\nmain;b 1\nmain;c 1\n", "--nameattr", "names").decode()
    xml.etree.ElementTree.fromstring(picture)
    assert '<g class="mine &quot;">' in picture
    assert '<a href="https://example.org/?x=1&amp;y=&lt;2&gt;" target="_top"><rect' in picture
    assert '<g id="b1"><title>all about b</title>' in picture
    assert '<g stroke="a&lt;b" x-y=""><title>c' in picture
    assert '<a href="#c" target="_blank" rel="external">' in picture


@pytest.mark.parametrize("text, message", [
    ("a\tonclick=alert(1)\n", b'names: line 1: no attribute "onclick"; there are: id, class'),
    ("\na\n", b"names: line 2: no tab and attribute"),
    ("a\tb\n", b'names: line 1: "b" is not KEY=VALUE'),
    ('a\tg_extra=x="1" OnClick="alert(1)"\n', b'names: line 1: attribute "OnClick" is not allowed'),
    ('a\ta_extra=xlink:href="javascript:alert(1)"\n', b'names: line 1: attribute "xlink:href" is not allowed'),
    ('a\ta_extra=x="1"><script\n', b'names: line 1: "><script" is not name="value"'),
    ("a\thref= java\x01script:alert(1)\n", b'names: line 1: a link to "javascript:" is not allowed'),
])
def test_attributes_that_are_none(sparkflame, tmp_path, text, message):
    (tmp_path / "names").write_text(text)
    run = sparkflame("flame", "-", "-f", "svg", "--nameattr", "names", stdin=b"a 1\n")
    assert run.returncode == 1 and message in run.stderr and run.stdout == b""


@pytest.mark.parametrize("options, message", [
    (["--bgcolors", "pink"], b"--bgcolors"), (["--encoding", "latin1"], b"written in utf-8"),
    (["--minwidth", "x"], b"--minwidth"), (["--nameattr", "missing"], b"missing"),
])
def test_looks_that_are_refused(sparkflame, options, message):
    run = sparkflame("flame", "-", "-f", "svg", *options, stdin=b"a 1\n")
    assert run.returncode != 0 and message in run.stderr and run.stdout == b""


@pytest.mark.parametrize("name", ["out.folded.gz", "out.svg.gz", "out.html.gz", "out.jfr.gz", "out.csv.gz"])
def test_an_output_called_gz_is_packed(sparkflame, tmp_path, name):
    (tmp_path / "in.folded").write_bytes(b"a;b 1\na;c 2\n")
    assert sparkflame("convert", "in.folded", "-o", name).returncode == 0
    assert sparkflame("convert", "in.folded", "-o", name[:-3]).returncode == 0
    packed, plain = gzip.decompress((tmp_path / name).read_bytes()), (tmp_path / name[:-3]).read_bytes()
    assert packed == plain or (name == "out.jfr.gz" and len(packed) == len(plain))


def test_what_is_packed_by_its_format_is_not_packed_twice(sparkflame, tmp_path):
    (tmp_path / "in.folded").write_bytes(b"a;b 1\na;c 2\n")
    assert sparkflame("convert", "in.folded", "-o", "out.pb.gz").returncode == 0
    assert gzip.decompress((tmp_path / "out.pb.gz").read_bytes())[:1] == b"\x0a"
    assert sparkflame("diff", "in.folded", "in.folded", "-o", "diff.folded.gz").returncode == 0
    assert sorted(gzip.decompress((tmp_path / "diff.folded.gz").read_bytes()).splitlines()) == [b"a;b 1 1", b"a;c 2 2"]
