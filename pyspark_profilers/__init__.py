"""Profilers for `SparkContext(profiler_cls=…)`: where Python workers spend their time, and what memory they take.

    from pyspark_profilers import CpuMemStackProfiler
    conf = SparkConf().set("spark.python.profile", "true")
    context = SparkContext(conf=conf, profiler_cls=CpuMemStackProfiler)
    …
    context.dump_profiles("profiles")       # or context.show_profiles()

`dump_profiles` leaves `s_N_stack.json` and `s_N_PID_cpumem.json` for the data set (RDD) N; sparkflame flame, convert,
metrics and report read both. The environment variable `profile_interval` of the driver gives the seconds between two
looks (default: 0.1).
"""

from pyspark_profilers.profilers import CpuMemProfiler, CpuMemStackProfiler, StackProfiler

# Names for a job's arguments.
profiler_map = {
    "stack": StackProfiler, "stackprofiler": StackProfiler,
    "cpumem": CpuMemProfiler, "cpumemprofiler": CpuMemProfiler,
    "cpumemstack": CpuMemStackProfiler, "cpumemstackprofiler": CpuMemStackProfiler,
    "stackcpumem": CpuMemStackProfiler, "stackcpumemprofiler": CpuMemStackProfiler, "both": CpuMemStackProfiler,
}

__all__ = ["CpuMemProfiler", "CpuMemStackProfiler", "StackProfiler", "profiler_map"]
