"""A Hadoop of our own: HDFS and YARN in one process, from Maven."""

import contextlib
import os
import subprocess

import jvm
import spark

import fetch_jars
import fetch_spark


class Hadoop:
    """What a client of the cluster needs."""

    def __init__(self, folder, uri, class_path):
        self.folder, self.uri, self.conf, self.class_path = folder, uri, folder / "conf", class_path

    def shell(self, *arguments):
        """`hdfs dfs …`"""
        done = subprocess.run([jvm.system_home() / "bin" / "java", "-Xmx128m", "-cp", f"{self.conf}:{self.class_path}",
                               "org.apache.hadoop.fs.FsShell", *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=spark.LIMIT_SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def wait_until_ready(process, log):
    for line in process.stdout:
        if line.startswith("ready "):
            return line.split()[1]
    raise AssertionError(log.read_text()[-5000:])


@contextlib.contextmanager
def running(folder):
    jars = f"{fetch_jars.fetch('hadoop')}/*:{fetch_spark.fetch('3.5') / 'jars'}/*"
    folder.mkdir()
    java = jvm.system_home() / "bin"
    subprocess.run([java / "javac", "-cp", jars, "-d", folder, jvm.TESTS / "java" / "MiniHadoop.java"], check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = folder / "log"
    with open(log, "w") as errors, subprocess.Popen(
            [java / "java", "-Xmx256m", f"-Dtest.build.data={folder / 'yarn'}", "--add-opens",
             "java.base/java.lang=ALL-UNNAMED", "-cp", f"{folder}:{jars}", "MiniHadoop", folder], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            env={**os.environ, "JAVA_HOME": str(jvm.system_home())}) as process:
        try:
            yield Hadoop(folder, wait_until_ready(process, log), jars)
        finally:
            process.kill()
