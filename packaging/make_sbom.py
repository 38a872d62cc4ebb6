"""The bill of materials (CycloneDX) and the notices of what the static command has inside."""

import hashlib
import json
import os
import pathlib
import subprocess
import uuid

from contents import LICENSE, NAME, SUMMARY, VERSION, calendar_date

# The libraries whose archives meson.build links into sparkflame-static: Debian's package, its SPDX license.
LIBRARIES = {
    "glibc": ("libc6-dev", "LGPL-2.1-or-later"),
    "libdeflate": ("libdeflate-dev", "MIT"),
    "lz4": ("liblz4-dev", "BSD-2-Clause"),
    "pcre2": ("libpcre2-dev", "BSD-3-Clause"),
    "zlib": ("zlib1g-dev", "Zlib"),
    "zstd": ("libzstd-dev", "BSD-3-Clause"),
}
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:sparkflame")


def installed_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise OSError(f"{package} is not installed: {done.stderr.strip()}")
    return done.stdout


def library_component(name, package, license_id):
    version = installed_version(package)
    purl = f"pkg:deb/debian/{package}@{version.replace(':', '%3A').replace('+', '%2B')}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "licenses": [{"license": {"id": license_id}}]}


def file_component(name, data, description):
    digest = hashlib.sha256(data).hexdigest()
    return {"type": "file", "bom-ref": name, "name": name, "version": VERSION, "description": description,
            "hashes": [{"alg": "SHA-256", "content": digest}]}


def bill(build):
    """As bytes; the same for the same files."""
    libraries = [library_component(name, *about) for name, about in LIBRARIES.items()]
    files = [file_component("sparkflame", build.command, "the command, dynamically linked (.deb)"),
             file_component("sparkflame-static", build.static_command, "the command, statically linked (tarball, wheel)"),
             file_component("libsparkflame.so", build.agent, "the agent for JVMs"),
             file_component("sparkflame-plugin.jar", build.plugin, "the Spark plugin, with the agent inside"),
             file_component("pyspark_profilers.zip", build.profilers, "profilers for PySpark")]
    root = f"pkg:generic/{NAME}@{VERSION}"
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": calendar_date(),
                     "component": {"type": "application", "bom-ref": root, "name": NAME, "version": VERSION, "description": SUMMARY,
                                   "purl": root, "licenses": [{"license": {"id": LICENSE}}],
                                   "properties": [{"name": "architecture", "value": os.uname().machine}]}},
        "components": [*files, *libraries],
        "dependencies": [{"ref": root, "dependsOn": [file["bom-ref"] for file in files]},
                         {"ref": "sparkflame-static", "dependsOn": [library["bom-ref"] for library in libraries]},
                         {"ref": "sparkflame-plugin.jar", "dependsOn": ["libsparkflame.so"]}]}
    text = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(NAMESPACE, text)}"
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def notices():
    """The licenses of those libraries, as Debian has them."""
    parts = ["sparkflame-static contains the libraries below. libsparkflame.so and sparkflame-plugin.jar contain none.\n"]
    for name, (package, license_id) in LIBRARIES.items():
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_text()
        parts.append(f"\n{'=' * 79}\n{name} {installed_version(package)} ({license_id})\n{'=' * 79}\n\n{text}")
    return "".join(parts).encode()
