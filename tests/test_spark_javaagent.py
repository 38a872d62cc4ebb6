"""The plugin's jar as a javaagent, with the arguments and records of Uber's JVM profiler."""

import collections
import json

import pytest

import jvm
import spark


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A program that burns two functions, with all records."""
    folder = tmp_path_factory.mktemp("javaagent")
    arguments = ("metricInterval=500,sampleInterval=50,tag=nightly,ioProfiling=true,threadProfiling=true,"
                 f"reporter=com.uber.profiling.reporters.FileOutputReporter,outputDir={folder / 'deep' / 'out'}")
    done = jvm.run_java(jvm.system_home(), jvm.compile_classes(folder, "Shares"), None, "Shares", 3000,
                        options=[f"-javaagent:{spark.PLUGIN}={arguments}", "-Xmx64m"])
    return folder / "deep" / "out", done


def records(folder, kind):
    return [json.loads(line) for line in (folder / f"{kind}.json").read_text().splitlines()]


def test_records_have_the_fields_of_ubers(ran):
    folder, done = ran
    wanted = {"ProcessInfo": "agentVersion appClass xmxBytes jvmInputArguments jvmClassPath cmdline",
              "CpuAndMemory": "processCpuLoad systemCpuLoad processCpuTime heapMemoryTotalUsed nonHeapMemoryMax gc "
                              "memoryPools bufferPools vmRSS vmPeak",
              "IO": "self stat", "ThreadInfo": "totalStartedThreadCount newThreadCount liveThreadCount peakThreadCount"}
    for kind, fields in wanted.items():
        found = records(folder, kind)
        assert found, (kind, done.stderr)
        for record in found:
            assert set(f"{fields} epochMillis name host processUuid appId tag".split()) <= set(record), (kind, record)
            assert record["tag"] == "nightly"
    assert len(records(folder, "ProcessInfo")) == 1
    assert all(set("startEpoch endEpoch threadName threadState stacktrace count".split()) <= set(record)
               for record in records(folder, "Stacktrace"))


def test_our_readers_read_them(ran, sparkflame):
    folder, _ = ran
    stacks = sparkflame("convert", "-f", "folded", folder / "Stacktrace.json")
    assert stacks.returncode == 0 and b"Shares.main" in stacks.stdout.replace(b"/", b"."), stacks
    metrics = sparkflame("metrics", folder / "CpuAndMemory.json", folder / "IO.json", folder / "ThreadInfo.json")
    assert metrics.returncode == 0, metrics.stderr
    for name in (b"heap_used", b"process_cpu_time", b"rss", b"gc_count", b"read_characters", b"threads"):
        assert name in metrics.stdout, (name, metrics.stdout)
    recording = sparkflame("convert", "-e", "cpu", "-f", "folded", *folder.glob("jvm-*.jfr"))
    assert recording.returncode == 0 and b"Shares.main" in recording.stdout, recording


def test_console_noop_and_wrong_arguments(tmp_path):
    classes = jvm.compile_classes(tmp_path, "Shares")

    def run(arguments):
        return jvm.run_java(jvm.system_home(), classes, None, "Shares", 100,
                            options=[f"-javaagent:{spark.PLUGIN}={arguments}", "-Xmx64m"])
    done = run("recording=false")
    kinds = collections.Counter(line.split(": ", 1)[0] for line in done.stdout.splitlines() if "OutputReporter" in line)
    assert {"ConsoleOutputReporter - ProcessInfo", "ConsoleOutputReporter - CpuAndMemory"} == set(kinds), done.stdout
    done = run("noop=true")
    assert "OutputReporter" not in done.stdout and "sparkflame" not in done.stderr, done
    done = run("metricInterval=soon")
    assert done.stderr.startswith('sparkflame: off: metricInterval: "soon" is not a number'), done.stderr
