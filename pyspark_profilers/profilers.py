"""The profilers. An instance is made in the driver, travels to the workers with the function it is to watch, and gets
back what they saw through accumulators."""

import json
import os

from pyspark.accumulators import AccumulatorParam
from pyspark.profiler import Profiler

from pyspark_profilers.watch import Watch

INTERVAL_VARIABLE = "profile_interval"
DEFAULT_INTERVAL_SECONDS = 0.1
LEAST_INTERVAL_SECONDS = 0.001


def interval_seconds():
    text = os.environ.get(INTERVAL_VARIABLE, "")
    if not text:
        return DEFAULT_INTERVAL_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not LEAST_INTERVAL_SECONDS <= seconds < float("inf"):
        raise ValueError(f"{INTERVAL_VARIABLE}={text}: must be seconds, {LEAST_INTERVAL_SECONDS} or more")
    return seconds


class Counts(AccumulatorParam):
    """{stack: count}"""

    def zero(self, value):
        return {}

    def addInPlace(self, value1, value2):
        for key, count in value2.items():
            value1[key] = value1.get(key, 0) + count
        return value1


class Lists(AccumulatorParam):
    """{pid: [record, …]}"""

    def zero(self, value):
        return {}

    def addInPlace(self, value1, value2):
        for key, records in value2.items():
            value1.setdefault(key, []).extend(records)
        return value1


class WatchingProfiler(Profiler):
    """What the three have in common; they say what is looked at."""

    takes_stacks = False
    takes_memory = False

    def __init__(self, ctx):
        super().__init__(ctx)
        self.interval_seconds = interval_seconds()
        self._stacks = ctx.accumulator({}, Counts())
        self._memory = ctx.accumulator({}, Lists())

    def profile(self, func, *args, **kwargs):
        """Run the function, watched. What was seen is kept when it fails, too."""
        watch = Watch(self.interval_seconds, self.takes_stacks, self.takes_memory)
        try:
            return watch.run(func, *args, **kwargs)
        finally:
            self._stacks.add(watch.stacks)
            self._memory.add({os.getpid(): watch.memory} if watch.memory else {})

    def stats(self):
        """{"stacks": {(innermost frame, …): count}, "memory": {pid: [record, …]}}"""
        return {"stacks": self._stacks.value, "memory": self._memory.value}

    def files(self, id):
        """(name, records) of each file that `dump` leaves."""
        stacks = sorted(self._stacks.value.items(), key=lambda item: (-item[1], item[0]))
        if stacks:
            yield f"s_{id}_stack.json", [{"stacktrace": list(stack), "count": count, "i_d": f"{id}_id"}
                                         for stack, count in stacks]
        for pid, records in sorted(self._memory.value.items()):
            yield f"s_{id}_{pid}_cpumem.json", sorted(records, key=lambda record: record["epochMillis"])

    def show(self, id):
        """Print the records of one data set."""
        print("=" * 60)
        print(f"Profile of RDD<id={id}>")
        print("=" * 60)
        for _, records in self.files(id):
            for record in records:
                print(json.dumps(record))

    def dump(self, id, path):
        """Write the records of one data set into files of this folder."""
        os.makedirs(path, exist_ok=True)
        for name, records in self.files(id):
            with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in records)


class StackProfiler(WatchingProfiler):
    """Where the time goes: stacks of the thread that works, waiting or not."""

    takes_stacks = True


class CpuMemProfiler(WatchingProfiler):
    """Memory, page faults and use of the processor of each worker, over time."""

    takes_memory = True


class CpuMemStackProfiler(WatchingProfiler):
    """Both."""

    takes_stacks = True
    takes_memory = True
