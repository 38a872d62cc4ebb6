"""top with and without a terminal, for Python processes and JVMs."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest

import jvm
from measuring import collect
from python_targets import running

LIMIT_SECONDS = 300


class Terminal:
    """A command on a pseudo terminal; `screen()` returns its last screen."""

    def __init__(self, command, lines, columns):
        self.master, self.slave = pty.openpty()
        self.resize(lines, columns)
        self.before = termios.tcgetattr(self.slave)
        self.received = b""
        self.process = subprocess.Popen(list(map(str, command)), stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": ""},
                                        preexec_fn=self.take_terminal)

    def take_terminal(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, lines, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys)

    def read(self):
        if select.select([self.master], [], [], 0.05)[0]:
            self.received += os.read(self.master, 65536)

    def screen(self):
        """Complete screens only: the footer is at the end."""
        picture = self.received.rpartition(b"\033[2J")[2].decode(errors="replace")
        return re.sub(r"\033\[[0-9;?]*[A-Za-z]", lambda found: "\n" if found[0].endswith("H") else "", picture)

    def wait_for(self, what):
        end = time.monotonic() + LIMIT_SECONDS
        while not what(self.screen()):
            assert time.monotonic() < end, self.screen()
            assert self.process.poll() is None, self.received[-2000:]
            self.read()
        return self.screen()

    def wait_for_end(self):
        end = time.monotonic() + LIMIT_SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@contextlib.contextmanager
def on_terminal(*command, lines=16, columns=100):
    terminal = Terminal(command, lines, columns)
    try:
        yield terminal
    finally:
        terminal.close()


def rows(text):
    """The rows of the table, without header and footer."""
    return [line for line in text.splitlines() if re.match(r" *\d+\.\d% ", line)]


def test_a_terminal_with_keys(binary):
    with running("3.13", "alternating_chains.py", 5000) as target, on_terminal(binary, "top", target.pid) as terminal:
        terminal.wait_for(lambda text: "*own" in text and "leaf (alternating_chains.py)" in text and "q ends" in text)
        assert b"\033[1;31m" in terminal.received
        terminal.press(b"l")
        terminal.wait_for(lambda text: re.search(r"leaf \(alternating_chains.py:\d+\)", text))
        terminal.press(b"2")
        terminal.wait_for(lambda text: "*total" in text and "*own" not in text)
        terminal.press(b"f")
        terminal.wait_for(lambda text: "(/" in text)
        terminal.press(b"h")
        terminal.wait_for(lambda text: "Keys" in text and "begin anew" in text)
        terminal.press(b"h")
        terminal.resize(10, 50)
        text = terminal.wait_for(lambda text: "*total" in text and max(map(len, text.splitlines())) <= 50)
        assert len(text.strip("\n").splitlines()) <= 10
        terminal.press(b"p")
        before = rows(terminal.wait_for(lambda text: "paused" in text))
        terminal.press(b"\033[B")
        terminal.wait_for(lambda text: "paused" in text and rows(text)[:-1] == before[1:])
        terminal.press(b"q")
        assert terminal.wait_for_end() == 0
        assert terminal.received.endswith(b"\033[?25h\033[?1049l")
        assert termios.tcgetattr(terminal.slave) == terminal.before


def test_the_end_of_the_target_ends_it(binary):
    with running("3.13", "recycled_code.py", 1) as target, on_terminal(binary, "top", target.pid, "--idle") as terminal:
        terminal.wait_for(lambda text: "1 Python process at" in text)
        target.kill()
        target.wait()
        assert terminal.wait_for_end() == 0


def test_names_cannot_move_the_cursor(binary, tmp_path):
    program = tmp_path / "evil\033[2J.py"
    program.write_text("import time\nprint('ready', flush=True)\nwhile True: pass\n")
    with running("3.13", program) as target:
        done = subprocess.run([binary, "top", str(target.pid), "-d", "1"], capture_output=True, stdin=subprocess.DEVNULL,
                              check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"evil?[2J.py" in done.stdout
    assert b"\033" not in done.stdout


@pytest.fixture(scope="module")
def spinning(tmp_path_factory):
    classes = jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Spins")
    process = subprocess.Popen([jvm.home_of("17") / "bin" / "java", "-Xmx64m", "-cp", classes, "Spins"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


def rows_of(text):
    """{function: (own, total) in percent}"""
    return {name: (float(own), float(total))
            for own, total, name in re.findall(r"^ *([\d.]+)% +([\d.]+)% +[\d.]+s +[\d.]+s  (\S+)", text, re.MULTILINE)}


def test_a_jvm_without_a_terminal(sparkflame, spinning):
    rows = {}

    def measure():
        done = sparkflame("top", spinning.pid, "-d", "1")
        assert done.returncode == 0, done.stderr.decode()
        rows.clear()
        rows.update(rows_of(done.stdout.decode()))

    collect(measure, lambda: {"Spins.often", "Spins.seldom", "Spins.main"} <= set(rows), most=6)
    assert rows["Spins.main"][1] >= rows["Spins.often"][1] > rows["Spins.main"][0]
    assert sparkflame("control", spinning.pid, "status").stdout == b"Profiler is not active\n"


def test_a_jvm_on_a_terminal(binary, sparkflame, spinning):
    with on_terminal(binary, "top", spinning.pid) as terminal:
        terminal.wait_for(lambda text: "Spins.often" in text and "q ends" in text)
        terminal.press(b"2")
        terminal.wait_for(lambda text: "*total" in text and "Spins.main" in text)
        terminal.press(b"q")
        assert terminal.wait_for_end() == 0
    assert sparkflame("control", spinning.pid, "status").stdout == b"Profiler is not active\n"


def test_a_recording_of_others_goes_on(sparkflame, spinning):
    assert sparkflame("control", spinning.pid, "start", "event=cpu", "interval=10ms").returncode == 0
    try:
        done = sparkflame("top", spinning.pid, "-d", "1")
        assert done.returncode == 0, done.stderr.decode()
        assert b"from a recording that was already running" in done.stdout
        assert b"Profiling is running" in sparkflame("control", spinning.pid, "status").stdout
    finally:
        sparkflame("control", spinning.pid, "stop")


def test_what_only_pythons_have_is_refused(sparkflame, spinning):
    done = sparkflame("top", spinning.pid, "--gil")
    assert done.returncode == 2
    assert b"is a JVM: --gil and --lines are for Python" in done.stderr
