#!/usr/bin/env python3
"""Run the agent for a long time in JVMs that do what is hard on a profiler, at 0.2 ms, with every collector, on several
JDKs, with start/stop cycles from outside; end with 1 when a JVM crashed or hung."""

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
HANG_SECONDS = 900  # part of it is time in which it may be stopped from outside, or others have the processor


def attach(tools, pid, arguments):
    subprocess.run([tools / "bin" / "jcmd", str(pid), "JVMTI.agent_load", str(jvm.LIBRARY), f'"{arguments}"'],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=HANG_SECONDS,
                   check=False)


def cycle(tools, program, seconds, events, folder):
    """Starts and stops until the program ends, or has had its time long ago."""
    end = time.monotonic() + seconds + HANG_SECONDS
    count = 0
    for event in itertools.cycle(events):
        if time.monotonic() > end or program.poll() is not None:
            return count
        attach(tools, program.pid, f"start,{event},file={folder}/cycle.{'folded' if count % 3 == 2 else 'jfr'}")
        time.sleep(0.5)
        attach(tools, program.pid, f"stop,file={folder}/cycle.folded" if count % 2 else "stop")
        count += 1


def make_redefiner(folder):
    """A jar whose only file says that Soak may redefine classes."""
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
    cycles = 0
    try:
        if attached:
            while program.poll() is None and "ready" not in (folder / "output.txt").read_text():
                time.sleep(0.1)
            cycles = cycle(jvm.system_home(), program, seconds, [event, *EVENTS], folder)
        status = program.wait(timeout=seconds + HANG_SECONDS)
    except subprocess.TimeoutExpired:
        subprocess.run([jvm.system_home() / "bin" / "jstack", str(program.pid)], stdin=subprocess.DEVNULL, check=False,
                       timeout=HANG_SECONDS)
        status = "hung"
    finally:
        program.kill()
        program.wait()
        output.close()
    return status, cycles


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each run (60)")
    parser.add_argument("--versions", default="17,25", help="releases of Java (17,25)")
    parser.add_argument("--collectors", default=",".join(COLLECTORS), help="garbage collectors (all four)")
    parser.add_argument("--runs", type=int, default=0, help="end after so many runs (all)")
    options = parser.parse_args()
    failed = runs = 0
    begin = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    classes = jvm.compile_classes(folder, "Soak", "Births")
    matrix = list(itertools.product(options.versions.split(","), options.collectors.split(","), (False, True)))
    for index, (version, collector, attached) in enumerate(matrix):
        if options.runs and runs == options.runs:
            break
        event = EVENTS[index % len(EVENTS)]
        output_format = "folded" if index % 4 == 2 else "jfr"
        status, cycles = run_one(jvm.home_of(version), classes, collector, event, options.seconds, folder, output_format, attached)
        runs += 1
        failed += status != 0
        print(f"{'ok' if status == 0 else 'FAILED'} JDK {version} {collector} {event}"
              f"{f', {cycles} cycles' if attached else f', {output_format}'}: status {status}", flush=True)
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
