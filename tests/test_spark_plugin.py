"""The plugin in real Spark: samples have their tasks, recordings survive, and a job ends as it would have without it."""

import collections
import datetime
import json
import math
import re

import pytest

import jvm
import spark

INTERVAL_NS = 10_000_000
SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module", autouse=True)
def sparks():
    spark.prepare("3.5", "4")


def samples(sparkflame, *arguments, by="task", parts=1):
    """{label: count} of CPU samples; with several labels, as many `parts` of them."""
    done = sparkflame("convert", *([] if "-e" in arguments else ["-e", "cpu"]), "--bare-names", "-f", "folded", "--by", by, *arguments)
    assert done.returncode == 0, done.stderr
    counts = collections.Counter()
    for line in done.stdout.decode().splitlines():
        label, count = ";".join(line.split(";", parts)[:parts]), line.rsplit(" ", 1)[1]
        counts[label] += int(count)
    return counts


def correlation(pairs):
    n = len(pairs)
    mean_x, mean_y = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
    both = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    return both / math.sqrt(sum((x - mean_x) ** 2 for x, _ in pairs) * sum((y - mean_y) ** 2 for _, y in pairs))


def moment(milliseconds):
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def check_task_times(sparkflame, tasks, recordings):
    """CPU time per task as sampled and as the event log has it. A task's tag begins where it is read."""
    counts = samples(sparkflame, *recordings)
    pairs = []
    for number, (_, metrics) in tasks.items():
        logged_ns = metrics["Executor CPU Time"] + metrics["Executor Deserialize CPU Time"]
        if logged_ns > SECOND_NS // 2:
            pairs.append((counts[f"task {number}"] * INTERVAL_NS, logged_ns))
    assert len(pairs) >= 4, pairs
    total = sum(x for x, _ in pairs) / sum(y for _, y in pairs)
    assert correlation(pairs) >= 0.99 and abs(total - 1) <= 0.05, (pairs, total)


def check_tags(sparkflame, tasks, recordings):
    """Threads that run tasks have a tag in all but 1 % of their samples, and no task has samples outside its time."""
    pattern = "^Executor task launch worker"
    counts = samples(sparkflame, "--thread", pattern, *recordings)
    assert counts["[no task]"] <= 0.01 * sum(counts.values()), counts
    longest = sorted(tasks, key=lambda number: -tasks[number][1]["Executor CPU Time"])[:2]
    for number in longest:
        info = tasks[number][0]
        inside = samples(sparkflame, "--from", moment(info["Launch Time"] - 1), "--to", moment(info["Finish Time"] + 1),
                         "--task", number, *recordings)
        assert inside[f"task {number}"] == counts[f"task {number}"] > 0, (number, inside, counts)


def check_python(sparkflame, folder, recordings, function, description):
    """Samples of a Python function belong to the tasks of its job, and to both of them."""
    stages = {stage for event in spark.events(folder) if event["Event"] == "SparkListenerJobStart"
              and event["Properties"].get("spark.job.description") == description for stage in event["Stage IDs"]}
    ours = {f"task {event['Task Info']['Task ID']}" for event in spark.events(folder)
            if event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in stages}
    counts = samples(sparkflame, "-I", function, *recordings)
    total = sum(counts.values())
    assert len(ours) == 2 and total > 50, (ours, counts)
    assert sum(counts[task] for task in ours) >= 0.95 * total, (ours, counts)
    # Two seconds of CPU each, however long they took.
    assert all(abs(counts[task] * INTERVAL_NS / (2 * SECOND_NS) - 1) <= 0.15 for task in ours), (ours, counts)


def check_labels(sparkflame, folder, recordings, application):
    """Executors, the application, and the job of each stage as the event log has it; a group's texts with all signs."""
    executors = samples(sparkflame, *recordings, by="application,executor")
    assert set(executors) == {application}, executors
    assert set(samples(sparkflame, *recordings, by="executor")) == {"executor 0", "executor 1", "executor 2"}
    jobs = {stage: event["Job ID"] for event in spark.events(folder) if event["Event"] == "SparkListenerJobStart"
            for stage in event["Stage IDs"]}
    counts = samples(sparkflame, *recordings, by="stage,job", parts=2)
    tagged = {pair: count for pair, count in counts.items() if pair.startswith("stage ")}
    right = sum(tagged.get(f"stage {stage};job {job}", 0) for stage, job in jobs.items())
    assert right >= 0.98 * sum(tagged.values()) > 0, (tagged, jobs)
    groups = samples(sparkflame, "-I", "burn_python", *recordings, by="group,description", parts=2)
    assert groups.most_common(1)[0][0] == "group night=1;description burn, in Python", groups


def check_objects(folder, application):
    """Numbered without a gap. What the killed executor left on the local disk, the one in its place has shipped."""
    out = folder / "out" / application
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    unfinished = [name for name in names if "unfinished" in name and not name.endswith(".crc")]
    assert len(unfinished) <= 1 and all(name.startswith("exec-0/.") for name in unfinished), unfinished
    shipped = collections.defaultdict(list)
    for name in names:
        found = re.fullmatch(r"(driver|exec-\d+)/(\d{6})\.jfr", name)
        if found:
            shipped[found[1]].append(int(found[2]))
    assert {"driver", "exec-0", "exec-1", "exec-2"} == set(shipped), names
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in shipped.values()), shipped
    assert not list((folder / "local").rglob("*.*")), list((folder / "local").rglob("*"))


def check_cluster(version, sparkflame, tmp_path):
    done = spark.submit(version, tmp_path, "task_times.py", 20_000_000, master="local-cluster[2,1,1024]", pandas=True, compiled=True,
                        conf={"spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.sparkflame.interval": "2s"})
    assert done.returncode == 0, done.log[-5000:]
    tasks = spark.finished_tasks(tmp_path)
    (application,) = [path.name for path in (tmp_path / "out").iterdir()]
    assert any(line.startswith("sparkflame: the driver is profiled") for line in spark.said(done.log)), done.log[-5000:]
    check_objects(tmp_path, application)
    recordings = sorted((tmp_path / "out" / application).glob("exec-*/*.jfr"))
    check_task_times(sparkflame, tasks, recordings)
    check_tags(sparkflame, tasks, recordings)
    check_python(sparkflame, tmp_path, recordings, "burn_python", "burn, in Python")
    check_python(sparkflame, tmp_path, recordings, "burn_pandas", "burn, in pandas")
    check_labels(sparkflame, tmp_path, recordings, application)
    executions = {"sql 0", "sql 1", "sql 2", "sql 3", "sql 4"}
    sql = samples(sparkflame, *recordings, by="sql")
    assert executions <= set(sql), sql
    # Threads of the driver wait for the tasks of each.
    waits = samples(sparkflame, "-e", "wall", *(tmp_path / "out" / application).glob("driver/*.jfr"), by="sql")
    assert executions <= set(waits), waits


@pytest.mark.parametrize("version", ["3.5", "4"])
def test_a_cluster_is_profiled_task_by_task(version, sparkflame, tmp_path):
    check_cluster(version, sparkflame, tmp_path)


def test_trouble_of_ours_is_none_of_the_job(sparkflame, tmp_path):
    """An outputDir that cannot be made, in local mode: one recorder, whose recordings stay where they are."""
    (tmp_path / "file").write_text("")
    done = spark.submit("3.5", tmp_path / "run", "small.py",
                        conf={"spark.sparkflame.outputDir": (tmp_path / "file" / "out").as_uri()})
    assert done.returncode == 0 and "sum 499500" in done.log, done.log[-5000:]
    said = spark.said(done.log)
    assert len([line for line in said if "is profiled" in line]) == 1, said
    (line,) = [line for line in said if "cannot write to" in line]
    assert "recordings stay in" in line, line
    recordings = list((tmp_path / "run" / "local").rglob("*.jfr"))
    assert recordings and sum(samples(sparkflame, *recordings).values()) > 0


def test_a_full_local_disk_is_none_of_the_job(sparkflame, tmp_path):
    """Two recordings in a row cannot be written: the one before goes on meanwhile, and nothing is lost."""
    done = spark.submit("3.5", tmp_path, "full_disk.py", tmp_path / "local", tmp_path / "out", conf={
        "spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.sparkflame.interval": "1s"})
    found = re.search(r"^sum 2999997 last (\d+)$", done.log, re.M)
    assert done.returncode == 0 and found, (done.returncode, found, done.log[-5000:])
    said = spark.said(done.log)
    (line,) = [line for line in said if "cannot begin a new recording in " in line]
    assert "No space left on device" in line, line
    assert len([line for line in said if line.endswith("again")]) == 1, said
    recordings = sorted((tmp_path / "out").rglob("*.jfr"))
    numbers = [int(path.stem) for path in recordings]
    full = int(found[1])
    assert numbers == [*range(1, full - 1), *range(full + 1, numbers[-1] + 1)] and numbers[-1] > full, numbers
    # The last one, from the last interval's end to that of the job, may be shorter than the interval of wall samples.
    assert sum(samples(sparkflame, recordings[-1]).values()) > 0
    counts = {number: sum(samples(sparkflame, "-e", "wall", path).values()) for number, path in zip(numbers, recordings[:-1])}
    usual = sorted(counts.values())[len(counts) // 2]
    assert min(counts.values()) > 0 and counts[full - 2] >= 2 * usual, counts
    assert not list((tmp_path / "local").rglob("*.jfr"))


def test_a_file_system_that_hangs_is_none_of_the_job(sparkflame, tmp_path):
    """After the time that is configured shutdown continues without the last recording, which is complete on the local disk."""
    home = spark.fetch_spark.fetch("3.5")
    classes = jvm.compile_classes(tmp_path / "classes", "HangingFiles", class_path=f"{home}/jars/*")
    (tmp_path / "hang").touch()
    done = spark.submit("3.5", tmp_path / "run", "small.py", conf={
        "spark.sparkflame.outputDir": f"hang://{tmp_path}/out", "spark.hadoop.fs.hang.impl": "HangingFiles",
        "spark.driver.extraClassPath": classes, "spark.sparkflame.shutdownTimeout": "2s",
        "spark.sparkflame.interval": "600s"})
    assert done.returncode == 0 and "sum 499500" in done.log, done.log[-5000:]
    (waited,) = re.findall(r"(\d+) ms after shutdown the last recording is not yet shipped to hang:", done.log)
    # What is left to a busy machine.
    assert 2000 <= int(waited) < 9000
    (recording,) = (tmp_path / "run" / "local").rglob("*.jfr")
    assert sum(samples(sparkflame, recording).values()) > 0 and not list((tmp_path / "out").rglob("0*.jfr"))


def check_python_metrics(sparkflame, recordings):
    """Two workers had their memory, and used the processor for as long as they say."""
    done = sparkflame("metrics", "-f", "json", *recordings)
    assert done.returncode == 0, done.stderr
    most = collections.defaultdict(dict)
    for series in json.loads(done.stdout)["metrics"]:
        if series["role"] == "python":
            most[series["process"]][series["metric"]] = max(value for _, value in series["points"])
    burnt = [one for one in most.values() if one["rss"] > 96 << 20 and one["process_cpu_time"] >= 1.4e9 and "process_cpu" in one]
    assert len(burnt) >= 2 and all(name.endswith(" of driver") for name in most), most


def test_spark_4_on_java_25_with_a_python_source(sparkflame, tmp_path):
    home = spark.java_without_incubator(tmp_path / "java", jvm.home_of("25"))
    done = spark.submit("4", tmp_path / "run", "python_source.py", pandas=True, env={"JAVA_HOME": str(home)},
                        conf={"spark.sparkflame.outputDir": (tmp_path / "out").as_uri(), "spark.sparkflame.compress": "true"})
    assert done.returncode == 0 and "rows 4" in done.log, done.log[-5000:]
    recordings = list((tmp_path / "out").rglob("driver/*.jfr.gz"))
    assert recordings, done.log[-5000:]
    tasks = samples(sparkflame, "-I", "burn_source", *recordings)
    assert sum(tasks.values()) > 100 and tasks["[no task]"] <= 0.05 * sum(tasks.values()) and len(tasks) >= 2, tasks
    check_python_metrics(sparkflame, recordings)
    threads = samples(sparkflame, "-e", "wall", "--label", "sql=0", *recordings, by="thread")
    assert any(name.startswith("Thread-") for name in threads), threads


def test_keys_and_names_of_sparks_own_profiler(tmp_path):
    done = spark.submit("3.5", tmp_path, "small.py", conf={
        "spark.plugins": "org.apache.spark.profiler.ProfilerPlugin", "spark.profiler.driver.enabled": "true",
        "spark.profiler.dfsDir": (tmp_path / "dfs").as_uri(), "spark.profiler.asyncProfiler.args": "event=ctimer"})
    assert done.returncode == 0, done.log[-5000:]
    (recording,) = (tmp_path / "dfs").rglob("*.jfr")
    assert recording.name == "profile-driver.jfr" and recording.parent.name.startswith("local-")
    assert jvm.LIBRARY.exists() and "jdk.ExecutionSample" in jvm_summary(recording)


def jvm_summary(path):
    from test_jvm_agent_jfr import jfr
    return jfr("summary", path)


def test_a_wrong_value_is_refused_by_name(tmp_path):
    done = spark.submit("4", tmp_path, "small.py", conf={"spark.sparkflame.interval": "soon"})
    assert done.returncode == 0 and "sum 499500" in done.log, done.log[-5000:]
    (line,) = spark.said(done.log)
    assert line.startswith('sparkflame: spark.sparkflame.interval: "soon" is not a duration'), line
    assert not list(tmp_path.rglob("*.jfr"))
