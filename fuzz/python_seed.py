"""Is sampled by record_python_memory for the seeds of fuzz_python_memory: threads with names, a generator, a task of PySpark."""

import sys
import threading
import types


class TaskContext:
    _taskContext = None


class Task:
    pass


def wait(event):
    event.wait()


def generate(event):
    yield wait(event)


def run(event):
    for _ in generate(event):
        pass


TaskContext._taskContext = Task()
for number, field in enumerate(["_taskAttemptId", "_stageId", "_partitionId", "_attemptNumber"]):
    setattr(TaskContext._taskContext, field, number << 31)
module = types.ModuleType("pyspark.taskcontext")
module.TaskContext = TaskContext
# As few as possible, so that the seeds are small.
kept = {name: sys.modules[name] for name in ["sys", "builtins", "__main__", "threading"]}
sys.modules.clear()
sys.modules.update(kept)
sys.modules["pyspark.taskcontext"] = module
forever = threading.Event()
threading.Thread(target=run, args=[forever], name="näme", daemon=True).start()
print("ready", flush=True)
run(forever)
