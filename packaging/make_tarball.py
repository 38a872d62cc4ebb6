"""A tarball for /opt and other places: the static command, the agent, the plugin."""

import os

from contents import DATA, NAME, PROGRAM, ROOT, VERSION, File, tar_gz_bytes


def make(build, notices, bill, out):
    top = f"{NAME}-{VERSION}-linux-{os.uname().machine}"
    files = [File("bin/sparkflame", build.static_command, PROGRAM),
             # A library is loaded, not run; some tools expect it to be executable nevertheless.
             File(f"lib/{NAME}/libsparkflame.so", build.agent, DATA),
             *build.shared_files(),
             File(f"share/doc/{NAME}/LICENSE", (ROOT / "LICENSE").read_bytes()),
             File(f"share/doc/{NAME}/INSTALL.md", (ROOT / "docs" / "INSTALL.md").read_bytes()),
             File(f"share/doc/{NAME}/THIRD_PARTY_NOTICES", notices),
             File(f"share/doc/{NAME}/{NAME}.cdx.json", bill)]
    path = out / f"{top}.tar.gz"
    path.write_bytes(tar_gz_bytes(top, files))
    return path
