"""A rotated recording: nothing is lost between two files, and each can be read separately."""

import re

import jvm
from test_jvm_agent_jfr import events, methods, summary
from test_jvm_agent_tags import labels_at

TIMES = 8


def test_nothing_is_lost_between_two_files(tmp_path):
    classes = jvm.compile_classes(tmp_path / "classes", "org/sparkflame/Agent", "Tags", "Rotates")
    done = jvm.run_java(jvm.home_of("17"), classes, None, "Rotates", jvm.LIBRARY, tmp_path, TIMES)
    assert "refused: cannot write" in done.stdout, done.stdout
    files = [tmp_path / f"{number}.jfr" for number in range(TIMES + 1)]
    counts = [summary(path)[1].get("jdk.ExecutionSample", 0) for path in files]
    taken = int(re.search(r"^samples_total (\d+)$", done.stdout, re.MULTILINE)[1])
    assert sum(counts) == taken and sum(count > 0 for count in counts) > TIMES // 2, (counts, taken)
    working = untagged = 0
    for path in files:
        labels = sorted(events(path, "sparkflame.Labels"), key=lambda event: event["startTime"])
        for sample in events(path, "jdk.ExecutionSample"):
            if "Rotates.work" in methods(sample):
                working += 1
                tag = labels_at(labels, sample["sampledThread"]["osThreadId"], sample["startTime"])
                untagged += tag != "stage=1;task=10"
    assert working > 100 and untagged == 0, (working, untagged)
