"""The job that merges on a cluster: the same bytes as `sparkflame merge`, whatever happens to executors."""

import json
import shutil

import pytest

import fleet
import spark

# name of the output: arguments of the job before the paths, options of the command after them
MERGES = {
    "all.folded": (["-f", "folded"], []),
    "stitched.pb.gz": (["-f", "pprof"], ["--stitch"]),
    "page.html": (["-f", "html"], ["--stitch", "--resolution", "60"]),
    "tables": (["-f", "parquet"], []),
    "stages.folded": (["-f", "folded", "--task-bytes", "1"], ["-e", "wall", "--by", "executor,stage", "--stage", "1,2", "--include", "HashMap"]),
    "samples.parquet": (["-f", "parquet"], ["--table", "samples", "--from", "60s"]),
}


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5", "4")


def uri(path):
    """As Hadoop reads it: nothing is escaped."""
    return f"file://{path}"


def contents(path):
    """The file, or the files of the folder by their names."""
    if path.is_dir():
        return {each.name: each.read_bytes() for each in path.iterdir() if not each.name.startswith(".")}
    return path.read_bytes()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """With some that the plugin has joined, a hidden file, and a folder whose name needs more than a header of tar has."""
    folder = tmp_path_factory.mktemp("fleet") / ("longer " * 12).strip()
    fleet.make(folder, sequences=(9, 10, 11))
    (folder / "team" / "app-0" / "1" / ".10.jfr.unfinished").write_bytes(b"x")
    joined = folder / "team" / "app-2" / "exec-1"
    joined.mkdir(parents=True)
    parts = [fleet.recording("app-2", "1", number) for number in (1, 2)]
    (joined / "000001-000002.jfr").write_bytes(b"".join(parts))
    (joined / "000002.jfr").write_bytes(parts[1])
    return folder


@pytest.fixture(scope="module")
def merged(binary, recordings, tmp_path_factory):
    """(statuses by name, folder of outputs, log) of all merges, in one session, and of one with broken objects."""
    folder = tmp_path_factory.mktemp("merged")
    broken = folder / "broken"
    shutil.copytree(recordings, broken)
    (broken / "1.jfr").write_bytes(b"\1\2\3\4" * 100)
    (broken / "2.jfr").write_bytes(b"")
    common = ["--sparkflame", str(binary), "--task-bytes", "9000"]
    calls = [[*common, *before, uri(recordings), uri(folder / name), "--", *after] for name, (before, after) in MERGES.items()]
    calls.append([*common, "-f", "folded", uri(broken), uri(folder / "broken.folded")])
    calls.append([*common, "-f", "folded", uri(broken), uri(folder / "all.folded"), "--", "--skip-broken"])
    calls.append([*common, "-f", "folded", uri(recordings / "team" / "app-[01]"), uri(folder / "pattern.folded")])
    calls.append([*common, "-f", "folded", uri(recordings)])
    (folder / "calls.json").write_text(json.dumps(calls))
    done = spark.submit("3.5", folder / "job", "merge_profiles.py", folder / "calls.json", conf={"spark.plugins": None, "spark.log.level": "WARN"})
    line = next((line for line in done.log.splitlines() if line.startswith("FOUND ")), None)
    assert line is not None, done.log[-5000:]
    return dict(zip([*MERGES, "broken.folded", "again", "pattern.folded", "usage"], json.loads(line[6:]))), folder, done.log


@pytest.mark.parametrize("name", MERGES)
def test_the_bytes_are_those_of_the_command(sparkflame, merged, recordings, tmp_path, name):
    statuses, folder, log = merged
    before, after = MERGES[name]
    done = sparkflame("merge", "-q", *before[:2], *after, "-o", tmp_path / name, recordings)
    assert done.returncode == 0, done.stderr
    assert statuses[name] == 0, log[-5000:]
    assert contents(folder / name) == contents(tmp_path / name)
    assert not [path for path in folder.iterdir() if ".merge-" in path.name]


def test_broken_objects_are_listed_and_left_out(merged):
    statuses, folder, log = merged
    assert (statuses["broken.folded"], statuses["again"], statuses["pattern.folded"], statuses["usage"]) == (1, 0, 0, 2)
    assert (folder / "broken.folded").read_bytes() == (folder / "all.folded").read_bytes()
    skipped = [line for line in log.splitlines() if line.startswith("sparkflame: skipped: ")]
    assert len(skipped) == 4 and "/1.jfr: unknown format" in skipped[0] and "/2.jfr: is empty" in skipped[1], skipped
    assert "19 of 21 objects" in log, log[-5000:]


def test_a_pattern_of_folders(sparkflame, merged, recordings):
    done = sparkflame("merge", "-q", recordings / "team" / "app-0", recordings / "team" / "app-1")
    assert (merged[1] / "pattern.folded").read_bytes() == done.stdout


def test_executors_that_are_killed_change_nothing(sparkflame, binary, recordings, tmp_path):
    """One dies while it reads objects, another while it writes the output."""
    wrapper = tmp_path / "sparkflame.sh"
    wrapper.write_text(f"""#!/bin/bash
kind=output; [[ " $* " == *" --partial "* ]] && kind=partial
if mkdir "{tmp_path}/$kind" 2> /dev/null; then
    head -c 1000 > /dev/null
    kill -9 $PPID
    exit 1
fi
exec "{binary}" "$@"
""")
    wrapper.chmod(0o755)
    done = spark.submit("4", tmp_path / "job", spark.PLUGIN, "--sparkflame", wrapper, "--task-bytes", 9000, "-f", "parquet", uri(recordings),
                        uri(tmp_path / "tables"), master="local-cluster[2,1,1024]", conf={"spark.plugins": None, "spark.log.level": "WARN"},
                        options=("--class", "org.sparkflame.MergeProfiles"))
    assert done.returncode == 0, done.log[-5000:]
    assert (tmp_path / "partial").is_dir() and (tmp_path / "output").is_dir()
    assert sparkflame("merge", "-q", "-f", "parquet", "-o", tmp_path / "expected", recordings).returncode == 0
    assert contents(tmp_path / "tables") == contents(tmp_path / "expected")
