"""Writes event logs of made-up runs, for tests of arithmetic: what each task did is known exactly."""

import json

START_MS = 1_700_000_000_000


class EventLog:
    """Times are milliseconds since the start."""

    def __init__(self, name="made up", properties=None, application="app-20231114221320-0001"):
        self.events = [{"Event": "SparkListenerLogStart", "Spark Version": "4.0.1"},
                       {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {"Java Version": "17"},
                        "Spark Properties": properties or {}},
                       {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": application,
                        "Timestamp": START_MS, "User": "me"}]
        self.tasks = 0

    def executor(self, number, cores, added=0):
        self.events.append({"Event": "SparkListenerExecutorAdded", "Timestamp": START_MS + added, "Executor ID": str(number),
                            "Executor Info": {"Host": f"host-{number}", "Total Cores": cores}})

    def executor_removed(self, number, at, reason="idle"):
        self.events.append({"Event": "SparkListenerExecutorRemoved", "Timestamp": START_MS + at, "Executor ID": str(number), "Removed Reason": reason})

    def job(self, number, start, end, stages, **properties):
        """`stages`: from stage()."""
        infos = [{key: info[key] for key in ("Stage ID", "Stage Attempt ID", "Stage Name", "Number of Tasks", "RDD Info")} for info, _ in stages]
        self.events.append({"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": START_MS + start, "Stage Infos": infos,
                            "Stage IDs": [info["Stage ID"] for info in infos], "Properties": properties})
        for info, tasks in stages:
            self.events.append({"Event": "SparkListenerStageSubmitted", "Stage Info": {key: value for key, value in info.items() if key != "Completion Time"}})
            self.events += tasks
            self.events.append({"Event": "SparkListenerStageCompleted", "Stage Info": info})
        self.events.append({"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": START_MS + end, "Job Result": {"Result": "JobSucceeded"}})

    def stage(self, number, start, end, tasks, reads=()):
        """`tasks`: (executor, start, end) or with further members of the metrics; `reads`: the stages that it follows."""
        info = {"Stage ID": number, "Stage Attempt ID": 0, "Stage Name": f"count at job.py:{number}", "Number of Tasks": len(tasks),
                "RDD Info": [{"RDD ID": 10 * number, "Name": "", "Parent IDs": [10 * stage for stage in reads]}],
                "Submission Time": START_MS + start, "Completion Time": START_MS + end}
        return info, [self.task(number, index, *task) for index, task in enumerate(tasks)]

    def task(self, stage, index, executor, start, end, metrics=None, reason="Success"):
        self.tasks += 1
        return {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Stage Attempt ID": 0, "Task Type": "ResultTask",
                "Task End Reason": {"Reason": reason},
                "Task Info": {"Task ID": self.tasks, "Index": index, "Attempt": 0, "Launch Time": START_MS + start, "Executor ID": str(executor),
                              "Host": f"host-{executor}", "Locality": "ANY", "Speculative": False, "Getting Result Time": 0,
                              "Finish Time": START_MS + end, "Failed": reason != "Success", "Killed": False, "Accumulables": []},
                "Task Metrics": {"Executor Run Time": end - start, "Executor CPU Time": (end - start) * 10**6, **(metrics or {})}}

    def query(self, number, start, end, plan, counters=()):
        """`plan`: from operator(); `counters`: (id, value)."""
        sql = "org.apache.spark.sql.execution.ui.SparkListener"
        self.events += [{"Event": sql + "SQLExecutionStart", "executionId": number, "description": "a query", "details": "", "sparkPlanInfo": plan,
                         "time": START_MS + start},
                        {"Event": sql + "DriverAccumUpdates", "executionId": number, "accumUpdates": [list(counter) for counter in counters]},
                        {"Event": sql + "SQLExecutionEnd", "executionId": number, "time": START_MS + end}]

    def write(self, path, end):
        events = [*self.events, {"Event": "SparkListenerApplicationEnd", "Timestamp": START_MS + end}]
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        return path


def operator(name, detail="", children=(), counters=()):
    """Of a query's plan; `counters`: (name, id)."""
    return {"nodeName": name, "simpleString": detail or name, "children": list(children), "metadata": {},
            "metrics": [{"name": counter, "accumulatorId": number, "metricType": "sum"} for counter, number in counters]}
