"""A recording of weeks in seconds: ever new stacks within a small memory limit, and a hot method at the end."""

import functools
import os
import re
import subprocess
import time

import jvm
from test_jvm_agent_jfr import events

PROGRAM = "ManyStacks"
HEAP = ("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
INTERVAL_MS = 1


def anonymous_kb(pid):
    """The process's memory that is not of files."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1])
    except (OSError, TypeError):
        return 0


def run(home, classes, main, *arguments, options=HEAP):
    """What the program printed as {name: number}, and its largest anonymous memory in KB."""
    with subprocess.Popen([home / "bin" / "java", *options, "-cp", str(classes), main, *map(str, arguments)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, anonymous_kb(process.pid))
            time.sleep(0.1)
        text = process.stdout.read()
    assert process.returncode == 0, text
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", text)}, peak


def folded(path, target):
    """[(frames, count)] of a recording."""
    if path.suffix == ".jfr":
        command = [os.environ.get("SPARKFLAME", jvm.ROOT / "build" / "sparkflame"), "convert", path, "-o", target]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        path = target
    return jvm.read_folded(path)


@functools.cache
def memory_without_agent(home, classes, many_ms, hot_ms, threads):
    return run(home, classes, PROGRAM, many_ms, hot_ms, threads)[1]


def measure(home, classes, path, options, many_ms, hot_ms, threads=1):
    """The figures of one run, beside what the program says of itself."""
    log = path.with_name(path.name + ".log")
    agent = f"start,event=ctimer,interval={INTERVAL_MS}ms,file={path},log={log}{options}"
    without = memory_without_agent(home, classes, many_ms, hot_ms, threads)
    told, peak = run(home, classes, PROGRAM, many_ms, hot_ms, threads, options=[*HEAP, f"-agentpath:{jvm.LIBRARY}={agent}"])
    stacks = folded(path, path.with_suffix(".folded"))
    own = [(frames, count) for frames, count in stacks if "ManyStacks$Worker.run" in frames]
    samples = sum(count for _, count in own)
    hot = sum(count for frames, count in own if "ManyStacks.hot" in frames)
    cpu_ms = (told["many_ns"] + told["hot_ns"]) / 1e6
    return {"paths": told["paths"], "samples": samples, "hot_share": hot / samples, "true_share": told["hot_ns"] / 1e6 / cpu_ms,
            "cpu_ratio": samples * INTERVAL_MS / cpu_ms, "agent_kb": peak - without,
            "log": log.read_text(encoding="utf-8") if log.exists() else ""}


def writer_ns(path):
    """CPU time of the agent's own thread."""
    text = events(path, "sparkflame.AgentStatistics")[-1]["writerTime"]
    minutes, seconds = re.fullmatch(r"PT(?:(\d+)M)?(?:([\d.]+)S)?", text).groups()
    return int((60 * int(minutes or 0) + float(seconds or 0)) * 1e9)


def measure_sql(home, classes, jars, path, options, queries, hot_ms):
    """The same of Spark SQL, whose generated classes have methods at ever new addresses. All threads of the process count."""
    log, class_path = path.with_name(path.name + ".log"), f"{classes}:{jars}/*"
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in
              ["java.lang", "java.nio", "java.util", "sun.nio.ch", "java.lang.invoke", "java.util.concurrent", "sun.security.action"]]
    java = ["-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", *opened, "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED"]
    agent = f"start,event=ctimer,interval={INTERVAL_MS}ms,file={path},log={log}{options}"
    _, without = run(home, class_path, "GeneratedSql", queries, hot_ms, options=java)
    told, peak = run(home, class_path, "GeneratedSql", queries, hot_ms, jvm.LIBRARY, agent, options=java)
    stacks = folded(path, path.with_suffix(".folded"))
    samples = sum(count for _, count in stacks)
    hot = sum(count for frames, count in stacks if "ManyStacks.hot" in frames)
    sampled_ns = told["process_ns"] - writer_ns(path)  # the agent does not sample itself
    return {"queries": queries, "samples": samples, "hot_share": hot / samples, "true_share": told["hot_ns"] / sampled_ns,
            "cpu_ratio": samples * INTERVAL_MS * 1e6 / sampled_ns, "agent_kb": peak - without,
            "log": log.read_text(encoding="utf-8") if log.exists() else ""}
