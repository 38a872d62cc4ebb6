"""Running Java programs with the agent inside."""

import atexit
import collections
import functools
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent
LIBRARY = pathlib.Path(os.environ.get("SPARKFLAME_AGENT", ROOT / "build" / "libsparkflame.so"))
LIMIT_SECONDS = 300
# For JVMs that only have to do their work: less CPU time. Never where a test is about the JVM or its compiler.
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

sys.path.insert(0, str(ROOT / "tools"))
import fetch_jdks  # noqa: E402


def system_home():
    """The JDK whose javac is in the path."""
    return pathlib.Path(shutil.which("javac")).resolve().parent.parent


def home_of(version):
    """A Java runtime of that release: the machine's own, or PyPI's. OSError when there is none."""
    home = system_home()
    release = (home / "release").read_text()
    return home if f'JAVA_VERSION="{version}' in release else fetch_jdks.fetch(version)


def tool(name, home=None):
    """The command of a tool of the JDK, which is a short Java program."""
    return [(home or system_home()) / "bin" / name, *(f"-J{option}" for option in QUICK)]


@functools.cache
def compiled(names, class_path):
    """A folder with these classes, until the tests end."""
    parent = tempfile.TemporaryDirectory()
    atexit.register(parent.cleanup)
    folder = pathlib.Path(parent.name, "classes")  # whose mode lets JVMs of other users read it
    folder.mkdir()
    sources = [str(TESTS / "java" / f"{name}.java") for name in names]
    options = [] if class_path is None else ["-cp", str(class_path)]
    subprocess.run([*tool("javac"), "-nowarn", "--release", "11", *options, "-d", folder, *sources],
                   check=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    return folder


def compile_classes(folder, *names, class_path=None):
    """Into the folder, which is given back; the same classes are compiled once."""
    shutil.copytree(compiled(names, class_path), folder, dirs_exist_ok=True)
    return folder


def compile_births(folder):
    """The library of Births."""
    library, include = folder / "libbirths.so", system_home() / "include"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-I{include}", f"-I{include}/linux", "-o", library,
                    TESTS / "java" / "births.c"], check=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    return library


def compile_c(output, source, *options):
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-fplt", *map(str, options), "-o", output, TESTS / "java" / source],
                   check=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    return output


def compile_loads(folder):
    """The library of Loads, and those that it loads: bound lazily or at once, each with one that it needs."""
    include = system_home() / "include"
    found = {"folder": folder,
             "loads": compile_c(folder / "libloads.so", "loads.c", f"-I{include}", f"-I{include}/linux", "-ldl", "-pthread")}
    for binding in ("lazy", "now"):
        link = f"-Wl,-z,relro,-z,{binding}"
        zero = compile_c(folder / f"libzero_{binding}.so", "loaded.c", "-DLEVEL=0", link)
        found[binding] = folder / f"libone_{binding}.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-fplt", "-DLEVEL=1", link, "-Wl,-rpath,$ORIGIN", "-o", found[binding],
                        TESTS / "java" / "loaded.c", zero], check=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
        found["zero"] = zero
    found["both"] = [found["lazy"], found["now"]]
    return found


def load_agent(pid, library, arguments, limit_seconds=LIMIT_SECONDS):
    """Have a running JVM load a copy of the agent, as the JDK's jcmd does but without a JVM for each command."""
    return subprocess.run([os.environ.get("SPARKFLAME", ROOT / "build" / "sparkflame"), "jcmd", str(pid), "JVMTI.agent_load", str(library),
                           f'"{arguments}"'], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_seconds, check=False)


def run_java(home, classes, agent, main, *arguments, options=(), check=True, env=None):
    """Runs the class with the agent's argument string (None: without agent)."""
    agent_options = [] if agent is None else [f"-agentpath:{LIBRARY}={agent}"]
    done = subprocess.run([home / "bin" / "java", "-Xshare:auto", *options, *agent_options, "-cp", str(classes), main,
                           *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=LIMIT_SECONDS, check=False, env={**os.environ, **(env or {})})
    if check:
        assert done.returncode == 0, f"{main} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done


def read_folded(path):
    """[(frames, count)] of a folded file."""
    stacks = []
    for line in pathlib.Path(path).read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        stacks.append((stack.split(";"), int(count)))
    return stacks


def share_error(share, samples):
    """How far a share of so many samples may be from the truth: one point, and four times its sampling error."""
    return 0.01 + 4 * math.sqrt(max(share * (1 - share), 0.01) / max(samples, 1))


def shares_of(stacks, names):
    """Which part of the samples that hold any of the names holds each."""
    counts = collections.Counter()
    for frames, count in stacks:
        for name in names:
            if any(frame == name or frame.startswith(name + "_[") for frame in frames):
                counts[name] += count
                break
    total = sum(counts.values())
    return {name: counts[name] / total if total else 0 for name in names}, total
