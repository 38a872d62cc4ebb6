#!/usr/bin/env python3
"""Make the sample files of tests/data/pprof: make_pprof_samples.py FOLDER. They are kept, so that tests need no Python."""

import gzip
import pathlib
import sys


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class Profile:
    """Collects the messages; strings are numbered at first use."""

    def __init__(self):
        self.strings = [""]
        self.body = b""

    def string(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def value_type(self, kind, unit):
        return number(1, self.string(kind)) + number(2, self.string(unit))

    def sample(self, locations, values, labels=(), packed=True):
        message = b""
        if packed:
            message += data(1, b"".join(map(varint, locations))) + data(2, b"".join(map(varint, values)))
        else:
            message += b"".join(number(1, each) for each in locations) + b"".join(number(2, each) for each in values)
        for key, value in labels:
            label = number(1, self.string(key))
            label += number(2, self.string(value)) if isinstance(value, str) else number(3, value)
            message += data(3, label)
        self.body += data(2, message)

    def function(self, identity, name, file=""):
        self.body += data(5, number(1, identity) + number(2, self.string(name)) + number(4, self.string(file)))

    def location(self, identity, lines, address=0, mapping=0):
        message = number(1, identity) + number(2, mapping) + number(3, address)
        for function, line in lines:
            message += data(4, number(1, function) + number(2, line))
        self.body += data(4, message)

    def finished(self):
        return self.body + b"".join(data(6, text.encode()) for text in self.strings)


def heap():
    """Four sample types, inlined calls, an address without a name, numeric labels."""
    profile = Profile()
    for kind in ("alloc", "inuse"):
        profile.body += data(1, profile.value_type(kind + "_objects", "count"))
        profile.body += data(1, profile.value_type(kind + "_space", "bytes"))
    profile.sample([3, 2, 1], [4, 4096, 1, 1024], [("bytes", 1024)])
    profile.sample([2, 1], [2, 64, 0, 0], packed=False)
    profile.sample([4, 1], [1, 16, 1, 16])
    profile.function(1, "main.main", "/src/main.go")
    profile.function(2, "main.fill", "/src/fill.go")
    profile.function(9, "bytes.Repeat", "/usr/lib/go/bytes.go")
    profile.location(1, [(1, 12)])
    profile.location(2, [(2, 7)])
    profile.location(3, [(9, 554), (2, 9)])
    profile.location(4, [], address=0x4A0F10)
    profile.body += number(9, 1700000000000000000) + number(10, 5000000000)
    profile.body += number(14, profile.string("inuse_space"))
    return profile.finished()


def cpu():
    """Labels, a kernel mapping, tables before the samples."""
    profile = Profile()
    profile.body += data(3, number(1, 1) + number(5, profile.string("[kernel.kallsyms]")))
    profile.function(1, "demo/Job.main", "Job.java")
    profile.function(2, "vfs_read")
    profile.location(1, [(1, 3)])
    profile.location(2, [(2, 0)], mapping=1)
    profile.body += data(1, profile.value_type("samples", "count")) + data(1, profile.value_type("cpu", "milliseconds"))
    labels = [("stage", "3"), ("task", 17), ("thread_state", "running"), ("colour", "red")]
    profile.sample([2, 1], [5, 50], labels)
    profile.sample([1], [1, 10], [("task", 0)])
    profile.body += data(11, profile.value_type("cpu", "nanoseconds")) + number(12, 10000000)
    return profile.finished()


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "heap.pb.gz").write_bytes(gzip.compress(heap(), mtime=0))
    (folder / "cpu.pb").write_bytes(cpu())


if __name__ == "__main__":
    main()
