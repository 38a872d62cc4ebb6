#!/usr/bin/env python3
"""Everything at once in one JVM: the plugin's copy of the agent, `sparkflame record`, `top` and `asprof`, a further copy of the
library, async-profiler and the OpenTelemetry Java agent. Each comes first, each comes after each, and they start and stop again
and again, while four threads load and unload libraries. Ends with 1 when a JVM died, a command failed or a profiler had no
samples."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import fetch_jars  # noqa: E402
import jvm  # noqa: E402

WHO = ("plugin", "record", "top", "asprof", "copy", "async-profiler", "opentelemetry")
# Not itimer, of which a process has only one. Allocations only for two: one of them gets the JVM's events; if it is not
# async-profiler, that puts breakpoints into the JVM.
EVENTS = ("event=cpu,interval=5ms,wall=50ms", "event=cpu,interval=5ms,wall=50ms,nativemem=64k", "event=ctimer,interval=5ms",
          "event=ctimer,interval=5ms,lock=1ms")
RUN_SECONDS = 0.3
BURN_SECONDS = 0.15  # of processor time of the thread that burns it: 30 samples, however busy the machine is
LIMIT_SECONDS = 120
COMMAND = pathlib.Path(os.environ.get("SPARKFLAME", ROOT / "build" / "sparkflame"))
PLUGIN = ROOT / "build" / "sparkflame-plugin.jar"


class Failure(Exception):
    """What went wrong, in one line."""


class Parts:
    """What all JVMs use: classes, libraries, jars."""

    def __init__(self, folder):
        self.folder = folder
        self.classes = folder / "classes"
        self.classes.mkdir()
        jvm.compile_classes(self.classes, "Crowd", "Loads", "LoadsLibrary", "org/sparkflame/Agent")
        self.libraries = jvm.compile_loads(folder)
        jars = fetch_jars.fetch("torture")
        self.telemetry = next(jars.glob("opentelemetry-javaagent-*.jar"))
        self.peer_jar = next(jars.glob("async-profiler-*.jar"))
        with zipfile.ZipFile(self.peer_jar) as archive:
            self.peer = archive.extract("linux-x64/libasyncProfiler.so", folder)
        self.copy = shutil.copy(jvm.LIBRARY, folder / "further_copy.so")


class Crowd:
    """A JVM and those who profile it."""

    def __init__(self, parts, version, order, folder):
        self.parts, self.folder, self.loaded = parts, folder, set()
        options = [f"-XX:ErrorFile={folder}/crash.log", "-XX:-CreateCoredumpOnCrash", "-Xmx256m", "-Dotel.traces.exporter=logging",
                   "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none"]
        if order[0] == "opentelemetry":
            options.append(f"-javaagent:{parts.telemetry}")
            self.loaded.add("opentelemetry")
        self.errors = open(folder / "errors.txt", "w+", encoding="utf-8")
        self.process = subprocess.Popen([jvm.home_of(version) / "bin" / "java", *options, "-cp", str(parts.classes), "Crowd",
                                         str(parts.libraries["loads"])], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, cwd=folder)
        self.running = {}
        self.samples = dict.fromkeys(WHO, 0)
        line = self.process.stdout.readline()
        if line != "ready\n":
            raise Failure(f"the JVM did not start: {line}")

    def ask(self, *words):
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            while line and not line.startswith("> "):  # a JVM that two commands wake at once may print its threads
                line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failure(f"{words[0]}: the JVM died: {self.process.wait(LIMIT_SECONDS)}")
        return line[2:].strip()

    def command(self, *words):
        done = subprocess.run([COMMAND, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False, cwd=self.folder)
        if self.process.poll() is not None:
            raise Failure(f"{' '.join(map(str, words))}: the JVM died: {self.process.returncode}")
        return done

    def load(self, who):
        """In the JVM itself, those that are libraries or jars."""
        parts = self.parts
        places = {"plugin": (PLUGIN, self.folder), "copy": (parts.classes, parts.copy), "async-profiler": (parts.peer_jar, parts.peer)}
        if who in places:
            answer = self.ask(who, *places[who])
            if answer != "loaded":
                raise Failure(f"{who}: {answer}")
        elif who == "opentelemetry":
            done = subprocess.run([jvm.system_home() / "bin" / "jcmd", str(self.process.pid), "JVMTI.agent_load", parts.telemetry],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
            if "return code: 0" not in done.stdout:
                raise Failure(f"{who}: {done.stdout} {done.stderr}")
        self.loaded.add(who)

    def file_of(self, who):
        """Some count their samples, others write each."""
        return self.folder / (f"{who}.jfr" if who in ("plugin", "async-profiler") else f"{who}.folded")

    def folded(self, file):
        if file.suffix == ".folded":
            return file.read_text() if file.exists() else ""
        return self.command("convert", "-q", "--event", "cpu", file).stdout

    def start(self, who, events):
        """False: another recording of the same copy runs."""
        if who not in self.loaded:
            self.load(who)
        pid, file = self.process.pid, self.file_of(who)
        if who in ("plugin", "copy", "async-profiler"):
            samples_memory = "lock" in events and who in ("copy", "async-profiler")
            answer = self.ask("execute", who, f"start,{events}{',alloc=512k' if samples_memory else ''},file={file}")
            if "cannot sample allocations" in answer:
                answer = self.ask("execute", who, f"start,{events},file={file}")
            if "already started" in answer:
                return False
            if "tarted" not in answer and "rofiling" not in answer:
                raise Failure(f"{who}: {answer}")
        elif who == "asprof":
            done = self.command("asprof", "start", "-e", "ctimer", "-i", "5ms", pid)
            if "already started" in done.stderr:
                return False
            if done.returncode != 0:
                raise Failure(f"asprof: {done.stderr}")
        elif who in ("record", "top"):
            words = ["-q", "-d", "1", "-f", str(file)] if who == "record" else ["-d", "1"]
            self.running[who] = subprocess.Popen([COMMAND, who, *words, str(pid)], stdin=subprocess.DEVNULL, cwd=self.folder,
                                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return True

    def stop(self, who):
        pid, file = self.process.pid, self.file_of(who)
        if who in ("plugin", "copy", "async-profiler"):
            answer = self.ask("execute", who, f"stop,file={file}")
            self.count(who, self.folded(file), answer)
        elif who == "asprof":
            done = self.command("asprof", "stop", "-o", "collapsed", pid)
            self.count(who, done.stdout, done.stderr)
        elif who in ("record", "top"):
            process = self.running.pop(who)
            output, errors = process.communicate(timeout=LIMIT_SECONDS)
            errors += f"status {process.returncode}"
            self.count(who, self.folded(file) if who == "record" else output, errors)
        elif self.ask("request") != "status 200":
            raise Failure("opentelemetry: the request failed")
        file.unlink(missing_ok=True)

    def count(self, who, text, errors):
        """Lines that name the method that takes the time."""
        seen = sum("Loads.burn" in line for line in text.splitlines())
        if seen == 0:
            raise Failure(f"{who}: no samples; {errors.strip()[:300]}; {text[:300]}")
        self.samples[who] += seen

    def burned_seconds(self):
        """Processor time of the thread that all profilers must see."""
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text() == "burner\n":
                return int((task / "schedstat").read_text().split()[0]) / 1e9
        raise Failure("the JVM has no thread that burns processor time")

    def let_run(self):
        began, end = self.burned_seconds(), time.monotonic() + LIMIT_SECONDS
        time.sleep(RUN_SECONDS)
        while self.burned_seconds() < began + BURN_SECONDS:
            if time.monotonic() > end:
                raise Failure(f"the machine is too busy: {BURN_SECONDS} s of processor time took more than {LIMIT_SECONDS} s")
            time.sleep(0.01)

    def cycle(self, order, events):
        """Those who cannot record beside another of the same copy do so at the end, alone."""
        refused = [who for who in order if not self.start(who, events)]
        self.let_run()
        for who in sorted(order, key=lambda one: one not in ("record", "top")):  # they end by themselves
            if who not in refused:
                self.stop(who)
        for who in refused:
            if not self.start(who, events):
                raise Failure(f"{who}: still refused when all others had stopped")
            self.let_run()
            self.stop(who)
        return len(refused)

    def check_end(self):
        self.samples["opentelemetry"] = (self.folder / "errors.txt").read_text().count("LoggingSpanExporter")
        if self.samples["opentelemetry"] == 0:
            raise Failure("opentelemetry: no spans")
        self.process.stdin.close()
        if self.process.wait(LIMIT_SECONDS) != 0:
            raise Failure(f"the JVM ended with {self.process.returncode}")

    def close(self):
        for process in [*self.running.values(), self.process]:
            process.kill()
            process.wait()
        self.process.stdout.close()
        self.errors.close()


def orders():
    """Each comes first and last twice, and each comes before each other."""
    for first in range(len(WHO)):
        turned = WHO[first:] + WHO[:first]
        yield turned
        yield turned[::-1]


def run_order(parts, version, order, cycles):
    """(what happened, whether it is good)"""
    folder = pathlib.Path(tempfile.mkdtemp(dir=parts.folder))
    crowd, done, refused = None, 0, 0
    try:
        crowd = Crowd(parts, version, order, folder)
        crowd.ask("churn-slowly", *parts.libraries["both"])
        for cycle in range(cycles):
            turn = cycle % len(order)
            refused += crowd.cycle(order[turn:] + order[:turn], EVENTS[cycle % len(EVENTS)])
            done += 1
        loads = crowd.ask("calm")
        if not re.fullmatch(r"[1-9]\d* loads, 0 failures", loads):
            raise Failure(f"libraries: {loads}")
        crowd.check_end()
        seen = " ".join(f"{who}={count}" for who, count in crowd.samples.items())
        return f"{done} cycles, {refused} waited, {loads}, stacks {seen}", True
    except (Failure, subprocess.TimeoutExpired) as error:
        crash = (folder / "crash.log").read_text()[:6000] if (folder / "crash.log").exists() else ""
        errors = (folder / "errors.txt").read_text()[-3000:] if (folder / "errors.txt").exists() else ""
        status = None if crowd is None else crowd.process.poll()
        return f"after {done} cycles: {error}; status of the JVM: {status}\n{errors}\n{crash}", False
    finally:
        if crowd is not None:
            crowd.close()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", default="11,17,21,25", help="releases of Java (11,17,21,25)")
    parser.add_argument("--cycles", type=int, default=4, help="of start and stop in each order (4: 56 for each release)")
    parser.add_argument("--orders", type=int, default=0, help="only so many of the 14 orders")
    parser.add_argument("--skip", type=int, default=0, help="not the first ones of them")
    options = parser.parse_args()
    failed = runs = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        parts = Parts(pathlib.Path(name))
        for version in options.versions.split(","):
            for order in list(orders())[options.skip:][:options.orders or None]:
                text, good = run_order(parts, version, order, options.cycles)
                runs += 1
                failed += not good
                print(f"{'ok' if good else 'FAILED'} JDK {version} {','.join(order)}: {text}", flush=True)
    print(f"{runs - failed} of {runs} without harm, {(time.monotonic() - begin) / 60:.1f} minutes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
