#!/usr/bin/env python3
"""Make the sample files of tests/data/otlp: make_otlp_samples.py FOLDER. They are kept, so that tests need no Python."""

import gzip
import pathlib
import sys

from otlp_message import host_message, service_message


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "service.otlp").write_bytes(service_message().bytes())
    (folder / "host.otlp.gz").write_bytes(gzip.compress(host_message().bytes(), mtime=0))


if __name__ == "__main__":
    main()
