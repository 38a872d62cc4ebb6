"""Two Python tasks, one that works and takes memory, one that waits, with each profiler: profiled.py FOLDER"""

import sys
import time

from pyspark import SparkConf, SparkContext
from pyspark_profilers import profiler_map

SECONDS = 1
MEBIBYTES = 64


def work():
    kept = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or len(kept) < MEBIBYTES:
        if len(kept) < MEBIBYTES:
            kept.append(bytearray(b"x") * (1 << 20))
        sum(range(1000))
    return len(kept)


def rest():
    time.sleep(SECONDS)
    return 0


def profile(name, functions, folder):
    conf = SparkConf().setAppName("profiled").set("spark.python.profile", "true")
    context = SparkContext(conf=conf, profiler_cls=profiler_map[name])
    result = context.parallelize(functions, len(functions)).map(lambda function: function()).collect()
    context.show_profiles()
    context.dump_profiles(f"{folder}/{name}")
    context.stop()
    return result


def main(folder):
    print("result", profile("cpumemstack", [work, rest], folder), profile("stack", [rest], folder),
          profile("cpumem", [rest], folder))


main(*sys.argv[1:])
