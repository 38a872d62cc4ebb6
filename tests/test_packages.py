"""Each package is made, installed and used."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree
import zipfile

import pytest

import jvm
import packages
from packages import VERSION, one, run

CLEAN = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(scope="module")
def made(binary, tmp_path_factory):
    return packages.make(binary.parent, tmp_path_factory.mktemp("made") / "packages")


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_build_gives_the_same_bytes(made, binary, tmp_path):
    """Whatever the time zone, the language and the mode of new files."""
    others = {**os.environ, "SOURCE_DATE_EPOCH": packages.EPOCH, "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    again = tree(packages.make(binary.parent, tmp_path / "again", env=others, umask=0o077))
    first = tree(made)
    assert sorted(again) == sorted(first)
    assert [name for name in first if first[name] != again[name]] == []


def test_sums_are_right_and_complete(made):
    run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=made)
    listed = {line.split("  ")[1] for line in (made / "SHA256SUMS").read_text().splitlines()}
    digests = re.compile(r"\.(md5|sha1|sha256)$")
    assert listed == {name for name in tree(made) if not digests.search(name)} - {"SHA256SUMS"}


def test_what_is_missing_is_named_and_nothing_is_replaced(made, tmp_path):
    (tmp_path / "empty").mkdir()
    out = shutil.copytree(made, tmp_path / "out")
    done = run(sys.executable, packages.MAKE, tmp_path / "empty", out, check=False)
    assert done.returncode == 1 and "sparkflame is missing" in done.stderr and "Traceback" not in done.stderr
    assert tree(out) == tree(made)


def test_a_folder_of_other_files_is_not_replaced(made, binary, tmp_path):
    (tmp_path / "letter").write_text("dear")
    done = run(sys.executable, packages.MAKE, binary.parent, tmp_path, check=False)
    assert done.returncode == 1 and "not replaced" in done.stderr
    assert (tmp_path / "letter").read_text() == "dear"


@contextlib.contextmanager
def a_jvm(folder):
    classes = jvm.compile_classes(folder, "Waits")
    program = subprocess.Popen([jvm.system_home() / "bin" / "java", "-cp", str(classes), "Waits", "600000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        yield program.pid
    finally:
        program.kill()
        program.communicate()


def check_command(program, folder):
    """It has its version, and finds its agent, which records a JVM."""
    assert run(program, "version", env=CLEAN).stdout.startswith(f"sparkflame {VERSION}")
    with a_jvm(folder) as pid:
        run(program, "record", "-d", "1", "-f", folder / "out.jfr", pid, env=CLEAN)
    assert (folder / "out.jfr").read_bytes().startswith(b"FLR\0")


def test_wheel(made, tmp_path):
    venv = packages.install_wheel(made, tmp_path / "venv")
    check_command(venv / "bin" / "sparkflame", tmp_path)
    python = venv / "bin" / "python3"
    text = run(python, "-c", "import sparkflame as s; print(s.__version__, s.plugin_jar(), s.pyspark_profilers_zip(), s.command(), "
               "s.agent_library(), sep='\\n')", env=CLEAN, cwd=tmp_path).stdout.split("\n")
    assert text[0] == VERSION
    jar, profilers, command, library = map(pathlib.Path, text[1:5])
    assert "org/sparkflame/SparkflamePlugin.class" in zipfile.ZipFile(jar).namelist()
    assert "pyspark_profilers/__init__.py" in zipfile.ZipFile(profilers).namelist()
    assert command == venv / "bin" / "sparkflame" and library.is_relative_to(venv)
    assert run(python, "-m", "sparkflame", "version", env=CLEAN).stdout.startswith(f"sparkflame {VERSION}")
    assert "flame" in (venv / "share" / "bash-completion" / "completions" / "sparkflame.bash").read_text()
    run(sys.executable, "-m", "pip", "--python", python, "uninstall", "-q", "-y", "sparkflame")
    assert [path for path in venv.rglob("*") if "sparkflame" in path.name and path.is_file()] == []


def test_wheel_where_spark_has_started(made, tmp_path):
    """The job goes on, and the user learns what to do."""
    venv = packages.install_wheel(made, tmp_path / "venv")
    fake = tmp_path / "pyspark"
    fake.mkdir()
    (fake / "__init__.py").write_text("class SparkContext:\n    _gateway = _active_spark_context = None\n")
    code = "import sparkflame; print(sparkflame.configure('builder'))"
    done = run(venv / "bin" / "python3", "-c", code, cwd=tmp_path, env={**CLEAN, "PYSPARK_GATEWAY_PORT": "1"})
    assert done.stdout == "builder\n" and "RuntimeWarning" in done.stderr and "--jars" in done.stderr
    (fake / "__init__.py").unlink()
    done = run(venv / "bin" / "python3", "-c", code, cwd=tmp_path, env=CLEAN)
    assert done.stdout == "builder\n" and "PySpark is not installed" in done.stderr


def test_tarball(made, tmp_path):
    run("tar", "-C", tmp_path, "-xzf", one(made, "*.tar.gz"))
    top = one(tmp_path, f"sparkflame-{VERSION}-linux-*")
    assert "NEEDED" not in run("readelf", "-d", top / "bin" / "sparkflame").stdout
    check_command(top / "bin" / "sparkflame", tmp_path)
    notices = (top / "share" / "doc" / "sparkflame" / "THIRD_PARTY_NOTICES").read_text()
    assert all(f"\n{name} " in notices for name in ("glibc", "pcre2", "zlib", "zstd", "lz4", "libdeflate"))


def dpkg(root, *arguments):
    """In a root of its own that has this machine's packages: dependencies are checked, nothing of the machine changes."""
    return run("dpkg", f"--root={root}", "--force-not-root", f"--log={root}/log", *arguments,
               env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})


@pytest.fixture
def root(tmp_path):
    admin = tmp_path / "root" / "var" / "lib" / "dpkg"
    for name in ("info", "updates", "triggers"):
        (admin / name).mkdir(parents=True)
    shutil.copyfile("/var/lib/dpkg/status", admin / "status")
    return tmp_path / "root"


def served_by_unit(root):
    """What systemd would run, on any port."""
    unit = (root / "usr/lib/systemd/system/sparkflame-collector.service").read_text()
    options = re.search(r'^OPTIONS="(.*)"$', (root / "etc/default/sparkflame-collector").read_text(), re.MULTILINE)[1]
    words = shlex.split(re.search("^ExecStart=(.*)$", unit, re.MULTILINE)[1].replace("$OPTIONS", options))
    places = {"/usr/bin/sparkflame": root / "usr/bin/sparkflame", "/var/lib/sparkflame": root / "data",
              "127.0.0.1:4041": "127.0.0.1:0"}
    assert set(places) <= set(words)
    return [str(places.get(word, word)) for word in words]


def test_deb(made, root, tmp_path):
    dpkg(root, "--install", one(made, "*.deb"))
    assert dpkg(root, "--verify", "sparkflame").stdout == ""
    check_command(root / "usr/bin/sparkflame", tmp_path)
    commands = {line.split("\t")[0] for line in run(root / "usr/bin/sparkflame", "__options").stdout.splitlines()}
    pages = {path.name for path in (root / "usr/share/man/man1").iterdir()}
    assert pages == {"sparkflame.1.gz"} | {f"sparkflame-{name}.1.gz" for name in commands}
    with subprocess.Popen(served_by_unit(root), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline().startswith("listening on http://127.0.0.1:")
        finally:
            server.terminate()
    dpkg(root, "--purge", "sparkflame")
    assert [path for path in root.rglob("*") if "sparkflame" in path.name] == []


def test_deb_needs_what_the_command_is_linked_with(made):
    control = run("dpkg-deb", "--info", one(made, "*.deb"), "control").stdout
    names = re.findall(r"[\w.+-]+(?= \(|,|$)", re.search("^ Depends: (.*)$|^Depends: (.*)$", control, re.MULTILINE)[0])
    assert {"libc6", "libpcre2-8-0", "zlib1g", "libzstd1"} <= set(names), control


def test_maven_repository(made):
    folder = made / "maven/org/sparkflame/sparkflame-plugin"
    pom = xml.etree.ElementTree.parse(folder / VERSION / f"sparkflame-plugin-{VERSION}.pom").getroot()
    space = "{http://maven.apache.org/POM/4.0.0}"
    assert [pom.findtext(space + name) for name in ("groupId", "artifactId", "version")] == \
        ["org.sparkflame", "sparkflame-plugin", VERSION]
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix in (".jar", ".pom", ".xml")]
    assert len(files) == 3
    for path in files:
        for algorithm in ("md5", "sha1", "sha256"):
            wanted = hashlib.new(algorithm, path.read_bytes()).hexdigest()
            assert path.with_name(f"{path.name}.{algorithm}").read_text() == wanted


def test_every_package_has_the_version_of_the_build(made, binary):
    with zipfile.ZipFile(binary.parent / "sparkflame-plugin.jar") as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
    assert f"Implementation-Version: {VERSION}" in manifest
    assert run("dpkg-deb", "--field", one(made, "*.deb"), "Version").stdout.strip() == VERSION
    assert run(binary, "version").stdout.startswith(f"sparkflame {VERSION}")


def test_bill_of_materials(made, binary):
    path = one(made, "*.cdx.json")
    bill = json.loads(path.read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", VERSION)
    components = {component["bom-ref"]: component for component in bill["components"]}
    for name in ("sparkflame", "sparkflame-static", "libsparkflame.so", "sparkflame-plugin.jar"):
        wanted = hashlib.sha256((binary.parent / name).read_bytes()).hexdigest()
        assert components[name]["hashes"] == [{"alg": "SHA-256", "content": wanted}]
    # Each archive that the static command is linked with.
    text = (packages.ROOT / "meson.build").read_text()
    linked = re.search(r"foreach name : (\[.*?\])\n    static_library_found", text)[1]
    assert re.findall(r"'([\w-]+)'", linked) == ["z", "zstd", "lz4", "deflate", "pcre2-8", "m"]
    names = {component["name"] for component in bill["components"] if component["type"] == "library"}
    assert names == {"zlib", "zstd", "lz4", "libdeflate", "pcre2", "glibc"}
    for entry in bill["dependencies"]:
        known = {*components, bill["metadata"]["component"]["bom-ref"]}
        assert {entry["ref"], *entry["dependsOn"]} <= known
    with zipfile.ZipFile(one(made, "*.whl")) as wheel:
        assert wheel.read(f"sparkflame-{VERSION}.dist-info/sboms/sparkflame.cdx.json") == path.read_bytes()
