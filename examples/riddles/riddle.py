"""What the jobs have in common: a context that profiles its Python workers when spark.python.profile is set."""

from pyspark import SparkConf, SparkContext
from pyspark_profilers import CpuMemStackProfiler


def riddle(name, job, size):
    context = SparkContext(conf=SparkConf().setAppName(name), profiler_cls=CpuMemStackProfiler)
    try:
        job(context, size)
    finally:
        context.stop()
