#!/usr/bin/env python3
"""run_aarch64.py BUILD [--only TEXT] [--soak SECONDS] [--budget MS]: the agent for Linux on aarch64, in PyPI's Java 25 for aarch64 under
Debian's qemu-user-static, beside async-profiler's arm64 library.

Checks its unit tests of that processor, shares of CPU time, stacks that could not be walked, labels, loading into a running JVM, and
a soak. Writes bench/results/aarch64.md when all ran; fails if one is wrong."""

import argparse
import collections
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

import fetch_jars
import fetch_jdks

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import jvm  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "aarch64.md"
QEMU = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]
RELEASE = "25"
PEER = "4.5"
# The helper that starts processes cannot be run by qemu: they are started by vfork().
OPTIONS = ["-Djdk.lang.Process.launchMechanism=VFORK"]
INTERVAL_MS = 5
LIMIT_SECONDS = 3600
# What a walk that found its end never has.
FAILED = re.compile(r"\[(break_|no_Java_frame|not_walkable|unknown_)|\[unknown\]|^break_|^unknown_nmethod")
TAGGED = {"Tags.taskOne": "stage=1;task=10", "Tags.taskTwo": "stage=1;task=11", "Tags.between": "",
          "Tags.named": "stage=7;stage_attempt=0;partition=3;attempt=1;task=41"}


class Machine:
    """The emulated machine: its Java, its libraries, a folder for files."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = folder
        self.agent = build / "libsparkflame.so"
        self.java = fetch_jdks.fetch(RELEASE, "aarch64") / "bin" / "java"
        self.classes = jvm.compile_classes(folder, "org/sparkflame/Agent", "Shares", "Tags", "Soak", "Births", "Spins")
        with zipfile.ZipFile(fetch_jars.fetch("torture") / f"async-profiler-{PEER}.jar") as archive:
            self.peer = pathlib.Path(archive.extract("linux-arm64/libasyncProfiler.so", folder))

    def command(self, agent, main, *arguments, options=()):
        agent_options = [] if agent is None else [f"-agentpath:{agent[0]}={agent[1]}"]
        return [*QEMU, str(self.java), *OPTIONS, *options, *agent_options, "-cp", str(self.classes), main, *map(str, arguments)]

    def run(self, agent, main, *arguments, options=()):
        done = subprocess.run(self.command(agent, main, *arguments, options=options), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=LIMIT_SECONDS, check=False, cwd=self.folder)
        if done.returncode != 0:
            raise ValueError(f"{main} ended with {done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        return done


def is_failed(frames):
    return any(FAILED.search(frame) for frame in frames)


def measure_shares(machine, library, budget, more):
    """(samples of the parts, worst difference from the truth in points, its sampling error in points, stacks of Java threads, failed
    ones) of a run."""
    path = machine.folder / "shares.folded"
    done = machine.run((library, f"start,event=ctimer,interval={INTERVAL_MS}ms,file={path}{more}"), "Shares", budget, "thread")
    stacks = jvm.read_folded(path)
    spent = {f"Shares.{name}": int(ns) for name, ns in re.findall(r"^(part\w+) (\d+)$", done.stdout, re.MULTILINE)}
    found, samples = jvm.shares_of(stacks, list(spent))
    total = sum(spent.values())
    worst = max(abs(found[name] - ns / total) for name, ns in spent.items())
    error = max(jvm.share_error(ns / total, samples) - 0.01 for ns in spent.values())
    failed = sum(count for frames, count in stacks if is_failed(frames))
    return samples, 100 * worst, 100 * error, sum(count for _, count in stacks), failed


def check_unit_tests(machine, options):
    del options
    program = machine.build / "test_jvm_agent_machine_aarch64_test"
    done = subprocess.run([*QEMU, str(program)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                          check=False)
    passed = len(re.findall(r"^ok", done.stdout, re.MULTILINE))
    return done.returncode == 0 and passed > 0, f"{passed} unit tests of machine_aarch64_async_safe.c"


def check_shares(machine, options):
    ours = measure_shares(machine, machine.agent, options.budget, "")
    theirs = measure_shares(machine, machine.peer, options.budget, ",collapsed")
    text = "; ".join(f"{name}: {worst:.1f} points off (sampling error of 4 σ {error:.1f}) in {samples} samples, "
                     f"{failed} of {stacks} stacks failed ({100 * failed / stacks:.2f} %)"
                     for name, (samples, worst, error, stacks, failed) in (("sparkflame", ours), (f"async-profiler {PEER}", theirs)))
    good = ours[1] <= 1 + ours[2] and ours[4] / ours[3] <= theirs[4] / theirs[3] + 1 / ours[3]
    return good, text


def check_interpreted(machine, options):
    del options
    path = machine.folder / "interpreted.folded"
    machine.run((machine.agent, f"start,event=ctimer,interval={INTERVAL_MS}ms,file={path}"), "Shares", 800, options=["-Xint"])
    stacks = jvm.read_folded(path)
    total, failed = sum(count for _, count in stacks), sum(count for frames, count in stacks if is_failed(frames))
    return total > 50 and failed <= total / 100, f"-Xint: {failed} of {total} stacks failed"


def check_tags(machine, options):
    """Each sample of a method has its task's labels."""
    del options
    path = machine.folder / "tags.jfr"
    machine.run(None, "Tags", machine.agent, f"start,event=ctimer,interval=2ms,file={path}")
    command = ROOT / "build" / "sparkflame"
    wrong, found = [], collections.Counter()
    done = subprocess.run([command, "convert", "-q", "-f", "folded", "--by", "stage,task", path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        frames, count = line.rsplit(" ", 1)
        for name, tag in TAGGED.items():
            if name in frames.split(";"):
                found[name] += int(count)
                task = re.search(r"(^|;)task=(\d+)", tag)
                stated = frames.split(";")[:2]
                if task is not None and not any(task[2] in part for part in stated):
                    wrong.append(f"{name}: {stated}")
                if task is None and any(part.startswith("task") for part in stated):
                    wrong.append(f"{name}: {stated}")
    good = not wrong and all(found[name] > 0 for name in TAGGED)
    return good, f"{sum(found.values())} samples of labelled methods, {len(wrong)} with other labels {wrong[:2] or ''}".strip()


def check_attach(machine, options):
    """Loads it into a JVM that runs, from a JVM of this machine."""
    del options
    path = machine.folder / "attached.folded"
    program = subprocess.Popen(machine.command(None, "Soak", 120, compile_births(machine.folder)), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=machine.folder)
    try:
        for line in program.stdout:
            if "ready" in line:
                break
        said = []
        for arguments in (f"start,event=ctimer,interval={INTERVAL_MS}ms,file={path}", "stop"):
            done = subprocess.run([jvm.system_home() / "bin" / "jcmd", str(program.pid), "JVMTI.agent_load", str(machine.agent),
                                   f'"{arguments}"'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=LIMIT_SECONDS, check=False)
            said.append(done.stdout + done.stderr)
            time.sleep(20)
        samples = sum(count for _, count in jvm.read_folded(path)) if path.exists() else 0
        good = all("return code: 0" in text for text in said) and samples > 0
        return good, f"{samples} samples" if good else " | ".join(said)
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def compile_births(folder):
    library, include = folder / "libbirths.so", jvm.system_home() / "include"
    subprocess.run(["aarch64-linux-gnu-gcc", "-shared", "-fPIC", "-O1", f"-I{include}", f"-I{include}/linux", "-o", library,
                    ROOT / "tests" / "java" / "births.c"], check=True, stdin=subprocess.DEVNULL)
    return library


def check_soak(machine, options):
    path = machine.folder / "soak.folded"
    machine.run((machine.agent, f"start,event=ctimer,interval=2ms,alloc=64k,lock=1us,wall=20ms,file={path}"), "Soak", options.soak,
                compile_births(machine.folder), options=["-Xmx256m", "-XX:ReservedCodeCacheSize=24m"])
    stacks = jvm.read_folded(path)
    total, failed = sum(count for _, count in stacks), sum(count for frames, count in stacks if is_failed(frames))
    return total > 0, f"{options.soak} s, {total} samples of CPU time, {failed} failed stacks ({100 * failed / max(total, 1):.2f} %)"


CHECKS = {"unit tests": check_unit_tests, "shares of CPU time": check_shares, "interpreted": check_interpreted, "labels": check_tags,
          "attach": check_attach, "soak": check_soak}


def write_results(rows):
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False,
                            stdin=subprocess.DEVNULL).stdout.strip()
    text = ["# The agent on aarch64 (`make aarch64`)", "",
            f"Java {RELEASE} for aarch64 under qemu-user-static, which delivers signals between translated blocks only; {INTERVAL_MS} ms of CPU",
            "time for each sample.", "",
            f"{datetime.date.today().isoformat()}, commit {commit}, {os.cpu_count()} cores of {os.uname().machine}:", "",
            "| check | result | |", "|---|---|---|"]
    text += [f"| {name} | {'right' if good else '**wrong**'} | {said} |" for name, good, said in rows]
    RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--soak", type=int, default=600, metavar="SECONDS")
    parser.add_argument("--budget", type=int, default=20000, metavar="MS")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(options.build.resolve(), pathlib.Path(folder))
        for name, check in CHECKS.items():
            if options.only not in name:
                continue
            try:
                good, said = check(machine, options)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                good, said = False, str(error)
            print(f"{'right' if good else 'WRONG'}  {name}: {said}", flush=True)
            rows.append((name, good, said))
    if not options.only:
        write_results(rows)
    return 0 if rows and all(good for _, good, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
