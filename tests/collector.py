"""A collector of its own for a test: the server process, and requests to it."""

import contextlib
import gzip
import http.client
import json
import os
import pathlib
import queue
import re
import signal
import ssl
import subprocess
import threading
import time
import urllib.parse

# Only against a hang.
LIMIT_SECONDS = 120
GROUP = {"group": "etl", "application": "app-1", "executor": "1", "sequence": "0"}


def folded(number, size=0):
    """A recording that no other number has: folded text of about this size, which does not compress well."""
    lines = [f"main;work{number};{os.urandom(24).hex()} 1\n" for _ in range(size // 60)]
    return "".join([f"main;work{number} 1\n", *lines]).encode()


def wait_until(condition):
    """Only a hang makes this fail."""
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


class Collector:
    """`with Collector(binary, folder, "--keep-mib", "1") as collector: collector.post(body, sequence="7")`."""

    def __init__(self, binary, folder, *options, listen="127.0.0.1:0", context=None, **popen):
        self.command = [str(binary), "serve", "--data", str(folder), "--listen", listen, "--min-free-mib", "0", *map(str, options)]
        self.folder = pathlib.Path(folder)
        self.context = context
        self.popen = popen
        self.lines = []
        self.process = None
        self.port = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        **self.popen)
        first = self.process.stdout.readline()
        if not first.startswith("listening on "):
            raise AssertionError(f"{first}{self.process.communicate(timeout=LIMIT_SECONDS)[1]}")
        self.port = int(first.rsplit(":", 1)[1])
        # So that the log never fills its pipe.
        threading.Thread(target=lambda stream: self.lines.extend(stream), args=[self.process.stderr], daemon=True).start()

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def stop(self):
        """End it in order; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(LIMIT_SECONDS)
        self.process.stdout.close()
        self.process = None
        return status

    def connect(self):
        if self.context is not None:
            return http.client.HTTPSConnection("localhost", self.port, timeout=LIMIT_SECONDS, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)

    def request(self, method, path, body=None, token=None, headers=None, connection=None):
        """(status, bytes) of one request."""
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        with contextlib.closing(self.connect()) if connection is None else contextlib.nullcontext(connection) as link:
            link.request(method, path, body=body, headers=headers, encode_chunked="Transfer-Encoding" in headers)
            answer = link.getresponse()
            return answer.status, answer.read()

    def get(self, path, **more):
        """The JSON of a path that exists."""
        status, body = self.request("GET", path, **more)
        assert status == 200, (status, body)
        return json.loads(body)

    def post(self, body, token=None, connection=None, headers=None, **parameters):
        """(status, JSON) of a recording; the parameters replace those of GROUP, None leaves one out."""
        query = {name: value for name, value in {**GROUP, **parameters}.items() if value is not None}
        path = "/v1/recordings?" + urllib.parse.urlencode(query, doseq=True)
        status, answer = self.request("POST", path, body, token=token, connection=connection, headers=headers)
        return status, json.loads(answer)

    def recordings(self, group="etl", token=None):
        """All recordings of a group, page by page."""
        found, last = [], 0
        while True:
            page = self.get(f"/v1/recordings?group={group}&limit=1000&after={last}", token=token)["recordings"]
            if not page:
                return found
            found += page
            last = page[-1]["recording"]

    def body_of(self, number):
        status, body = self.request("GET", f"/v1/recordings/{number}")
        assert status == 200, (status, body)
        return body


class Senders:
    """Threads that send recordings until `stop` is set or the server is gone; `acknowledged` is what it answered 201 or 200
    to: {(executor, sequence): bytes}. One that was not acknowledged is sent again first, as a plugin does."""

    def __init__(self, count=4, size=20000):
        self.count = count
        self.size = size
        self.acknowledged = {}
        self.refused = queue.SimpleQueue()
        self.next = [0] * count
        self.waiting = [None] * count

    def run_until(self, collector, stop):
        threads = [threading.Thread(target=self._send, args=[collector, number, stop]) for number in range(self.count)]
        for thread in threads:
            thread.start()
        return threads

    def _send(self, collector, number, stop):
        with contextlib.closing(collector.connect()) as connection, contextlib.suppress(OSError, http.client.HTTPException):
            while not stop.is_set():
                if self.waiting[number] is None:
                    body = folded(f"{number}_{self.next[number]}", self.size)
                    self.waiting[number] = gzip.compress(body, 1) if self.next[number] % 2 else body
                body = self.waiting[number]
                status, answer = collector.post(body, connection=connection, executor=str(number), sequence=str(self.next[number]))
                if status not in (200, 201):
                    self.refused.put((status, answer))
                    continue
                self.acknowledged[str(number), self.next[number]] = body
                self.next[number] += 1
                self.waiting[number] = None

    def check(self, collector):
        """Everything acknowledged is there with its bytes, and nothing is there twice."""
        found = {}
        for item in collector.recordings():
            key = item["executor"], item["sequence"]
            assert key not in found, f"{key} is there twice"
            found[key] = item["recording"]
        missing = set(self.acknowledged) - set(found)
        assert not missing, f"{len(missing)} of {len(self.acknowledged)} acknowledged recordings are lost: {sorted(missing)[:5]}"
        for key, body in self.acknowledged.items():
            assert collector.body_of(found[key]) == body, key
        # Besides them there may be only what was stored without the answer reaching the sender: one of each.
        assert len(found) <= len(self.acknowledged) + self.count


def check_store(binary, folder):
    """(exit status, text) of `serve --check`."""
    done = subprocess.run([str(binary), "serve", "--data", str(folder), "--check"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def add_token(binary, folder, what):
    done = subprocess.run([str(binary), "serve", "--data", str(folder), "--add-token", what], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=True)
    token = done.stdout.strip()
    assert re.fullmatch(r"sft_[0-9a-f]{8}_[0-9a-f]{64}", token)
    return token


def tls_context(certificate):
    return ssl.create_default_context(cafile=str(certificate))
