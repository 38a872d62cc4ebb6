#!/usr/bin/env python3
"""Which of ten hosts is slow: host_outliers.py [--spark] [--outliers N] [--even N] [--report FILE].

Ten hosts with an sshd each work: network namespaces that only know each other, with processes, mounts and a disk (a loop device) of their own.
With --spark they run an application (twenty-two JVMs: for a machine that does nothing else), else a native program. `sparkflame record --hosts`
records them all,

    cpu   all processes of the hosts (`--host`), processor time
    wall  with --spark: the application, time that its threads run and wait

(Waits of all processes are not compared here: when several recorders in PID namespaces of one kernel record them, most have no stack. Real hosts
have a kernel each.)

while nothing else happens, while one host has a program that takes the processor (cpu), or while its disk is slow (wall; the limit of the
blkio controller on the host's loop device). Each recording either names a host with a function, or none. Right is the slow host alone, with
what slows it; and none while all are even. Needs root. All that is made is in a temporary folder and in namespaces that end with this program.
"""

import argparse
import contextlib
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PLUGIN = BUILD / "sparkflame-plugin.jar"
BLKIO = pathlib.Path("/sys/fs/cgroup/blkio")
HOSTS = 10
NETWORK = "10.77.0"
CORES = 4
PROGRAMS = 2
HOG_THREADS = 2
LIMIT_SECONDS = 1200
DISK_BYTES = 4 << 30
SLOW_BYTES_PER_SECOND = 100_000
SSH_PORT = 22
MASTER_PORT = 7077
RIGHT = {"cpu": re.compile("burn_processor_time"), "wall": re.compile(r"force|sync|io_schedule")}

sys.path.insert(0, str(ROOT / "tools"))
import fetch_spark  # noqa: E402


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, **options)


def wait_until(is_so, what):
    end = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"{what}: not after {LIMIT_SECONDS} s")
        time.sleep(0.2)


def child_of(pid):
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                return int(path.parent.name)
    return None


class Host:
    """Namespaces of the network, processes, mounts and the host's name. All of its processes end with the first."""
    def __init__(self, cluster, name, number):
        self.cluster, self.name, self.address = cluster, name, f"{NETWORK}.{number}"
        self.folder = cluster.folder / name
        self.folder.mkdir()
        self.space = f"{cluster.name}-{name}"
        run("ip", "netns", "add", self.space)
        cluster.stack.callback(run, "ip", "netns", "delete", self.space)
        run("ip", "-n", self.space, "link", "set", "lo", "up")
        run("ip", "-n", self.space, "link", "add", "eth0", "type", "veth", "peer", "name", name, "netns", cluster.switch)
        run("ip", "-n", cluster.switch, "link", "set", name, "master", "switch", "up")
        run("ip", "-n", self.space, "address", "add", f"{self.address}/24", "dev", "eth0")
        run("ip", "-n", self.space, "link", "set", "eth0", "up")
        script = self.folder / "init.sh"
        (self.folder / "home").mkdir()  # no start-up files of this machine's shell
        script.write_text(f"hostname {name}\nmount --bind {cluster.folder}/hosts /etc/hosts\nmount --bind {self.folder}/home {pathlib.Path.home()}\n"
                          f"mkdir -p /run/sshd\n/usr/sbin/sshd -f {cluster.folder}/sshd_config -E {self.folder}/sshd.log\nexec sleep infinity\n")
        words = ["ip", "netns", "exec", self.space, "unshare", "--pid", "--mount", "--uts", "--fork", "--kill-child", "--mount-proc", "sh", script]
        self.first = None
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL)
        cluster.stack.callback(self.end)
        wait_until(lambda: child_of(self.process.pid) is not None, name)
        self.first = child_of(self.process.pid)

    def end(self):
        """The first process of its namespace takes all others with it."""
        os.kill(self.first or self.process.pid, signal.SIGKILL)
        self.process.wait()

    def inside(self, *words):
        return ["nsenter", "-t", str(self.first), "--net", "--pid", "--mount", "--uts", "--", *map(str, words)]

    def start(self, log, *words, group=None, **options):
        """In the background, until the host ends."""
        with open(self.folder / log, "ab") as file:
            join = None if group is None else lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
            process = subprocess.Popen(self.inside(*words), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, cwd=self.folder,
                                       preexec_fn=join, **options)
        self.cluster.stack.callback(process.wait)
        self.cluster.stack.callback(process.terminate)
        return process

    def says(self, log, pattern):
        path = self.folder / log
        return path.exists() and re.search(pattern, path.read_text(errors="replace")) is not None


class Worker(Host):
    """With a disk whose writes can be slowed."""
    def __init__(self, cluster, number):
        self.group = BLKIO / f"{cluster.name}-worker{number}"
        self.group.mkdir()
        cluster.stack.callback(self.remove_group)  # after the end of its processes
        super().__init__(cluster, f"worker{number}", 10 + number)
        disk, self.mounted = self.folder / "disk", self.folder / "scratch"
        with open(disk, "wb") as file:
            file.truncate(DISK_BYTES)
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=1", disk)
        self.mounted.mkdir()
        run(*self.inside("mount", "-o", "loop", disk, self.mounted))
        source = subprocess.run(self.inside("findmnt", "-n", "-o", "MAJ:MIN", self.mounted), check=True, capture_output=True, text=True)
        self.device = source.stdout.strip()

    def remove_group(self):
        wait_until(lambda: (self.group / "cgroup.procs").read_text() == "", f"end of {self.name}")
        self.group.rmdir()

    def slow_disk(self, bytes_per_second):
        """0: as fast as it is."""
        (self.group / "blkio.throttle.write_bps_device").write_text(f"{self.device} {bytes_per_second}")


class Cluster:
    def __init__(self, stack, folder):
        self.stack, self.folder, self.name = stack, folder, f"sf{os.getpid()}"
        self.switch = f"{self.name}-switch"
        self.binary = folder / "sparkflame"
        for name in ("sparkflame", "libsparkflame.so"):
            shutil.copy(BUILD / name, folder / name)  # a build may come in between
        run("ip", "netns", "add", self.switch)
        stack.callback(run, "ip", "netns", "delete", self.switch)
        run("ip", "-n", self.switch, "link", "add", "switch", "type", "bridge")
        run("ip", "-n", self.switch, "link", "set", "switch", "up")
        names = {"control": 1, **{f"worker{number}": 10 + number for number in range(1, HOSTS + 1)}}
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{NETWORK}.{end} {name}\n" for name, end in names.items()))
        self.make_keys(names)
        self.control = Host(self, "control", 1)
        self.workers = [Worker(self, number) for number in range(1, HOSTS + 1)]

    def make_keys(self, names):
        for key in ("user_key", "host_key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", self.folder / key)
        shutil.copy(self.folder / "user_key.pub", self.folder / "authorized_keys")
        host_key = (self.folder / "host_key.pub").read_text().strip()
        (self.folder / "known_hosts").write_text("".join(f"{name} {host_key}\n" for name in names))
        (self.folder / "ssh_config").write_text(
            f"Host *\nPort {SSH_PORT}\nUser root\nIdentityFile {self.folder}/user_key\nIdentitiesOnly yes\n"
            f"UserKnownHostsFile {self.folder}/known_hosts\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n")
        (self.folder / "sshd_config").write_text(
            f"Port {SSH_PORT}\nHostKey {self.folder}/host_key\nAuthorizedKeysFile {self.folder}/authorized_keys\nPidFile none\nStrictModes no\n"
            "UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n")

    def start_spark(self, classes):
        """Returns the application's id."""
        home = fetch_spark.fetch("4")
        java = pathlib.Path(shutil.which("java")).resolve().parent.parent
        environment = {"PATH": os.environ["PATH"], "JAVA_HOME": str(java), "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "128m",
                       "SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.worker.timeout=900 -Dspark.network.timeout=900s"}
        spark_class = home / "bin" / "spark-class"
        self.control.start("master.log", spark_class, "org.apache.spark.deploy.master.Master", "--host", "control", "--port", MASTER_PORT,
                           "--webui-port", 0, env=environment)
        wait_until(lambda: self.control.says("master.log", "Starting Spark master at"), "master")
        for worker in self.workers:
            worker.start("worker.log", spark_class, "org.apache.spark.deploy.worker.Worker", "--host", worker.name, "--webui-port", 0,
                         "--cores", CORES, "--memory", "700m", "--work-dir", worker.folder / "work", f"spark://control:{MASTER_PORT}",
                         group=worker.group, env={**environment, "SPARK_LOCAL_DIRS": str(worker.mounted)})
        for worker in self.workers:
            wait_until(lambda worker=worker: worker.says("worker.log", "Successfully registered with master"), worker.name)
        identifier = self.control.folder / "application"
        settings = {
            "spark.plugins": "org.sparkflame.SparkflamePlugin", "spark.sparkflame.args": "event=cpu,interval=10ms,wall=20ms",
            "spark.sparkflame.driver.enabled": "false", "spark.shuffle.sync": "true", "spark.executor.memory": "512m",
            "spark.executor.cores": CORES, "spark.ui.enabled": "false", "spark.driver.host": "control", "spark.driver.memory": "512m",
            "spark.task.maxFailures": 100, "spark.network.timeout": "900s", "spark.executor.heartbeatInterval": "60s", "spark.locality.wait": "0s",
            "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:ActiveProcessorCount=4", "spark.shuffle.service.enabled": "false",
        }
        self.control.start("driver.log", home / "bin" / "spark-submit", "--master", f"spark://control:{MASTER_PORT}", "--jars", PLUGIN,
                           "--class", "EvenWork", *(part for key, value in settings.items() for part in ("--conf", f"{key}={value}")),
                           classes, 100_000, identifier, env=environment)
        wait_until(identifier.exists, "application")
        wait_until(lambda: self.control.says("driver.log", r"Finished task \d{3}\.0"), "first tasks")
        return identifier.read_text()

    def start_workers(self, program):
        for worker in self.workers:
            for number in range(PROGRAMS):
                worker.start("work.log", program, worker.mounted / f"data{number}", group=worker.group)

    def record(self, words):
        """What the recording said."""
        command = self.control.inside(self.binary, "record", "--hosts", ",".join(worker.name for worker in self.workers), "--ssh",
                                      f"ssh -F {self.folder}/ssh_config", "--remote-binary", self.binary, "-f", self.folder / "recorded.html", *words)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        (self.folder / "said").write_text(done.stderr)
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
        return done.stderr


def named(said):
    """[(host, function)] of a recording's summary."""
    return re.findall(r"host (worker\d+) differs(?: in stage \S+)?: (.*?) (?:itself )?has ", said)


class Trials:
    def __init__(self, cluster, application, options):
        self.cluster, self.options = cluster, options
        self.words = {"cpu": ["-d", options.seconds, "-r", options.rate], "wall": ["-d", options.wall_seconds, "-e", "wall", "--spark", application]}
        self.lines = []

    def record(self, kind, what, slow):
        said = self.cluster.record(self.words[kind])
        found = named(said)
        problem = re.search(r"outliers are not reported|host \S+ failed", said)
        hosts = {host for host, _ in found}
        right = hosts == ({slow.name} if slow else set()) and (slow is None or any(RIGHT[kind].search(function) for _, function in found))
        verdict = "not compared" if problem else "right" if right else "WRONG"
        self.lines.append((what, kind, verdict))
        shown = "; ".join(f"{host} {function}" for host, function in found[:3]) or "nobody"
        print(f"{len(self.lines):3} {what:8} {kind:4} {slow.name if slow else '-':9} {verdict}  {shown}"
              f"{'' if problem is None else '; ' + problem[0]}", flush=True)
        if verdict != "right" and self.options.keep:
            (self.options.keep / f"{len(self.lines)}.txt").write_text(said)

    def even(self, kind):
        self.record(kind, "even", None)

    def hog(self, program):
        worker = random.choice(self.cluster.workers)
        process = subprocess.Popen(worker.inside(program, HOG_THREADS), stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_until(lambda: child_of(process.pid) is not None, "cpu hog")
            hog = child_of(process.pid)
            self.record("cpu", "cpu hog", worker)
        finally:
            os.kill(hog, signal.SIGKILL)
            process.wait()

    def disk(self):
        worker = random.choice(self.cluster.workers)
        worker.slow_disk(SLOW_BYTES_PER_SECOND)
        try:
            time.sleep(2)
            self.record("wall", "slow disk", worker)
        finally:
            worker.slow_disk(0)
            time.sleep(2)


def report(trials, options, began):
    rows = [(what, kind, [verdict for other, its, verdict in trials.lines if (other, its) == (what, kind)])
            for what, kind in [("cpu hog", "cpu"), ("slow disk", "wall"), ("even", "cpu"), ("even", "wall")]]
    text = "\n".join(f"| {what} | {kind} | {found.count('right')} of {len(found) - found.count('not compared')} | {found.count('not compared')} |"
                     for what, kind, found in rows if found)
    slow_disk = f", or a disk that writes {SLOW_BYTES_PER_SECOND // 1000} KB/s" if options.spark else ""
    work = "an executor of a Spark application" if options.spark else "a native program (`bench/host_worker.c`)"
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    options.report.write_text(f"""# Which of ten hosts is slow (`make outliers`)

Ten network namespaces with an sshd, processes and a disk of their own, and {work}
on each; recorded for {options.seconds} s each by `sparkflame record --hosts` from an eleventh. One host, another one at random each time, has
{HOG_THREADS} threads that take the processor{slow_disk}. Right is that this host alone is named, with a function that shows why; while all are even, that nobody is.
"Not compared": fewer than six hosts got the 1,000 samples that this takes (the processors had other work); nobody was named.

{time.strftime('%Y-%m-%d', time.gmtime())}, commit {revision} and what came with this file, {os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.0f}, {(time.monotonic() - began) / 60:.0f} minutes:

| what | recorded | right | not compared |
|---|---|---|---|
{text}
""")


def compile_job(folder):
    classes = folder / "classes"
    classes.mkdir()
    home = fetch_spark.fetch("4")
    run("javac", "-nowarn", "-cp", f"{home}/jars/*", "--release", "11", "-d", classes, ROOT / "bench" / "java" / "EvenWork.java")
    run("jar", "-c", "-f", folder / "work.jar", "-C", classes, ".")
    return folder / "work.jar"


def compile_c(folder, name):
    run("cc", "-O1", "-g", "-pthread", "-o", folder / name, ROOT / "bench" / f"{name}.c")
    return folder / name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spark", action="store_true", help="a Spark application instead of a native program")
    parser.add_argument("--outliers", type=int, default=10, help="recordings with a slow host, of each kind")
    parser.add_argument("--even", type=int, default=20, help="recordings without one, of both kinds in turn")
    parser.add_argument("--seconds", type=int, default=12, help="of recordings of processor time; each host needs 1,000 samples")
    parser.add_argument("--wall-seconds", type=int, default=12, help="of the others")
    parser.add_argument("--rate", type=int, default=1999)
    parser.add_argument("--warm", type=int, default=5, help="seconds before the first recording")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what wrong recordings said")
    options = parser.parse_args()
    if os.geteuid() != 0 or not BLKIO.is_dir():
        sys.exit("needs root, and the blkio controller in /sys/fs/cgroup/blkio")
    random.seed(options.seed)
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sparkflame-hosts-")))
        hog = compile_c(folder, "host_hog")
        cluster = Cluster(stack, folder)
        print(f"{HOSTS} hosts after {time.monotonic() - began:.0f} s", flush=True)
        application = cluster.start_spark(compile_job(folder)) if options.spark else cluster.start_workers(compile_c(folder, "host_worker"))
        trials = Trials(cluster, application, options)
        print(f"the hosts work after {time.monotonic() - began:.0f} s", flush=True)
        time.sleep(options.warm)
        for number in range(max(options.outliers, options.even)):
            if number < options.even:
                trials.even("wall" if options.spark and number % 2 else "cpu")
            if number < options.outliers:
                trials.hog(hog)
            if number < options.outliers and options.spark:
                trials.disk()
            if options.report:
                report(trials, options, began)
    counts = [[verdict for _, _, verdict in trials.lines].count(text) for text in ("right", "WRONG", "not compared")]
    print(f"{counts[0]} right, {counts[1]} wrong, {counts[2]} not compared; {time.monotonic() - began:.0f} s")
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
