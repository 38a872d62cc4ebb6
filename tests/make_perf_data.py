#!/usr/bin/env python3
"""Make the sample files of tests/data/perf_data: make_perf_data.py FOLDER. Of the files that they name none exists, so frames have the names
of files; generated code and the kernel are unknown, too."""

import pathlib
import struct
import sys

CPU_CLOCK, CONTEXT_SWITCHES = (1, 0), (1, 3)
IP, TID, TIME, READ, CALLCHAIN, ID, PERIOD, IDENTIFIER = 1, 2, 4, 16, 32, 64, 256, 1 << 16
RAW, BRANCH_STACK, REGS_USER, STACK_USER = 1 << 10, 1 << 11, 1 << 12, 1 << 13
X86_REGISTERS = 0xFF0FFF  # as perf asks for them; 6, 7 and 8 are the frame pointer, the stack pointer and the program counter
MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST = 1, 3, 4, 7, 9, 10, 2
ATTR, FINISHED_ROUND, AUXTRACE, COMPRESSED = 64, 68, 71, 81
KERNEL_MARK, USER_MARK = 2 ** 64 - 128, 2 ** 64 - 512
KERNEL, USER, COMM_EXEC = 1, 2, 1 << 13
WORK, LIBRARY, GENERATED = 0x400000, 0x7F0000000000, 0x7F1000000000
ATTR_BYTES = 128
FREQUENCY, SAMPLE_ID_ALL = 1 << 10, 1 << 18


def record(kind, body, misc=0):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def attributes(event, sample_type, period, flags=SAMPLE_ID_ALL):
    start = struct.pack("<IIQQQQQ", event[0], ATTR_BYTES, event[1], period, sample_type, 0, flags)
    if sample_type & STACK_USER:
        start += struct.pack("<IIQQQQI", 0, 0, 0, 0, 0, X86_REGISTERS, 64)
    return start + b"\0" * (ATTR_BYTES - len(start))


class Recording:
    """Records of two processes. Each event has an id, which is in front of samples and at the end of other records."""

    TYPE = IDENTIFIER | IP | TID | TIME | CALLCHAIN | PERIOD
    EVENTS = [(CPU_CLOCK, 11), (CONTEXT_SWITCHES, 12)]

    def __init__(self):
        self.records = []

    def tail(self, pid, tid, time):
        return struct.pack("<IIQQ", pid, tid, time, 11)

    def comm(self, pid, tid, name, time, misc=0):
        text = name.encode() + b"\0" * (8 - len(name) % 8)
        self.records.append(record(COMM, struct.pack("<II", pid, tid) + text + self.tail(pid, tid, time), misc))

    def mapping(self, pid, start, size, path, time, kind=MMAP2, offset=0, misc=USER):
        name = path.encode() + b"\0" * (8 - len(path) % 8)
        more = struct.pack("<IIQQII", 8, 1, 4711, 0, 5, 2) if kind == MMAP2 else b""
        start = struct.pack("<IIQQQ", pid, pid & 0xFFFFFFFF, start, size, offset)
        self.records.append(record(kind, start + more + name + self.tail(pid, pid, time), misc))

    def task(self, kind, pid, parent, tid, parent_tid, time):
        self.records.append(record(kind, struct.pack("<IIIIQ", pid, parent, tid, parent_tid, time) + self.tail(pid, tid, time)))

    def sample(self, pid, tid, time, chain, period, event=11):
        body = struct.pack("<QQIIQQQ", event, chain[0], pid, tid, time, period, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain)
        self.records.append(record(SAMPLE, body, KERNEL if chain[0] == KERNEL_MARK else USER))

    def lost(self, count, time):
        self.records.append(record(LOST, struct.pack("<QQ", 11, count) + self.tail(0, 0, time)))


class RecordingOfStacks(Recording):
    """Samples have registers and a copy of the stack, behind fields that are skipped."""

    TYPE = Recording.TYPE | RAW | BRANCH_STACK | REGS_USER | STACK_USER
    EVENTS = [(CPU_CLOCK, 11)]

    def stack_sample(self, time, chain, pc, frame_pointers, copied=None):
        """Frames with frame pointers: [(address, return address)], each 32 bytes large."""
        sp = 0x7FFF00001000
        stack = b"".join(struct.pack("<QQQQ", sp + 32 * (i + 1) if i + 1 < len(frame_pointers) else 0, back, 0, 0)
                         for i, back in enumerate(frame_pointers))
        registers = [0] * 20
        registers[6], registers[7], registers[8] = sp, sp, pc
        body = struct.pack("<QQIIQQQ", 11, pc, 100, 100, time, 1000, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain)
        body += struct.pack("<I4x8x", 12) + struct.pack("<Q3Q", 1, 1, 2, 3)
        body += struct.pack("<Q", 2) + struct.pack("<20Q", *registers)
        body += struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack) if copied is None else copied)
        self.records.append(record(SAMPLE, body, KERNEL if chain else USER))


def make_stack_records():
    made = RecordingOfStacks()
    made.comm(100, 100, "first", 0)
    made.mapping(100, WORK, 0x10000, "/nowhere/first", 0)
    made.mapping(100, LIBRARY, 0x10000, "/nowhere/lib.so", 0)
    made.stack_sample(1000, [], LIBRARY + 0x10, [WORK + 0x20, WORK + 0x30, 0])
    made.stack_sample(2000, [KERNEL_MARK, 0xFFFFFFFF81000010], LIBRARY + 0x10, [WORK + 0x20, 0])
    made.stack_sample(3000, [], LIBRARY + 0x10, [WORK + 0x20, WORK + 0x30, 0], copied=16)
    return made


def make_records():
    """In the order of a file: not that of time. Process 100 forks 200, which executes another program."""
    made = Recording()
    made.mapping(0xFFFFFFFF, 0xFFFFFFFF81000000, 0x1000000, "[kernel.kallsyms]_text", 0, MMAP, 0xFFFFFFFF81000000, KERNEL)
    made.comm(100, 100, "first", 0)
    made.mapping(100, WORK, 0x10000, "/nowhere/first", 0)
    made.mapping(100, LIBRARY, 0x10000, "/nowhere/lib.so", 0)
    made.mapping(100, GENERATED, 0x1000, "//anon", 0)
    user = [USER_MARK, LIBRARY + 0x10, WORK + 0x20]
    made.sample(100, 100, 5000, user, 1000)
    made.sample(100, 100, 1000, user, 1000)
    made.sample(100, 100, 2000, [KERNEL_MARK, 0xFFFFFFFF81000010, 0xFFFFFFFF81000020, *user], 2000)
    made.sample(200, 200, 4000, [USER_MARK, WORK + 0x30], 700)
    made.task(FORK, 200, 100, 200, 100, 2500)
    made.sample(200, 200, 3000, [USER_MARK, GENERATED + 8, WORK + 0x20], 500)
    made.comm(200, 200, "second one", 3500, COMM_EXEC)
    made.mapping(200, WORK, 0x10000, "/nowhere/second", 3600)
    made.comm(100, 101, "a;thread", 5500)
    made.sample(100, 101, 6000, user, 3, 12)
    made.sample(300, 300, 6500, [USER_MARK, WORK], 900)
    made.task(EXIT, 200, 100, 200, 100, 7000)
    made.lost(7, 8000)
    return made


def string(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 64)
    return struct.pack("<I", len(data)) + data


def event_names(made):
    out = struct.pack("<II", len(made.EVENTS), ATTR_BYTES)
    for (event, number), name in zip(made.EVENTS, ["cpu-clock:u", "context-switches"]):
        out += attributes(event, made.TYPE, 1) + struct.pack("<I", 1) + string(name) + struct.pack("<Q", number)
    return out


def as_file(made, data, more=()):
    """Header, ids, attributes, data, and of the features the kernel's release and the names of the events."""
    ids = b"".join(struct.pack("<Q", number) for _, number in made.EVENTS)
    entry = ATTR_BYTES + 16
    attributes_at = 104 + len(ids)
    data_at = attributes_at + entry * len(made.EVENTS)
    entries = b"".join(attributes(event, made.TYPE, 1) + struct.pack("<QQ", 104 + 8 * i, 8) for i, (event, _) in enumerate(made.EVENTS))
    features = dict(sorted({4: string("0.0.0-none"), 12: event_names(made), **dict(more)}.items()))
    bits = [sum(1 << number for number in features), 0, 0, 0]
    at = data_at + len(data) + 16 * len(features)
    table = b""
    for content in features.values():
        table += struct.pack("<QQ", at, len(content))
        at += len(content)
    header = b"PERFILE2" + struct.pack("<12Q", 104, entry, attributes_at, len(entries), data_at, len(data), 0, 0, *bits)
    return header + ids + entries + data + table + b"".join(features.values())


def as_pipe(made, data):
    events = b"".join(record(ATTR, attributes(event, made.TYPE, 1) + struct.pack("<Q", number)) for event, number in made.EVENTS)
    return b"PERFILE2" + struct.pack("<Q", 16) + events + data


def frame_of_zstd(data):
    """One frame of uncompressed blocks, without a size: what a stream looks like."""
    out = struct.pack("<IBB", 0xFD2FB528, 0, 0x58)
    blocks = [data[at:at + 500] for at in range(0, len(data), 500)]
    for number, block in enumerate(blocks):
        head = len(block) << 3 | (number == len(blocks) - 1)
        out += struct.pack("<I", head)[:3] + block
    return out


def compressed(data):
    """Pieces of a stream, in the middle of its records."""
    packed = frame_of_zstd(data)
    return b"".join(record_of_any_size(packed[at:at + 700]) + record(FINISHED_ROUND, b"") for at in range(0, len(packed), 700))


def record_of_any_size(body):
    return struct.pack("<IHH", COMPRESSED, 0, 8 + len(body)) + body


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = make_records()
    data = b"".join(made.records[:8]) + record(FINISHED_ROUND, b"") + b"".join(made.records[8:])
    trace = record(AUXTRACE, struct.pack("<QQQIII", 24, 0, 0, 0, 0, 0)) + b"\x09" * 24
    (folder / "file.data").write_bytes(as_file(made, data))
    (folder / "pipe.data").write_bytes(as_pipe(made, trace + data))
    stacks = make_stack_records()
    (folder / "stacks.data").write_bytes(as_file(stacks, b"".join(stacks.records), {6: string("x86_64")}))
    (folder / "stacks_aarch64.data").write_bytes(as_file(stacks, b"".join(stacks.records), {6: string("aarch64")}))
    (folder / "compressed.data").write_bytes(as_file(made, compressed(b"".join(made.records))))


if __name__ == "__main__":
    main()
