"""Write small Flight Recorder files by hand: any types, any field order, any string encoding, and broken ones.

Run as a program it makes the recordings in tests/data/jfr/ anew."""

import pathlib
import struct
import sys


def varint(number):
    """Seven bits a byte, lowest first; a ninth byte holds eight."""
    number &= (1 << 64) - 1
    out = bytearray()
    for _ in range(8):
        if number < 0x80:
            out.append(number)
            return bytes(out)
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def utf8(text):
    if text is None:
        return b"\0"
    data = text.encode() if isinstance(text, str) else text
    return b"\3" + varint(len(data)) + data


def latin1(text):
    return b"\5" + varint(len(text)) + text.encode("latin-1")


def characters(text):
    units = struct.unpack(f"<{len(text.encode('utf-16-le')) // 2}H", text.encode("utf-16-le"))
    return b"\4" + varint(len(units)) + b"".join(map(varint, units))


def pooled(number):
    return b"\2" + varint(number)


def event(type_id, body):
    """Size, type, body; the size counts itself."""
    for width in range(1, 10):
        size = width + len(varint(type_id)) + len(body)
        if len(varint(size)) <= width:
            # Padded to the width that was counted on, as recorders do it.
            digits = [(size >> 7 * i & 0x7f) | (0x80 if i < width - 1 else 0) for i in range(width)]
            return bytes(digits) + varint(type_id) + body
    raise ValueError("too large")


class Metadata:
    """Types by name, numbered from 20 on."""
    PRIMITIVES = ["boolean", "byte", "char", "short", "int", "long", "float", "double", "java.lang.String"]

    def __init__(self, first=20):
        self.types = {}
        self.first = first
        for name in self.PRIMITIVES:
            self.add(name)

    def add(self, name, fields=(), is_event=False):
        """fields: (name, type, flags) with flags of "constant" and "array"."""
        self.types[name] = (self.first + len(self.types), list(fields), is_event)
        return self.types[name][0]

    def id(self, name):
        return self.types[name][0]

    def elements(self):
        classes = []
        for name, (number, fields, is_event) in self.types.items():
            children = []
            for field in fields:
                attributes = [("name", field[0]), ("class", str(self.id(field[1])))]
                if "constant" in field[2:]:
                    attributes.append(("constantPool", "true"))
                if "array" in field[2:]:
                    attributes.append(("dimension", "1"))
                children.append(("field", attributes, []))
            attributes = [("id", str(number)), ("name", name)]
            if is_event:
                attributes.append(("superType", "jdk.jfr.Event"))
            classes.append(("class", attributes, children))
        return ("root", [], [("metadata", [], classes), ("region", [("locale", "en_GB")], [])])

    def encode(self, number=1):
        strings = {}

        def index(text):
            return varint(strings.setdefault(text, len(strings)))

        def element(node):
            name, attributes, children = node
            out = index(name) + varint(len(attributes))
            for key, value in attributes:
                out += index(key) + index(value)
            return out + varint(len(children)) + b"".join(map(element, children))

        tree = element(self.elements())
        table = varint(len(strings)) + b"".join(map(utf8, strings))
        return event(0, varint(0) + varint(0) + varint(number) + table + tree)


def standard_metadata(first=20):
    """The types that JDK and async-profiler share."""
    types = Metadata(first)
    types.add("jdk.types.Symbol", [("string", "java.lang.String")])
    types.add("java.lang.Class", [("classLoader", "long"), ("name", "jdk.types.Symbol", "constant"),
                                  ("package", "long"), ("modifiers", "int")])
    types.add("jdk.types.Method", [("type", "java.lang.Class", "constant"), ("name", "jdk.types.Symbol", "constant"),
                                   ("descriptor", "jdk.types.Symbol", "constant"), ("modifiers", "int"),
                                   ("hidden", "boolean")])
    types.add("jdk.types.FrameType", [("description", "java.lang.String")])
    types.add("jdk.types.StackFrame", [("method", "jdk.types.Method", "constant"), ("lineNumber", "int"),
                                       ("bytecodeIndex", "int"), ("type", "jdk.types.FrameType", "constant")])
    types.add("jdk.types.StackTrace", [("truncated", "boolean"), ("frames", "jdk.types.StackFrame", "array")])
    types.add("java.lang.Thread", [("osName", "java.lang.String"), ("osThreadId", "long"),
                                   ("javaName", "java.lang.String"), ("javaThreadId", "long")])
    types.add("jdk.types.ThreadState", [("name", "java.lang.String")])
    stack = ("stackTrace", "jdk.types.StackTrace", "constant")
    thread = ("eventThread", "java.lang.Thread", "constant")
    types.add("jdk.ExecutionSample", [("startTime", "long"), ("sampledThread", "java.lang.Thread", "constant"), stack,
                                      ("state", "jdk.types.ThreadState", "constant")], True)
    types.add("profiler.WallClockSample", [("startTime", "long"), ("sampledThread", "java.lang.Thread", "constant"),
                                           stack, ("state", "jdk.types.ThreadState", "constant"),
                                           ("samples", "int")], True)
    types.add("jdk.ObjectAllocationInNewTLAB", [("startTime", "long"), thread, stack,
                                                ("objectClass", "java.lang.Class", "constant"),
                                                ("allocationSize", "long"), ("tlabSize", "long")], True)
    types.add("jdk.ObjectAllocationOutsideTLAB", [("startTime", "long"), thread, stack,
                                                  ("objectClass", "java.lang.Class", "constant"),
                                                  ("allocationSize", "long")], True)
    types.add("jdk.ObjectAllocationSample", [("startTime", "long"), thread, stack,
                                             ("objectClass", "java.lang.Class", "constant"),
                                             ("weight", "long")], True)
    types.add("jdk.JavaMonitorEnter", [("startTime", "long"), ("duration", "long"), thread, stack,
                                       ("monitorClass", "java.lang.Class", "constant"),
                                       ("previousOwner", "java.lang.Thread", "constant"), ("address", "long")], True)
    types.add("sparkflame.Labels", [("startTime", "long"), thread, ("labels", "java.lang.String")], True)
    types.add("profiler.Span", [("startTime", "long"), ("duration", "long"), thread,
                                ("tag", "java.lang.String", "constant")], True)
    return types


FRAME_TYPES = ["Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled"]
STATES = {0: "STATE_DEFAULT", 6: "STATE_RUNNABLE", 7: "STATE_SLEEPING"}


class Chunk:
    """Events and constants; bytes() puts them together."""

    def __init__(self, types, start_ns=1_700_000_000_000_000_000, ticks_per_second=1_000_000_000, start_ticks=1000):
        self.types = types
        self.start_ns = start_ns
        self.start_ticks = start_ticks
        self.ticks_per_second = ticks_per_second
        self.events = []
        self.pools = []

    def constants(self, type_name, entries):
        """entries: {number: bytes}"""
        body = b"".join(varint(number) + value for number, value in entries.items())
        self.pools.append(varint(self.types.id(type_name)) + varint(len(entries)) + body)

    def standard_constants(self, symbols, classes, methods, threads, frame_types=FRAME_TYPES, states=None):
        """symbols: texts by number; classes: symbol of each; methods: (class, symbol); threads: (name, number)."""
        self.constants("jdk.types.FrameType", {i: utf8(text) for i, text in enumerate(frame_types)})
        states = STATES if states is None else states
        self.constants("jdk.types.ThreadState", {i: utf8(text) for i, text in states.items()})
        self.constants("jdk.types.Symbol", {i: text if isinstance(text, bytes) else utf8(text)
                                            for i, text in symbols.items()})
        self.constants("java.lang.Class", {i: b"\0" + varint(symbol) + b"\0\1" for i, symbol in classes.items()})
        self.constants("jdk.types.Method", {i: varint(owner) + varint(name) + b"\0\1\0"
                                            for i, (owner, name) in methods.items()})
        self.constants("java.lang.Thread", {i: utf8(name) + varint(i) + utf8(name) + varint(number)
                                            for i, (name, number) in threads.items()})

    def stacks(self, entries):
        """{number: [(method, line, type), …]}, innermost first."""
        self.constants("jdk.types.StackTrace", {
            number: b"\0" + varint(len(frames)) + b"".join(varint(m) + varint(line) + b"\0" + varint(kind)
                                                           for m, line, kind in frames)
            for number, frames in entries.items()})

    def add(self, type_name, *values):
        """Integers become compressed integers, bytes stay."""
        body = b"".join(value if isinstance(value, bytes) else varint(value) for value in values)
        self.events.append(event(self.types.id(type_name), body))

    def bytes(self, finished=True, split_pools=False, metadata_first=True, version=(2, 1), flags=1):
        header_size = 68
        metadata = self.types.encode()
        out = metadata if metadata_first else b""
        out += b"".join(self.events)
        pool_offset = 0
        groups = [[pool] for pool in self.pools] if split_pools else [self.pools]
        for group in groups:
            position = header_size + len(out)
            delta = pool_offset - position if pool_offset else 0
            out += event(1, varint(0) + varint(0) + varint(delta) + b"\0" + varint(len(group)) + b"".join(group))
            pool_offset = position
        metadata_offset = header_size if metadata_first else header_size + len(out)
        out += b"" if metadata_first else metadata
        size = header_size + len(out)
        if not finished:
            size = pool_offset = metadata_offset = 0
        header = b"FLR\0" + struct.pack(">HHqqqqqqq", *version, size, pool_offset, metadata_offset, self.start_ns,
                                        1_000_000_000, self.start_ticks, self.ticks_per_second)
        return header + bytes([0, 0, 0, flags]) + out


def small_chunk(types=None, **keywords):
    """What async-profiler writes: CPU, wall clock, allocation and lock samples of two threads."""
    chunk = Chunk(types or standard_metadata(), **keywords)
    chunk.standard_constants(
        symbols={1: "java/lang/Thread", 2: "run", 3: "org/example/Job", 4: latin1("größe"), 5: characters("\u0436"),
                 6: "libc.so.6", 7: "read", 8: "vfs_read", 9: "", 10: "[Ljava/lang/String;", 11: "[[I", 12: "apply"},
        classes={1: 1, 2: 3, 3: 6, 4: 9, 5: 10, 6: 11},
        methods={1: (1, 2), 2: (2, 4), 3: (2, 5), 4: (3, 7), 5: (4, 8), 6: (2, 12)},
        threads={100: ("main", 1), 101: ("Executor task launch worker for task 3.0", 42)})
    chunk.stacks({
        1: [(2, 17, 1), (1, 840, 0)],
        2: [(5, 0, 5), (4, 0, 3), (6, 33, 6), (1, 840, 0)],
        3: [(3, 21, 2), (6, 34, 1), (1, 840, 1)],
    })
    chunk.add("jdk.ExecutionSample", 2000, 100, 1, 0)
    chunk.add("jdk.ExecutionSample", 3000, 101, 2, 0)
    chunk.add("jdk.ExecutionSample", 4000, 101, 2, 0)
    chunk.add("profiler.WallClockSample", 4500, 100, 3, 7, 250)
    chunk.add("jdk.ObjectAllocationInNewTLAB", 5000, 101, 3, 5, 64, 4096)
    chunk.add("jdk.ObjectAllocationOutsideTLAB", 5500, 101, 3, 6, 1 << 40)
    chunk.add("jdk.JavaMonitorEnter", 6000, 700, 100, 1, 2, 101, 7)
    return chunk


def spans():
    """Two chunks; the span that begins in the first ends, and is written, in the second."""
    first, second = (small_chunk(start_ns=1_700_000_000_000_000_000, start_ticks=ticks) for ticks in (1000, 1000))
    second.events.clear()
    second.constants("java.lang.String", {7: utf8("stage=3;task=17"), 8: utf8("plan B")})
    second.add("profiler.Span", 2500, 1600, 101, 7)
    second.add("profiler.Span", 3900, 50, 101, 8)
    second.add("sparkflame.Labels", 8000, 100, utf8("stage=5;job%3Bgroup=a%3Bb"))
    second.add("jdk.ExecutionSample", 8500, 100, 1, 0)
    second.add("sparkflame.Labels", 9000, 100, utf8(""))
    second.add("jdk.ExecutionSample", 9500, 100, 1, 0)
    second.add("jdk.ObjectAllocationSample", 9600, 100, 1, 5, 5000)
    return first.bytes() + second.bytes()


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "data" / "jfr")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.jfr").write_bytes(small_chunk().bytes())
    second = small_chunk(standard_metadata(300), start_ns=1_700_000_001_000_000_000)
    open_chunk = small_chunk(start_ns=1_700_000_002_000_000_000).bytes(finished=False)
    (folder / "chunks.jfr").write_bytes(small_chunk().bytes(split_pools=True)
                                        + second.bytes(metadata_first=False, version=(2, 0)) + open_chunk)
    (folder / "spans.jfr").write_bytes(spans())
    cut = small_chunk().bytes() + small_chunk(start_ns=1_700_000_001_000_000_000).bytes()
    (folder / "cut.jfr").write_bytes(cut[:-40])


if __name__ == "__main__":
    main()
