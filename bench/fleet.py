#!/usr/bin/env python3
"""What the executors of an application ask of the file system and of the driver in an hour: fleet.py [--executors N] [--stages N]

The plugin's own classes ship recordings and ask in simulated time (java/org/sparkflame/Fleet.java): on a file system that
counts calls, as one that renames and as an object store, and, with --hdfs, on HDFS in one process, whose client counts. Beside
it stands what the first version did: an object every 30 s, renamed, a look for the control file every 10 s in each executor, and
a question for each stage."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
import jvm  # noqa: E402
import spark  # noqa: E402


def compile_fleet(folder):
    """The class path of Fleet."""
    path = f"{spark.PLUGIN}:{spark.fetch_spark.fetch('3.5') / 'jars'}/*"
    sources = sorted((HERE / "java" / "org" / "sparkflame").glob("*.java"))
    subprocess.run([jvm.system_home() / "bin" / "javac", "-nowarn", "-cp", path, "-d", folder, *sources], check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return f"{folder}:{path}"


def run(class_path, folder, uri, executors, stages, size, env=None):
    """{"before" or "now": {call: number per executor and hour}}"""
    done = subprocess.run([jvm.system_home() / "bin" / "java", "-Xmx512m", "-cp", class_path, "org.sparkflame.Fleet", folder, uri,
                           *map(str, (executors, stages, size))], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, env=env, timeout=spark.LIMIT_SECONDS)
    assert done.returncode == 0, done.stderr
    found = {}
    for name, call, number in map(str.split, done.stdout.splitlines()):
        found.setdefault(name, {})[call] = float(number)
    return found


def show(name, found):
    for call in ("create", "rename", "open", "ask"):
        before, now = found["before"][call], found["now"][call]
        ratio = f"{before / now:.1f}×" if now else "none left"
        print(f"{name:10} {call:8} {before:9.2f} {now:9.2f}  {ratio}")
    print(f"{name:10} CPU of the driver's answers: {found['now']['driver-cpu-s']:.2f} s")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executors", type=int, default=500)
    parser.add_argument("--stages", type=int, default=1000, help="of the application in that hour (1000)")
    parser.add_argument("--size", type=int, default=10_000, help="bytes of a recording (10000)")
    parser.add_argument("--hdfs", action="store_true")
    options = parser.parse_args()
    sizes = options.executors, options.stages, options.size
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        class_path = compile_fleet(folder / "classes")
        print("file system, call: per executor and hour, before and now")
        for scheme in ("rename", "store"):
            show(scheme, run(class_path, folder / scheme, f"{scheme}://{folder}/{scheme}-out", *sizes))
        if options.hdfs:
            import hadoop
            with hadoop.running(folder / "hadoop") as cluster:
                show("hdfs", run(f"{cluster.conf}:{class_path}", folder / "local", f"{cluster.uri}/fleet", *sizes, env=cluster.env))


if __name__ == "__main__":
    main()
