"""The structure of PySpark's worker: runs one task after the other, and prints each to standard output."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pyspark.taskcontext import TaskContext  # noqa: E402  (found by the line above)


def task_work(until):
    while time.perf_counter() < until:
        pass


def serve(number):
    context = TaskContext._getOrCreate()
    context._stageId = 7 + number // 4
    context._partitionId = number % 4
    context._attemptNumber = number % 2
    context._taskAttemptId = 5000000000 + number
    context._localProperties = {"spark.job.description": "test"}
    globals()[f"task_{number}"](time.perf_counter() + 0.08)
    TaskContext._taskContext = None


def main():
    source = "def task_{0}(until):\n    task_work(until)\n"
    for number in range(12):
        exec(source.format(number), globals())
    print("ready", flush=True)
    input()
    for number in range(12):
        serve(number)


if __name__ == "__main__":
    main()
