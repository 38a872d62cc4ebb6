"""`sparkflame record --hosts`: through a script that stands for ssh, and through the real one to servers on loopback addresses."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import pty
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

import pytest

from jfr_builder import Chunk, standard_metadata, utf8
from test_native_record import count_of, read_folded, skip_if_forbidden, started, work  # noqa: F401  a fixture

FAKE_SSH = pathlib.Path(__file__).resolve().parent / "fake_ssh.py"
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
LIMIT_SECONDS = 120
# Stands for sparkflame on the hosts: gives the recording that was made for the host.
PROGRAM = """#!/bin/sh
[ "$1" = version ] && exit 0
echo "$(stat -c %a "$0") $0 $*" > "$FAKE_SSH/$FAKE_HOST.ran"
echo "sparkflame record: 100 samples of native code; 3 lost" >&2
exec cat "$FAKE_SSH/$FAKE_HOST.jfr"
"""
# Records until SIGTERM.
ENDLESS = """#!/bin/sh
[ "$1" = version ] && exit 0
trap 'kill $!; cat "$FAKE_SSH/$FAKE_HOST.jfr"; touch "$FAKE_SSH/$FAKE_HOST.ended"; exit 0' TERM
sleep 1000 > /dev/null 2>&1 &
touch "$FAKE_SSH/$FAKE_HOST.runs"
wait
"""


class Hosts:
    """Made up hosts with their recordings."""
    def __init__(self, binary, sparkflame, folder):
        self.binary, self.sparkflame, self.folder = binary, sparkflame, folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.environment = {"FAKE_SSH": str(folder), "TMPDIR": str(self.temporary), "LC_ALL": "C"}
        self.program = self.write("program", PROGRAM)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def add(self, host, samples, slow=0.0, process=1):
        """So many samples in half a minute, of which some are slow; the same ones each time."""
        numbers = random.Random(host)
        text = ""
        for i in range(samples):
            function = "slow_path" if numbers.random() < slow else numbers.choice(["parse", "parse", "sort", "hash", "write"])
            text += f"work {process}/{process} {100 + 30 * i / samples:.6f}: 10101010 cpu-clock: \n"
            text += "".join(f"\t{address:8x} {name}+0x1 (/bin/work)\n" for address, name in ((4096, function), (8192, "main"))) + "\n"
        self.write(f"{host}.perf", text)
        done = self.sparkflame("convert", self.folder / f"{host}.perf", "-f", "jfr", "-o", self.folder / f"{host}.jfr")
        assert done.returncode == 0, done.stderr

    def add_stages(self, host, samples, functions):
        """So many samples of each {stage: function}, one thread per stage; "" is no stage."""
        chunk, names = Chunk(standard_metadata()), ["Job", "run", *sorted(set(functions.values()))]
        numbers = {name: number for number, name in enumerate(names, 1)}
        chunk.standard_constants(symbols=dict(enumerate(names, 1)), classes={1: 1}, methods={number: (1, number) for number in numbers.values()},
                                 threads={thread: (f"thread {thread}", thread) for thread in range(1, len(functions) + 1)})
        chunk.stacks({number: [(number, 0, 0), (2, 0, 0)] for number in numbers.values()})
        for thread, stage in enumerate(functions, 1):
            if stage:
                chunk.add("sparkflame.Labels", 1001, thread, utf8(f"application=app-1;stage={stage};task={thread}"))
        for i in range(samples):
            for thread, function in enumerate(functions.values(), 1):
                chunk.add("jdk.ExecutionSample", 2000 + 30_000_000_000 * i // samples, thread, numbers[function], 0)
        (self.folder / f"{host}.jfr").write_bytes(chunk.bytes())

    def words(self, hosts, *more, program=None, output="out.folded"):
        return ["record", "--hosts", hosts, "--ssh", f"{sys.executable} {FAKE_SSH}", "-d", "30", "-f", output,
                "--binary", str(program or self.program), *more]

    def record(self, hosts, *more, program=None, output="out.folded"):
        """(exit status, what was printed)"""
        done = self.sparkflame(*self.words(hosts, *more, program=program, output=output), env=self.environment)
        return done.returncode, done.stderr.decode()

    def start(self, hosts, program):
        return subprocess.Popen([self.binary, *self.words(hosts, program=program)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.environment})

    def exists(self, name):
        return (self.folder / name).exists()


@pytest.fixture
def hosts(binary, sparkflame, tmp_path):
    return Hosts(binary, sparkflame, tmp_path)


def page_meta(path):
    """The JSON of a page's data (docs/PAGE_DATA.md): behind the version, a tag and a length of seven bits a byte."""
    data = zlib.decompress(base64.b64decode(re.search(r'id="data" data-encoding="deflate-raw">([^<]*)<', path.read_text())[1]), -15)
    assert data[:6] == b"SFPD\1\1"
    size, at = 0, 6
    while True:
        size |= (data[at] & 127) << 7 * (at - 6)
        at += 1
        if data[at - 1] < 128:
            return json.loads(data[at:at + size])


def wait_until(is_so):
    end = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def differing(said):
    """{host: the functions by which it differs}"""
    found = {}
    for host, function in re.findall(r"host (\S+) differs: (\S+) ", said):
        found.setdefault(host, set()).add(function)
    return found


def test_hosts_are_merged_below_their_names(hosts, tmp_path):
    hosts.add("h1", 20)
    hosts.add("h2", 30)
    status, said = hosts.record("h1,h2")
    assert status == 0, said
    stacks = read_folded(tmp_path / "out.folded")
    assert {(stack[0], stack[1], stack[2]) for stack, _ in stacks} == {("host h1", "work", "main"), ("host h2", "work", "main")}
    assert sum(count for stack, count in stacks if stack[0] == "host h2") == 30 * 10101010
    assert "host h1: 100 samples of native code; 3 lost" in said
    assert re.search(r"h2 +[01]\.\d\d 1\.00\n", said), said


def test_what_ssh_gets(hosts):
    hosts.add("h1", 20)
    status, said = hosts.record("root@h1", "--ssh-port", "2222", "--ssh-user", "spark", "-e", "cpu-clock", "-r", "49", "--threads")
    assert status == 1 and "host root@h1 failed: the recording failed: cat: " in said, said
    words = json.loads((hosts.folder / "root@h1.words").read_text())
    host, script = words[words.index("--") + 1:]
    options = words[:words.index("--")]
    assert host == "root@h1" and script.startswith("exec sh -c '")
    assert ["-T", "-o", "BatchMode=yes"] == options[:3] and options[-3:] == ["-p2222", "-l", "spark"]
    assert ' record --format jfr --duration 30 --host --event cpu-clock --rate 49 --threads <' in script


def test_the_program_is_copied_and_removed(hosts):
    hosts.add("h1", 20)
    assert hosts.record("h1")[0] == 0
    mode, path, *arguments = (hosts.folder / "h1.ran").read_text().split()
    assert mode == "700" and path.startswith(f"{hosts.temporary}/sparkflame."), path
    assert arguments == ["record", "--format", "jfr", "--duration", "30", "--host"]
    assert list(hosts.temporary.iterdir()) == []


def test_a_program_that_is_there_is_not_copied(hosts):
    hosts.add("h1", 20)
    there = hosts.write("installed", PROGRAM)
    assert hosts.record("h1", "--remote-binary", there, program=hosts.write("unused", "#!/bin/false\n"))[0] == 0
    assert (hosts.folder / "h1.ran").read_text().split()[1] == str(there)
    status, said = hosts.record("h1", "--remote-binary", f"{hosts.folder}/missing")
    assert status == 0, said
    assert (hosts.folder / "h1.ran").read_text().split()[1].startswith(f"{hosts.temporary}/sparkflame.")


def test_hosts_of_a_file(hosts, tmp_path):
    for host in ("h1", "h2"):
        hosts.add(host, 20)
    (tmp_path / "workers").write_text("# two workers\nh1\n\nh2 # the new one\n")
    status, said = hosts.record("@workers")
    assert status == 0, said
    assert {stack[0] for stack, _ in read_folded(tmp_path / "out.folded")} == {"host h1", "host h2"}


def test_the_label_of_the_host(hosts, sparkflame, tmp_path):
    for host in ("h1", "h2"):
        hosts.add(host, 20)
    status, said = hosts.record("h1,h2", "--by", "cluster", "-f", "out.pb.gz")
    assert status == 0, said
    def stacks(*options):
        done = sparkflame("convert", "-q", "-f", "folded", "out.pb.gz", *options)
        assert done.returncode == 0, done.stderr
        return {line.split(b";")[0] for line in done.stdout.splitlines()}
    assert stacks() == {b"work"}
    assert stacks("--by", "host") == {b"host h1", b"host h2"}
    done = sparkflame("convert", "-q", "-f", "folded", "out.pb.gz", "--label", "host=h2", "--by", "host")
    assert {line.split(b";")[0] for line in done.stdout.splitlines()} == {b"host h2"}
    done = sparkflame("flame", "-q", "out.pb.gz", "--by", "host", "-o", "out.svg")
    assert done.returncode == 0 and {"host h1", "host h2"} <= set(re.findall(r"host h\d", (tmp_path / "out.svg").read_text())), done.stderr
    status, said = hosts.record("h1,h2", "-f", "out.html")
    assert status == 0, said


def test_progress_on_a_terminal(hosts):
    hosts.add("h1", 20)
    ours, its = pty.openpty()
    done = subprocess.run([hosts.binary, *hosts.words("h1")], cwd=hosts.folder, stdin=subprocess.DEVNULL, stderr=its, check=False,
                          timeout=LIMIT_SECONDS, env={**os.environ, **hosts.environment})
    os.close(its)
    shown = b""
    with contextlib.suppress(OSError):  # at the end
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert done.returncode == 0 and b" of 1 hosts " in shown and b"host h1: 100 samples" in shown, shown
    quiet, said = hosts.record("h1", "-q")
    assert quiet == 0 and said == ""


SIX = ",".join(f"h{number}" for number in range(1, 7))


def add_six(hosts, samples, slow):
    for number in range(1, 7):
        hosts.add(f"h{number}", samples, slow=slow if number == 4 else 0)


def test_a_host_that_differs_is_named_with_the_function(hosts):
    add_six(hosts, 3000, slow=0.5)
    status, said = hosts.record(SIX)
    assert status == 0, said
    found = differing(said)
    assert set(found) == {"h4"} and "slow_path" in found["h4"] and said.count(" differs: slow_path ") == 1, said
    share, others = re.search(r"host h4 differs: slow_path .*?([\d.]+) % of its time, ([\d.]+) % of the other", said).groups()
    assert 45 < float(share) < 55 and float(others) == 0, said


def test_equal_hosts_are_not_named(hosts):
    add_six(hosts, 3000, slow=0)
    status, said = hosts.record(SIX)
    assert status == 0 and "no host differs significantly from the others" in said, said


@pytest.mark.parametrize("chosen, samples, sampled", [("h2,h3,h4,h5,h6", 3000, "are 5"), (SIX, 900, "are 0")])
def test_too_little_names_nobody(hosts, chosen, samples, sampled):
    add_six(hosts, samples, slow=0.5)
    status, said = hosts.record(chosen)
    assert status == 0 and differing(said) == {}, said
    assert f"outliers are not reported: this needs 6 hosts with 1000 samples each; there {sampled}\n" in said
    assert re.search(r"hosts differ: slow_path has between 0\.0 % and \d\d\.\d % of a host's time", said), said


def test_a_few_long_waits_are_enough_to_be_compared(hosts, sparkflame, work, tmp_path):  # noqa: F811
    """How long they are is known exactly: six processes that sleep are no thousand waits, but 15 s."""
    naps = f"for i in 1 2 3 4 5 6; do {work} nap 2500 & done; wait"
    done = sparkflame("record", "-e", "offcpu", "--format", "jfr", "-f", "h1.jfr", "--", "/bin/sh", "-c", naps)
    skip_if_forbidden(done)
    assert done.returncode == 0 and int(re.search(r"; (\d+) waits", done.stderr.decode())[1]) < 500, done.stderr
    for number in range(2, 7):
        shutil.copy(tmp_path / "h1.jfr", tmp_path / f"h{number}.jfr")
    status, said = hosts.record(SIX)
    assert status == 0 and "no host differs significantly from the others" in said, said


def test_hosts_with_few_samples_are_left_out_of_the_comparison(hosts):
    add_six(hosts, 3000, slow=0.5)
    hosts.add("h7", 50, slow=1)
    status, said = hosts.record(f"{SIX},h7")
    assert status == 0 and set(differing(said)) == {"h4"}, said
    assert "1 of 7 hosts have fewer than 1000 samples and are not compared" in said


def test_hosts_that_fail_do_not_hold_up_the_others(hosts, tmp_path):
    hosts.add("good", 20)
    hosts.write("gone.sh", "echo 'Connection to gone \033[31mclosed' >&2; exit 255")
    hosts.write("other.sh", "echo sparkflame:ready; read -r go; echo 'This is no recording'")
    hosts.write("half.sh", f"echo sparkflame:ready; read -r go; head -c 1000 {hosts.folder}/good.jfr")
    hosts.write("denied.sh", "echo welcome; echo sparkflame:ready; read -r go; echo 'sparkflame record: perf says no' >&2; "
                              "echo 'Try \"sparkflame record --help\".' >&2; exit 1")
    hosts.write("twice.sh", f"echo sparkflame:copy; head -c {hosts.program.stat().st_size} > /dev/null; echo sparkflame:copy; cat > /dev/null")
    status, said = hosts.record("good,gone,other,half,denied,twice")
    assert status == 1, said
    assert "host gone failed: the connection ended before the recording: Connection to gone ?[31mclosed\n" in said
    assert "host denied failed: the recording failed: sparkflame record: perf says no\n" in said
    assert "host twice failed: it asked for the program twice\n" in said
    assert "host other failed: its recording: " in said and "host half failed: its recording: " in said and "/proc/self" not in said
    assert "5 of 6 hosts failed\n" in said
    assert {stack[0] for stack, _ in read_folded(tmp_path / "out.folded")} == {"host good"}


# Takes a while to be ready, and notes how many others are just then.
SLOW_TO_CONNECT = """echo x > "$FAKE_SSH/$FAKE_HOST.connects"
sleep 0.2
ls "$FAKE_SSH" | grep -c '[.]connects$' > "$FAKE_SSH/$FAKE_HOST.seen"
rm "$FAKE_SSH/$FAKE_HOST.connects"
echo sparkflame:ready; read -r go; cat "$FAKE_SSH/h1.jfr"
"""


@pytest.mark.parametrize("words, limit", [([], 8), (["--connections", "3"], 3)])
def test_only_so_many_hosts_are_connected_to_at_a_time(hosts, words, limit):
    hosts.add("h1", 20)
    names = [f"n{number}" for number in range(12)]
    for name in names:
        hosts.write(f"{name}.sh", SLOW_TO_CONNECT)
    status, said = hosts.record(",".join(names), *words)
    assert status == 0, said
    assert max(int((hosts.folder / f"{name}.seen").read_text()) for name in names) <= limit


def test_no_host_at_all(hosts):
    hosts.write("h1.sh", "exit 255")
    status, said = hosts.record("h1")
    assert status == 1 and "host h1 failed: the connection ended before the recording\n" in said and "no host was recorded" in said, said
    assert not hosts.exists("out.folded")


def test_a_program_that_does_not_run_there(hosts):
    status, said = hosts.record("h1", program=hosts.write("wrong", "#!/no/such/interpreter\n"))
    assert status == 1 and re.search(r"host h1 failed: the connection ended before the recording: .*sparkflame\.\w+: ", said), said
    assert list(hosts.temporary.iterdir()) == []


def test_ctrl_c_ends_the_recordings_and_writes_them(hosts, tmp_path):
    for host in ("h1", "h2"):
        hosts.add(host, 20)
    with hosts.start("h1,h2", hosts.write("endless", ENDLESS)) as process:
        wait_until(lambda: hosts.exists("h1.runs") and hosts.exists("h2.runs"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said
    assert {stack[0] for stack, _ in read_folded(tmp_path / "out.folded")} == {"host h1", "host h2"}
    assert list(hosts.temporary.iterdir()) == []


def test_nothing_stays_on_the_hosts_when_the_command_is_killed(hosts):
    hosts.add("h1", 20)
    with hosts.start("h1", hosts.write("endless", ENDLESS)) as process:
        wait_until(lambda: hosts.exists("h1.runs"))
        process.kill()
        process.communicate(timeout=LIMIT_SECONDS)
    wait_until(lambda: hosts.exists("h1.ended") and list(hosts.temporary.iterdir()) == [])


def test_nothing_stays_when_the_connection_ends_before_the_recording(hosts):
    """After the program was copied: the shell gets SIGPIPE when it says that it is ready."""
    hosts.add("h1", 20)
    status, said = hosts.record("h1")
    assert status == 0, said
    words = json.loads((hosts.folder / "h1.words").read_text())
    with subprocess.Popen(["sh", "-c", words[-1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **hosts.environment}) as shell:
        assert shell.stdout.readline() == b"sparkflame:copy\n"
        assert len(list(hosts.temporary.iterdir())) == 1
        shell.stdout.close()
        shell.stdin.write(hosts.program.read_bytes())
        shell.stdin.close()
        shell.wait(LIMIT_SECONDS)
    assert list(hosts.temporary.iterdir()) == []


@pytest.mark.parametrize("words, message", [
    (["--hosts", "-oProxyCommand=id"], '"-oProxyCommand=id" is not a host name'),
    (["--hosts=h1,-v"], '"-v" is not a host name'),
    (["--hosts", "h1,h2,H1"], "host H1 is given twice"),
    (["--hosts", ""], "no host given"),
    (["--hosts", "h1;id"], '"h1;id" is not a host name'),
    (["--hosts", "h1", "-d", "unlimited"], "--hosts needs a time"),
    (["--hosts", "h1", "-d", "soon"], '"soon" is not a duration'),
    (["--hosts", "h1", "-e", "cpu$(id)"], '--event: "cpu$(id)" cannot be given to a host'),
    (["--hosts", "h1", "--spark", "app 1"], '--spark: "app 1" cannot be given to a host'),
    (["--hosts", "h1", "-r", "0"], "--rate: 0 is not between"),
    (["--hosts", "h1", "--ssh-port", "65536"], "--ssh-port: 65536 is not between 1 and 65535"),
    (["--hosts", "h1", "--ssh-user", "-v"], '--ssh-user: "-v" is not a user name'),
    (["--hosts", "h1", "--remote-binary", "sparkflame"], "is not an absolute path"),
    (["--hosts", "h1", "--gil"], "need --spark"),
    (["--hosts", "h1", "--subprocesses"], "--subprocesses is for processes that are given"),
    (["--hosts", "h1", "--yarn", "http://h1"], "--hosts and --yarn both name the hosts"),
    (["--hosts", "h1", "123"], "--hosts records all processes of the hosts"),
    (["--hosts", "h1", "--", "true"], "--hosts records all processes of the hosts"),
    (["--hosts", "h1", "--push", "http://localhost:1"], "--hosts writes one profile"),
    (["--host", "--ssh-port", "22"], "are for --hosts"),
    (["--host", "--connections", "2"], "are for --hosts"),
])
def test_misuse(sparkflame, words, message):
    has_duration = "-d" in words or "--" in words
    done = sparkflame("record", *([] if has_duration else ["-d", "1"]), "-f", "out.folded", "--ssh", "/bin/false", *words)
    said = done.stderr.decode()
    assert done.returncode == 2 and message in said, said


def test_no_ssh_and_no_file(sparkflame):
    done = sparkflame("record", "--hosts", "h1", "-d", "1", "-f", "out.folded", "--ssh", "no-such-ssh -v")
    assert done.returncode == 1 and b"cannot run no-such-ssh: no such program; --ssh COMMAND names another" in done.stderr, done.stderr
    done = sparkflame("record", "--hosts", "@missing", "-d", "1", "-f", "out.folded")
    assert done.returncode == 1 and b"missing: No such file or directory" in done.stderr, done.stderr
    done = sparkflame("record", "--hosts", "h1", "-d", "1", "-f", "out.folded", "--ssh", "/bin/false", "--binary", "missing")
    assert done.returncode == 1 and b"missing: No such file or directory" in done.stderr, done.stderr


NODES = [("h1", "RUNNING"), ("h2", "RUNNING"), ("h1", "RUNNING"), ("h3", "LOST")]


@contextlib.contextmanager
def resource_manager(answer):
    """Its address, and the paths that were asked for."""
    paths = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802  the base class wants this name
            paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", paths
        finally:
            server.shutdown()
            thread.join()


def test_the_nodes_of_yarn(hosts, tmp_path):
    for host in ("h1", "h2"):
        hosts.add(host, 20)
    answer = {"nodes": {"node": [{"id": f"{host}:1234", "nodeHostName": host, "state": state} for host, state in NODES]}}
    with resource_manager(json.dumps(answer).encode()) as (address, paths):
        words = hosts.words("")
        words[1:3] = ["--yarn", address]
        done = hosts.sparkflame(*words, env=hosts.environment)
    assert done.returncode == 0, done.stderr
    assert paths == ["/ws/v1/cluster/nodes?states=RUNNING"]
    assert {stack[0] for stack, _ in read_folded(tmp_path / "out.folded")} == {"host h1", "host h2"}


@pytest.mark.parametrize("answer, message", [
    (b'{"nodes":null}', b"no node runs"),
    (b"<html>", b"--yarn http://127.0.0.1:"),
    (b'{"nodes":{"node":[{"nodeHostName":"-oProxyCommand=id","state":"RUNNING"}]}}', b'"-oProxyCommand=id" is not a host name'),
    (b'{"nodes":{"node":[{"nodeHostName":"root@h1","state":"RUNNING"}]}}', b"a node's name has a user"),
])
def test_other_answers_of_yarn(sparkflame, answer, message):
    with resource_manager(answer) as (address, _):
        done = sparkflame("record", "--yarn", address, "--ssh", "/bin/false", "-d", "1", "-f", "out.folded")
    assert done.returncode == 1 and message in done.stderr, done.stderr


# ---- real servers ----

def free_port(address):
    with socket.socket() as listener:
        listener.bind((address, 0))
        return listener.getsockname()[1]


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True, stdin=subprocess.DEVNULL)
    return path.with_name(f"{path.name}.pub").read_text().strip()


def listens(address, port):
    with contextlib.suppress(OSError), socket.create_connection((address, port), 5):
        return True
    return False


@pytest.fixture
def servers(tmp_path):
    """Start an sshd on each of these addresses, with keys of their own: servers([address…]) gives the ssh command."""
    if SSHD is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("no sshd or no ssh (Debian: apt install openssh-server openssh-client)")
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    (folder / "authorized_keys").write_text(make_key(folder / "user_key") + "\n")
    host_key = make_key(folder / "host_key")
    if os.geteuid() == 0:
        pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with contextlib.ExitStack() as stack:
        def start(addresses):
            port = free_port(addresses[0])
            (folder / "known_hosts").write_text("".join(f"[{address}]:{port} {host_key}\n" for address in addresses))
            (folder / "ssh_config").write_text(
                f"Host *\nPort {port}\nUser {pwd.getpwuid(os.geteuid()).pw_name}\nIdentityFile {folder}/user_key\nIdentitiesOnly yes\n"
                f"UserKnownHostsFile {folder}/known_hosts\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n")
            for address in addresses:
                config = folder / f"sshd_{address}"
                config.write_text(
                    f"ListenAddress {address}:{port}\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\nPidFile none\n"
                    f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
                    f"SetEnv TMPDIR={folder}\n")
                server = stack.enter_context(started(SSHD, "-D", "-e", "-f", config, stderr=subprocess.DEVNULL))
                wait_until(lambda address=address, server=server: server.poll() is not None or listens(address, port))
                assert server.poll() is None, f"sshd -f {config} ends"
            ssh = f"ssh -F {folder}/ssh_config"
            login = subprocess.run([*ssh.split(), addresses[0], "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                   timeout=LIMIT_SECONDS, check=False)
            if login.returncode != 0:
                pytest.skip(f"nobody can log in as this user: {login.stderr.strip()}")
            return ssh
        yield start


def test_real_ssh(sparkflame, servers, work, tmp_path):  # noqa: F811
    """Three hosts, one that nobody answers for, and one with another key than the known one."""
    addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    ssh = servers([*addresses, "127.0.0.5"])
    known = tmp_path / "ssh" / "known_hosts"
    known.write_text("".join(line + "\n" for line in known.read_text().splitlines() if "127.0.0.5" not in line))
    with started(work, "shares", "600000"):
        done = sparkflame("record", "--hosts", ",".join([*addresses, "127.0.0.5", "127.0.0.6"]), "--ssh", ssh, "-d", "2", "-f", "out.pb.gz")
    skip_if_forbidden(done)
    said = done.stderr.decode()
    assert done.returncode == 1, said
    assert re.search(r"host 127\.0\.0\.6 failed: .*Connection refused", said), said
    assert re.search(r"host 127\.0\.0\.5 failed: .*Host key verification failed", said), said
    assert "2 of 5 hosts failed" in said and "outliers are not reported" in said, said
    assert all(re.search(rf"host {address}: \d+ samples of native code", said) for address in addresses), said
    done = sparkflame("convert", "-q", "-f", "folded", "-o", "out.folded", "out.pb.gz")
    assert done.returncode == 0, done.stderr
    stacks = read_folded(tmp_path / "out.folded")
    assert {stack[0] for stack, _ in stacks} == {f"host {address}" for address in addresses}
    for address in addresses:
        of_host = [(stack, count) for stack, count in stacks if stack[0] == f"host {address}"]
        assert count_of(of_host, "work_until") > 0, of_host
        assert any(re.fullmatch(r"process \d+: native_work", stack[1]) for stack, _ in of_host), of_host
    assert [path.name for path in (tmp_path / "ssh").glob("sparkflame.*")] == []
