"""Makes tests/data/spark_log with a real Spark: make_spark_log.py SPARK_HOME FILE [json].

The log of the job of known course of make_event_log.py: 6 jobs, 19 tasks, one of which fails once and two for good.
Names of the machine are taken out, and lines that say nothing about the job.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

LAYOUT = """
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = {}
"""
TEXT = "PatternLayout\nappender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p [%t] %c{1}: %m%n%ex"
JSON = "JsonTemplateLayout\nappender.console.layout.eventTemplateUri = classpath:org/apache/spark/SparkLayout.json"
NOISE = re.compile(r"BlockManager|MemoryStore|ContextHandler|SecurityManager|JettyUtils|DiskBlock|ShutdownHook|"
                   r"Server|Connector|ResourceUtils|ResourceProfile|SparkEnv|CodeGenerator")


def clean(text):
    text = "\n".join(line for line in text.splitlines() if not NOISE.search(line)) + "\n"
    text = re.sub(r"\b(?:\d{1,3}\.){3}\d{1,3}\b", "10.0.0.1", text)
    text = text.replace(os.uname().nodename, "worker-1")
    text = re.sub(r"file:/[\w/.@+-]*/([\w.-]+)", r"file:/job/\1", text)
    return re.sub(r"/[\w/.@+-]*/(\w+\.(?:py|zip|jar))", r"/job/\1", text)


def main():
    home, target = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        properties = scratch / "log4j2.properties"
        properties.write_text(LAYOUT.format(JSON if sys.argv[3:] == ["json"] else TEXT))
        program = scratch / "job.py"
        program.write_text(f"import make_event_log\nmake_event_log.run({str(scratch)!r}, False, 'INFO')\n")
        run = subprocess.run([home / "bin" / "spark-submit", "--conf",
                              f"spark.driver.extraJavaOptions=-Dlog4j2.configurationFile=file:{properties}", program],
                             stderr=subprocess.PIPE, text=True, check=True,
                             env={**os.environ, "SPARK_HOME": str(home), "PYTHONPATH": str(here),
                                  "PYSPARK_PYTHON": sys.executable})
    target.write_text(clean(run.stderr))


if __name__ == "__main__":
    main()
