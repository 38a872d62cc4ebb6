"""The structure of PySpark's task context, as far as a sampler reads it."""


class TaskContext:
    _taskContext = None
    _attemptNumber = None
    _partitionId = None
    _stageId = None
    _taskAttemptId = None
    _localProperties = None

    @classmethod
    def _getOrCreate(cls):
        if TaskContext._taskContext is None:
            TaskContext._taskContext = TaskContext()
        return TaskContext._taskContext
