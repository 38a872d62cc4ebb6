#!/usr/bin/env python3
"""What `sparkflame serve` costs: CPU time of the server for 1,000 recordings until they are acknowledged, the wait of senders, memory,
bytes on disk.

    python3 bench/collector.py [FILE…]
    python3 bench/collector.py --executors 10000 --minutes 10 [FILE]

Each sender is a process that sends one recording after the other over a connection of its own. FILE is any recording; the default is
that of examples/. CPU time is the figure to trust on a machine that does other work; several rounds show how much it varies.

With --executors each of them has a connection that stays open, and sends FILE once a minute, at a moment of its own. Roll-ups are made meanwhile. At
the end `serve --check` says whether all that was acknowledged is there. Everything stays on this machine, and ends after the minutes. Both
processes need an open file for each executor (ulimit -Hn).
"""

import argparse
import asyncio
import collections
import http.client
import multiprocessing
import os
import pathlib
import random
import resource
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
    parser.add_argument("--executors", type=int, metavar="N", help="so many that send once a minute")
    parser.add_argument("--minutes", type=int, default=2, metavar="N", help="of --executors")
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


# ---- many executors ----

def memory_mib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


class Fleet:
    def __init__(self, port, options, body):
        self.port, self.options, self.body = port, options, body
        self.waits, self.answers, self.late_ms = [], collections.Counter(), []
        self.begin = time.monotonic() + 5  # when all are connected

    async def send(self, reader, writer, executor, sequence):
        path = f"/v1/recordings?group=bench&application=app-{executor % 100}&executor={executor}&sequence={sequence}"
        begin = time.perf_counter()
        writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(self.body)}\r\n\r\n".encode() + self.body)
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(size)
        self.waits.append(time.perf_counter() - begin)
        return int(head.split()[1])

    async def run(self, executor):
        chance = random.Random(executor)
        moment = chance.uniform(0, 60)
        link = None
        for sequence in range(self.options.minutes):
            due = self.begin + sequence * 60 + moment
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            self.late_ms.append((time.monotonic() - due) * 1000)
            # As the plugin does: again, until it is acknowledged.
            for attempt in range(5):
                try:
                    link = link or await asyncio.open_connection("127.0.0.1", self.port)
                    status = await self.send(*link, executor, sequence)
                except (OSError, asyncio.IncompleteReadError):
                    status, link = "cut off", None
                self.answers[status] += 1
                if status in (200, 201):
                    break
                await asyncio.sleep(2 ** attempt * chance.uniform(0.5, 1))
        if link is not None:
            link[1].close()

    async def watch(self, pid, memory):
        while True:
            memory.append(memory_mib(pid))
            await asyncio.sleep(5)

    async def run_all(self, pid, memory):
        watch = asyncio.create_task(self.watch(pid, memory))
        await asyncio.gather(*(self.run(executor) for executor in range(self.options.executors)))
        watch.cancel()


def measure_fleet(options, path):
    body = path.read_bytes()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < options.executors + 1000:
        sys.exit(f"{most} files may be open (ulimit -Hn), {options.executors + 1000} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        command = [options.binary, "serve", "--data", f"{folder}/data", "--listen", "127.0.0.1:0", "--max-connections",
                   str(2 * options.executors + 2)]  # half of them for one address
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        fleet, memory, before = Fleet(port, options, body), [], cpu_seconds(server.pid)
        asyncio.run(fleet.run_all(server.pid, memory))
        cpu = cpu_seconds(server.pid) - before
        server.terminate()
        if server.wait() != 0:
            sys.exit("the server failed")
        waits, late = sorted(fleet.waits), sorted(fleet.late_ms)
        stored = fleet.answers[201]
        wanted = options.executors * options.minutes
        print(f"{path.name}: {len(body)} bytes, {options.executors} executors, {options.minutes} minutes: {stored} of {wanted} stored, "
              f"answers {dict(fleet.answers)}")
        print(f"  {cpu * 1000 / max(stored, 1):6.2f} CPU s per 1,000 to acknowledgement   p50 {waits[len(waits) // 2] * 1000:6.1f} ms   p99 "
              f"{waits[len(waits) * 99 // 100] * 1000:6.1f} ms   memory {memory[len(memory) // 3]:.0f} MiB after a third, {memory[-1]:.0f} at the end, "
              f"{max(memory):.0f} most   senders themselves late: p99 {late[len(late) * 99 // 100]:.0f} ms")
        begin = os.times()
        check = subprocess.run([options.binary, "serve", "--data", f"{folder}/data", "--check"], stdout=subprocess.PIPE, text=True, check=False)
        print("  check: " + "; ".join(check.stdout.splitlines()) + f"; {os.times().children_user - begin.children_user:.1f} CPU s")
        if check.returncode != 0 or not check.stdout.startswith(f"{stored} recordings,"):
            sys.exit("recordings were lost")


def main():
    options = arguments()
    if options.executors:
        measure_fleet(options, options.files[0])
        return
    for path in options.files:
        body = path.read_bytes()
        print(f"{path.name}: {len(body)} bytes, {options.senders} senders")
        for _ in range(options.rounds):
            measure(options, body)


if __name__ == "__main__":
    main()
