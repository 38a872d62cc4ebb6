#!/usr/bin/env python3
"""cross_aarch64.py FOLDER: what Meson needs to build for Linux on aarch64, in FOLDER: `sysroot` with Debian's libraries for
arm64, and `cross.ini`.

The packages come from the servers that apt knows, with lists of their own, so the system's apt does not change. What is
there is not fetched again."""

import os
import pathlib
import subprocess
import sys

DEVELOPMENT = ["zlib1g-dev", "libzstd-dev", "liblz4-dev", "libdeflate-dev", "libisal-dev", "libpcre2-dev",
               "libmicrohttpd-dev", "libsqlite3-dev", "libgnutls28-dev", "nettle-dev", "libtasn1-6-dev", "libidn2-dev",
               "libp11-kit-dev"]
RUNTIME = ["zlib1g", "libzstd1", "liblz4-1", "libdeflate0", "libisal2", "libpcre2-8-0"]
TRIPLET = "aarch64-linux-gnu"
ATTEMPTS = 3


def run(command, **options):
    """Up to three times: the network."""
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
        if done.returncode == 0:
            return done.stdout
    raise OSError(f"{command[0]} {command[1]}: {done.stderr.strip()}")


def fetch_packages(names, folder, root):
    """Debian's packages for arm64, unpacked below root; those that are there are left alone."""
    stamps = folder / "unpacked"
    missing = [name for name in names if not (stamps / name).exists()]
    if not missing:
        return
    state = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial", "packages"):
        (state / part).mkdir(parents=True, exist_ok=True)
    stamps.mkdir(parents=True, exist_ok=True)
    root.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    (state / "options").write_text('APT::Architecture "arm64";\nAPT::Architectures { "arm64"; };\n'
                                   f'Dir::State "{state}";\nDir::State::status "{state}/status";\nDir::Cache "{state}/cache";\n'
                                   'APT::Sandbox::User "root";\n', encoding="utf-8")
    environment = {**os.environ, "APT_CONFIG": str(state / "options")}
    run(["apt-get", "update", "-q"], env=environment)
    run(["apt-get", "download", "-q", *missing], env=environment, cwd=state / "packages")
    for name in missing:
        [package] = (state / "packages").glob(f"{name}_*.deb")
        run(["dpkg-deb", "-x", str(package), str(root)])
        package.unlink()
        (stamps / name).touch()


def write_cross_file(path, sysroot):
    libraries = sysroot / "usr" / "lib" / TRIPLET
    path.write_text(f"""[binaries]
c = '{TRIPLET}-gcc'
ar = '{TRIPLET}-ar'
strip = '{TRIPLET}-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-{TRIPLET.split("-", maxsplit=1)[0]}-static', '-L', '/usr/{TRIPLET}', '-E', 'LD_LIBRARY_PATH={libraries}']

[built-in options]
c_args = ['-isystem', '{sysroot}/usr/include', '-isystem', '{sysroot}/usr/include/{TRIPLET}']
c_link_args = ['-L{libraries}', '-Wl,-rpath-link,{libraries}']

[properties]
sys_root = '{sysroot}'
pkg_config_libdir = '{libraries}/pkgconfig'
library_folders = ['{libraries}']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
""", encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    sysroot = folder / "sysroot"
    try:
        fetch_packages(DEVELOPMENT + RUNTIME, folder, sysroot)
    except OSError as error:
        sys.exit(f"cross_aarch64.py: {error}")
    write_cross_file(folder / "cross.ini", sysroot)


if __name__ == "__main__":
    main()
