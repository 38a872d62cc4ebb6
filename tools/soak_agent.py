#!/usr/bin/env python3
"""Run the agent for a long time in JVMs that do what is hard on a profiler, at 0.2 ms, with every collector, on several
JDKs, with start/stop cycles from outside, rotation and a second copy of the library; end with 1 when a JVM crashed or
hung or refused a command."""

import argparse
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import jvm  # noqa: E402

COLLECTORS = ["G1", "Parallel", "Z", "Serial"]
EVENTS = ["event=cpu,interval=200us", "event=ctimer,interval=200us,alloc=32k,lock=1us,live", "event=itimer,interval=200us",
          "event=cpu,interval=200us,wall=1ms", "event=ctimer,interval=200us,cstack=vmx"]
ROTATE_SECONDS = 5
COPY_SECONDS = 60
ENDING_SECONDS = 10
HANG_SECONDS = 900  # part of it is time in which it may be stopped from outside, or others have the processor


class Companion:
    """Sends commands to the agent of a running program, and keeps what was refused.

    A command that fails because the program has ended meanwhile is not counted."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.copy = folder / "copy.so"
        shutil.copy(jvm.LIBRARY, self.copy)
        self.done = 0
        self.refused = []

    def send(self, arguments, library=jvm.LIBRARY):
        done = subprocess.run([jvm.system_home() / "bin" / "jcmd", str(self.program.pid), "JVMTI.agent_load", str(library),
                               f'"{arguments}"'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=HANG_SECONDS, check=False)
        if done.returncode == 0 and "return code: 0" in done.stdout:
            self.done += 1
        elif not self.has_ended():
            self.refused.append(f"{arguments}: {done.stdout.strip()} {done.stderr.strip()}")

    def has_ended(self):
        """A JVM that shuts down answers no more, and ends a little later."""
        try:
            self.program.wait(timeout=ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def cycle(self, end, events):
        """Starts and stops until the program ends, or should have ended long ago."""
        for count, event in enumerate(itertools.cycle(events)):
            if time.monotonic() > end or self.program.poll() is not None:
                return
            self.send(f"start,{event},file={self.folder}/cycle.{'folded' if count % 3 == 2 else 'jfr'}")
            time.sleep(0.5)
            self.send(f"stop,file={self.folder}/cycle.folded" if count % 2 else "stop")

    def rotate(self, end):
        """A new file every 5 s, and every minute a second copy of the library that records for a second. A command that
        took longer is made up for: the next ones follow without a pause."""
        begin = time.monotonic()
        for count in itertools.count(1):
            time.sleep(max(0, begin + count * ROTATE_SECONDS - time.monotonic()))
            if time.monotonic() > end or self.program.poll() is not None:
                return
            self.send(f"rotate,file={self.folder}/rotated-{count % 4}.jfr")
            if count * ROTATE_SECONDS % COPY_SECONDS == 0:
                self.send(f"start,event=ctimer,interval=1ms,file={self.folder}/copy.folded", self.copy)
                time.sleep(1)
                self.send("stop", self.copy)


def make_redefiner(folder):
    """A jar with a manifest that allows Soak to redefine classes."""
    jar = folder / "redefiner.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nPremain-Class: Soak\r\n"
                         "Can-Redefine-Classes: true\r\n\r\n")
    return jar


def run_one(home, classes, collector, event, seconds, folder, output_format, attached):
    agent = [] if attached else [f"-agentpath:{jvm.LIBRARY}=start,{event},file={folder}/soak.{output_format},chunktime=5s"]
    command = [home / "bin" / "java", f"-XX:+Use{collector}GC", "-Xmx256m", "-XX:ReservedCodeCacheSize=24m",
               f"-XX:ErrorFile={folder}/crash.log", f"-javaagent:{make_redefiner(folder)}", *agent, "-cp", str(classes),
               "Soak", str(seconds), str(jvm.compile_births(folder))]
    output = open(folder / "output.txt", "w+", encoding="utf-8")
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
    companion = Companion(program, folder)
    try:
        while program.poll() is None and "ready" not in (folder / "output.txt").read_text():
            time.sleep(0.1)
        end = time.monotonic() + seconds + HANG_SECONDS
        if attached:
            companion.cycle(end, [event, *EVENTS])
        elif output_format == "jfr":
            companion.rotate(end)
        status = program.wait(timeout=seconds + HANG_SECONDS)
    except subprocess.TimeoutExpired:
        subprocess.run([jvm.system_home() / "bin" / "jstack", str(program.pid)], stdin=subprocess.DEVNULL, check=False,
                       timeout=HANG_SECONDS)
        status = "hung"
    finally:
        program.kill()
        program.wait()
        output.close()
    if status == 0 and companion.refused:
        status = "commands refused: " + "; ".join(companion.refused[:5])
    return status, companion.done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each run (60)")
    parser.add_argument("--versions", default="17,25", help="releases of Java (17,25)")
    parser.add_argument("--collectors", default=",".join(COLLECTORS), help="garbage collectors (all four)")
    parser.add_argument("--rotate", action="store_true", help="only runs whose files are rotated")
    parser.add_argument("--runs", type=int, default=0, help="end after so many runs (all)")
    options = parser.parse_args()
    failed = runs = 0
    begin = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    classes = jvm.compile_classes(folder, "Soak", "Births")
    matrix = list(itertools.product(options.versions.split(","), options.collectors.split(","),
                                    (False,) if options.rotate else (False, True)))
    for index, (version, collector, attached) in enumerate(matrix):
        if options.runs and runs == options.runs:
            break
        event = EVENTS[index % len(EVENTS)]
        output_format = "folded" if index % 4 == 2 and not options.rotate else "jfr"
        status, commands = run_one(jvm.home_of(version), classes, collector, event, options.seconds, folder, output_format, attached)
        runs += 1
        failed += status != 0
        print(f"{'ok' if status == 0 else 'FAILED'} JDK {version} {collector} {event}"
              f", {'start and stop' if attached else output_format}, {commands} commands: status {status}", flush=True)
        if status != 0:
            print((folder / "output.txt").read_text()[-3000:], flush=True)
            if (folder / "crash.log").exists():
                print((folder / "crash.log").read_text()[:12000], flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{runs - failed} of {runs} runs without harm, {runs * options.seconds / 60:.1f} minutes of running in "
          f"{(time.monotonic() - begin) / 60:.1f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
