#!/usr/bin/env python3
"""Record the JFR inputs of the bench from a live JVM: jfr_inputs.py FOLDER [NAME…].

jdkexec200   JDK's execution samples, many chunks
jdkalloc200  JDK's allocation events: almost every stack is another one
ap200        async-profiler: CPU, wall clock, allocation and lock events, large chunks

Each is recorded once and repeated up to about 200 MB. async-profiler comes from Maven (tools.profiler)."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MEGABYTE = 1 << 20
TARGET = 200 * MEGABYTE
ASYNC_PROFILER = "tools.profiler:async-profiler:4.5"
EVENTS = {
    "exec": {"jdk.ExecutionSample": {"period": "10 ms"}, "jdk.NativeMethodSample": {"period": "10 ms"}},
    "alloc": {"jdk.ExecutionSample": {"period": "10 ms"}, "jdk.NativeMethodSample": {"period": "10 ms"},
              "jdk.ObjectAllocationInNewTLAB": {"stackTrace": "true"},
              "jdk.ObjectAllocationOutsideTLAB": {"stackTrace": "true"},
              "jdk.ObjectAllocationSample": {"throttle": "off", "stackTrace": "true"}},
}


def settings(path, events):
    text = ['<?xml version="1.0" encoding="UTF-8"?>', '<configuration version="2.0">']
    for name, values in events.items():
        text.append(f'<event name="{name}">')
        for key, value in {"enabled": "true", **values}.items():
            text.append(f'<setting name="{key}">{value}</setting>')
        text.append("</event>")
    path.write_text("\n".join(text + ["</configuration>"]))
    return path


def java(folder, *options):
    subprocess.run(["java", "-Xmx1g", "-XX:+UseParallelGC", *options], cwd=folder, check=True)


def record_jdk(folder, name, seconds, threads, *options):
    jfc = settings(folder / f"{name}.jfc", EVENTS[name])
    out = folder / f"{name}.jfr"
    java(folder, *options, "-XX:FlightRecorderOptions=stackdepth=256,maxchunksize=12M",
         f"-XX:StartFlightRecording=settings={jfc},filename={out},dumponexit=true", "-cp", str(folder), "Busy",
         str(seconds), str(threads))
    return out


def async_profiler(folder):
    library = folder / "libasyncProfiler.so"
    if not library.exists():
        subprocess.run(["mvn", "-q", "dependency:copy", f"-Dartifact={ASYNC_PROFILER}", f"-DoutputDirectory={folder}"],
                       check=True)
        jar = next(folder.glob("async-profiler-*.jar"))
        with zipfile.ZipFile(jar) as archive:
            name = next(n for n in archive.namelist() if "linux-x64" in n and n.endswith("libasyncProfiler.so"))
            library.write_bytes(archive.read(name))
    return library


def record_async_profiler(folder, seconds, threads):
    out = folder / "ap.jfr"
    java(folder, f"-agentpath:{async_profiler(folder)}=start,event=itimer,interval=2ms,alloc=64k,wall=5ms,lock=10us,"
         f"jstackdepth=256,jfr,file={out}", "-XX:TLABSize=64k", "-XX:-ResizeTLAB", "-cp", str(folder), "Busy",
         str(seconds), str(threads))
    return out


def repeat(source, path):
    """As many whole copies as bring the file nearest to the target."""
    copies = max(1, round(TARGET / source.stat().st_size))
    with open(path, "wb") as out:
        for _ in range(copies):
            with open(source, "rb") as one:
                shutil.copyfileobj(one, out)
    source.unlink()
    return path


def make(folder, name):
    """The path of one input, which is recorded when it is not there yet."""
    path = folder / f"{name}.jfr"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["javac", "-d", str(folder), str(HERE / "jfr" / "Busy.java")], check=True)
    if name == "jdkexec200":
        return repeat(record_jdk(folder, "exec", 40, 3), path)
    if name == "jdkalloc200":
        return repeat(record_jdk(folder, "alloc", 40, 8, "-XX:TLABSize=64k", "-XX:-ResizeTLAB"), path)
    return repeat(record_async_profiler(folder, 40, 8), path)


NAMES = ["jdkexec200", "jdkalloc200", "ap200"]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or NAMES:
        path = make(folder, name)
        print(f"{path} {path.stat().st_size / MEGABYTE:.0f} MB")


if __name__ == "__main__":
    main()
