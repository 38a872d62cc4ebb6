"""A Python wheel: the static command, the agent, the plugin, PySpark profilers, and a package that knows where they are."""

import base64
import hashlib
import os

from contents import DESCRIPTION, LICENSE, NAME, PROGRAM, ROOT, SUMMARY, VERSION, File, zip_bytes

PACKAGE = ROOT / "packaging" / "python" / NAME
INFO = f"{NAME}-{VERSION}.dist-info"
INTO_PREFIX = f"{NAME}-{VERSION}.data"
# The command is static, so it runs with any C library; the agent's needs are checked by make_packages.py.
TAG = "py3-none-manylinux2014_{0}.musllinux_1_1_{0}"
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: {SUMMARY}
License: {LICENSE}
License-File: LICENSE
License-File: THIRD_PARTY_NOTICES
Keywords: apache-spark,pyspark,profiler,flame-graph
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: System :: Monitoring
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{DESCRIPTION}
```
sparkflame record --spark APPLICATION -d 30 -f job.html
python3 -c 'import sparkflame; print(sparkflame.plugin_jar())'
```
"""


def wheel_metadata(tag):
    python, abi, platforms = tag.split("-")
    tags = "".join(f"Tag: {python}-{abi}-{platform}\n" for platform in platforms.split("."))
    return f"Wheel-Version: 1.0\nGenerator: {NAME} {VERSION}\nRoot-Is-Purelib: false\n{tags}".encode()


def record(files):
    """The list of the files with their hashes, which is one of them and has none itself."""
    lines = []
    for file in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.data).digest()).rstrip(b"=").decode()
        lines.append(f"{file.name},sha256={digest},{len(file.data)}\n")
    return File(f"{INFO}/RECORD", "".join([*lines, f"{INFO}/RECORD,,\n"]).encode())


def package_files(build):
    """Modules of Python, and what they find beside them."""
    for path in sorted(PACKAGE.glob("*.py")):
        text = path.read_text().replace('"unpackaged"', f'"{VERSION}"')
        yield File(f"{NAME}/{path.name}", text.encode())
    yield File(f"{NAME}/sparkflame-plugin.jar", build.plugin)
    yield File(f"{NAME}/pyspark_profilers.zip", build.profilers)
    for path in sorted((ROOT / "pyspark_profilers").glob("*.py")):
        yield File(f"pyspark_profilers/{path.name}", path.read_bytes())


def prefix_files(build):
    """Where a Python's bin, lib and share are."""
    yield File(f"{INTO_PREFIX}/scripts/sparkflame", build.static_command, PROGRAM)
    yield File(f"{INTO_PREFIX}/data/lib/{NAME}/libsparkflame.so", build.agent)
    for file in build.shared_files():
        if not file.name.startswith(f"share/{NAME}/"):
            yield File(f"{INTO_PREFIX}/data/{file.name}", file.data)


def make(build, notices, bill, out):
    tag = TAG.format(os.uname().machine)
    files = [*package_files(build), *prefix_files(build),
             File(f"{INFO}/METADATA", METADATA.encode()),
             File(f"{INFO}/WHEEL", wheel_metadata(tag)),
             File(f"{INFO}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()),
             File(f"{INFO}/licenses/THIRD_PARTY_NOTICES", notices),
             File(f"{INFO}/sboms/{NAME}.cdx.json", bill)]
    path = out / f"{NAME}-{VERSION}-{tag}.whl"
    path.write_bytes(zip_bytes([*files, record(files)]))
    return path
