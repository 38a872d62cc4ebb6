#!/usr/bin/env python3
"""What `sparkflame serve` costs: CPU time of the server for 1,000 recordings until they are acknowledged, the wait of senders, memory,
bytes on disk.

    python3 bench/collector.py [FILE…]

Each sender is a process that sends one recording after the other over a connection of its own. FILE is any recording; the default is
that of examples/. CPU time is the figure to trust on a machine that does other work; several rounds show how much it varies.
"""

import argparse
import http.client
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=[ROOT / "examples" / "word_counts.jfr.gz"])
    parser.add_argument("--binary", default=str(ROOT / "build" / "sparkflame"))
    parser.add_argument("--recordings", type=int, default=2000, metavar="N", help="in one round")
    parser.add_argument("--senders", type=int, default=16, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--folder", help="where the data directory is made (default: the temporary folder)")
    return parser.parse_args()


def send(port, sender, count, body, results):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    waits = []
    for sequence in range(count):
        begin = time.perf_counter()
        connection.request("POST", f"/v1/recordings?group=bench&application=app-{sender % 4}&executor={sender}&sequence={sequence}", body)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 201:
            sys.exit(f"status {answer.status}")
        waits.append(time.perf_counter() - begin)
    results.put(waits)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def measure(options, body):
    """One round on an empty store."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        server = subprocess.Popen([options.binary, "serve", "--data", f"{folder}/data", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                  text=True)
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        results = multiprocessing.SimpleQueue()
        before, begin = cpu_seconds(server.pid), time.perf_counter()
        count = options.recordings // options.senders
        senders = [multiprocessing.Process(target=send, args=[port, number, count, body, results]) for number in range(options.senders)]
        for sender in senders:
            sender.start()
        waits = sorted(wait for _ in senders for wait in results.get())
        seconds, cpu = time.perf_counter() - begin, cpu_seconds(server.pid) - before
        for sender in senders:
            sender.join()
        disk = sum(path.stat().st_size for path in pathlib.Path(folder, "data").rglob("*") if path.is_file())
        print(f"  {cpu * 1000 / len(waits):6.2f} CPU s per 1,000   {len(waits) / seconds:7.0f}/s   p50 {waits[len(waits) // 2] * 1000:6.1f} ms"
              f"   p99 {waits[len(waits) * 99 // 100] * 1000:6.1f} ms   {peak_mib(server.pid):5.0f} MiB   {disk / len(waits):8.0f} B on disk each",
              flush=True)
        server.terminate()
        if server.wait() != 0:
            sys.exit("the server failed")


def main():
    options = arguments()
    for path in options.files:
        body = path.read_bytes()
        print(f"{path.name}: {len(body)} bytes, {options.senders} senders")
        for _ in range(options.rounds):
            measure(options, body)


if __name__ == "__main__":
    main()
