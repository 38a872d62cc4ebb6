"""A Hadoop of our own: HDFS and YARN in one process, from Maven."""

import contextlib
import os
import socket
import subprocess

import jvm
import spark

import fetch_jars
import fetch_spark


class Hadoop:
    """What a client of the cluster needs."""

    def __init__(self, folder, uri, class_path, env):
        self.folder, self.uri, self.conf, self.class_path, self.env = folder, uri, folder / "conf", class_path, env

    def shell(self, *arguments):
        """`hdfs dfs …`"""
        done = subprocess.run([jvm.system_home() / "bin" / "java", *jvm.QUICK, "-Xmx128m", "-cp", f"{self.conf}:{self.class_path}",
                               "org.apache.hadoop.fs.FsShell", *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=spark.LIMIT_SECONDS, check=False,
                              env=self.env)
        assert done.returncode == 0, done.stderr
        return done.stdout


def local_names(folder):
    """The environment in which Java finds this machine by its name, which a bare container may not know."""
    hosts = folder / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {socket.gethostname()}\n", encoding="utf-8")
    return {**os.environ, "JAVA_HOME": str(jvm.system_home()), "JAVA_TOOL_OPTIONS": f"-Djdk.net.hosts.file={hosts}"}


def wait_until_ready(process, log):
    for line in process.stdout:
        if line.startswith("ready "):
            return line.split()[1]
    raise AssertionError(log.read_text()[-5000:])


@contextlib.contextmanager
def running(folder):
    jars = f"{fetch_jars.fetch('hadoop')}/*:{fetch_spark.fetch('3.5') / 'jars'}/*"
    folder.mkdir()
    subprocess.run([*jvm.tool("javac"), "-cp", jars, "-d", folder, jvm.TESTS / "java" / "MiniHadoop.java"], check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log, env = folder / "log", local_names(folder)
    with open(log, "w") as errors, subprocess.Popen(
            [jvm.system_home() / "bin" / "java", *jvm.QUICK, "-Xmx256m", f"-Dtest.build.data={folder / 'yarn'}", "--add-opens",
             "java.base/java.lang=ALL-UNNAMED", "-cp", f"{folder}:{jars}", "MiniHadoop", folder], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=env) as process:
        try:
            yield Hadoop(folder, wait_until_ready(process, log), jars, env)
        finally:
            process.kill()
