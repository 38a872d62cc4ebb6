"""Selecting: the same options on every command."""

import pytest

STACKS = b"""main;load;parse 10
main;load;read 20
main;compute;parse;deep 30
other;idle 40
"""


def select(sparkflame, *options, text=STACKS):
    run = sparkflame("convert", "-", *options, stdin=text)
    assert run.returncode == 0, run.stderr
    return dict(line.rsplit(" ", 1) for line in run.stdout.decode().splitlines())


def test_include_keeps_stacks_with_a_frame(sparkflame):
    assert set(select(sparkflame, "-I", "^parse$")) == {"main;load;parse", "main;compute;parse;deep"}


def test_exclude_drops_stacks_with_a_frame(sparkflame):
    assert set(select(sparkflame, "-X", "parse", "-X", "idle")) == {"main;load;read"}


def test_ignore_case(sparkflame):
    assert set(select(sparkflame, "-I", "PARSE", "--ignore-case")) == set(select(sparkflame, "-I", "parse"))


def test_drop_frames_moves_callees_up(sparkflame):
    assert select(sparkflame, "--drop-frames", "load|compute") == {
        "main;parse": "10", "main;read": "20", "main;parse;deep": "30", "other;idle": "40"}


def test_only_frames(sparkflame):
    assert select(sparkflame, "--only-frames", "main|parse") == {
        "main;parse": "40", "main": "20", "[no frames left]": "40"}


def test_nothing_vanishes_below_the_least_share(sparkflame):
    assert select(sparkflame, "--min-share", "15") == {
        "main;load;[other]": "10", "main;load;read": "20", "main;compute;parse;deep": "30", "other;idle": "40"}


def test_recursion_is_merged(sparkflame):
    assert select(sparkflame, "--merge-recursion", text=b"a;b;b;b;c 1\na;b;c 2\n") == {"a;b;c": "3"}


def test_reverse(sparkflame):
    assert select(sparkflame, "--reverse", text=b"a;b 1\n") == {"b;a": "1"}


def test_a_selection_that_leaves_nothing_says_so(sparkflame):
    run = sparkflame("convert", "-", "-I", "nowhere", stdin=STACKS)
    assert run.returncode == 1
    assert b"no samples match the selection" in run.stderr


def test_a_label_that_no_sample_has_is_named(sparkflame, data):
    run = sparkflame("convert", data / "jfr" / "jdk17.jfr.gz", "--executor", "7", "--stage", "3")
    assert run.returncode == 1
    assert run.stderr.endswith(b'jdk17.jfr.gz: no samples match the selection: none has the label "executor"\n')
    run = sparkflame("convert", data / "jfr" / "jdk17.jfr.gz", "-t", "nobody")
    assert run.stderr.endswith(b"no samples match the selection\n")


@pytest.mark.parametrize("event", ["nothing", "wall"])
def test_an_event_that_is_not_there_names_those_that_are(sparkflame, data, event):
    run = sparkflame("convert", data / "jfr" / "jdk17.jfr.gz", "-e", event)
    assert run.returncode == 2
    assert b'no samples of event "%s"; there are: alloc, cpu' % event.encode() in run.stderr
    run = sparkflame("convert", "-", "-e", event, stdin=(data / "jfr" / "jdk17.jfr.gz").read_bytes())
    assert run.stderr == b'sparkflame convert: standard input: no samples of event "%s"\n' % event.encode()


def test_another_event_is_shown_beside_a_file_that_cannot_be_read(sparkflame, tmp_path):
    """The preference for cpu is dropped also if one of the files is missing, with one notice."""
    (tmp_path / "faults.perf").write_bytes(b"x 1/1 1.0: 1 page-faults:\n\t7f00 f+0x1 (/bin/x)\n\n")
    run = sparkflame("convert", "missing", "faults.perf")
    assert run.returncode == 1
    assert run.stdout == b"x;f 1\n"
    assert run.stderr.count(b"missing: cannot open") == 1


def test_a_notice_names_its_file(sparkflame, tmp_path):
    (tmp_path / "good.folded").write_bytes(b"a;b 1\n")
    (tmp_path / "odd.folded").write_bytes(b"a;b 1\na;c\na;b 1\na;b 1\n")
    run = sparkflame("convert", "good.folded", "odd.folded")
    assert run.stderr == b"sparkflame convert: odd.folded: 1 line without a count was skipped, the first is line 2\n"


@pytest.mark.parametrize("name, raw, readable", [
    ("lambda", "org/App$$Lambda$14/0x00007f1234.apply", "org/App lambda.apply"),
    ("lambda of JDK 21", "org/App$$Lambda+0x000078.1234.run", "org/App lambda.run"),
    ("javac", "org/App.lambda$main$0", "org/App.main closure"),
    ("Scala closure", "org/App$.$anonfun$map$1$adapted", "org/App$.map closure"),
    ("specialised", "scala/Function0.apply$mcV$sp", "scala/Function0.apply"),
    ("generated", "org/apache/spark/sql/catalyst/expressions/GeneratedClass$GeneratedIteratorForCodegenStage2.processNext",
     "generated stage 2.processNext"),
    ("plain", "java/lang/Thread.run", "java/lang/Thread.run"),
    ("native", "__memcpy_avx", "__memcpy_avx"),
])
def test_readable_names(sparkflame, name, raw, readable):
    assert list(select(sparkflame, "--names", "readable", text=f"{raw} 1\n".encode())) == [readable]
    assert list(select(sparkflame, text=f"{raw} 1\n".encode())) == [raw]


@pytest.mark.parametrize("raw, normalized", [
    ("org/App$$Lambda$14/0x00007f1234.apply", "org/App$$Lambda.apply"),
    ("org/App$$Lambda$15/1234567.apply", "org/App$$Lambda.apply"),
    ("jdk/internal/reflect/GeneratedMethodAccessor12.invoke", "jdk/internal/reflect/GeneratedMethodAccessor.invoke"),
    ("java/lang/invoke/LambdaForm$MH/0x0000001.invoke", "java/lang/invoke/LambdaForm$MH.invoke"),
    ("com/sun/proxy/$Proxy12.run", "com/sun/proxy/$Proxy.run"),
    ("a/b/C.m1", "a/b/C.m1"),
])
def test_normalized_names_merge_over_runs(sparkflame, raw, normalized):
    assert list(select(sparkflame, "--norm", text=f"{raw} 1\n".encode())) == [normalized]


def test_dots_and_simple(sparkflame):
    text = b"java/lang/Thread.run_[j];a/b_native 1\n"
    assert list(select(sparkflame, "--dot", text=text))[0].startswith("java.lang.Thread.run;")
    assert list(select(sparkflame, "--simple", text=text))[0].startswith("Thread.run;")


def test_kinds(sparkflame):
    text = b"run_[j];inl_[i];slow_[0];sys_[k] 1\n"
    assert list(select(sparkflame, "--kinds", text=text)) == ["run_[j];inl_[i];slow_[0];sys_[k]"]
