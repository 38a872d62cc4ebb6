"""Segments as a collector writes them (docs/COLLECTOR.md), of recordings that it received at any time."""

import os
import struct
import zlib


class SegmentWriter:
    """Fills `folder/segments` with one segment for each group; recordings have to come in the order of their times."""

    def __init__(self, folder, first_number=1):
        self.folder = folder / "segments"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.number = first_number
        self.segments = {}

    def _begin(self, group, received_ms):
        number = 1 + len(list(self.folder.iterdir()))
        marker = os.urandom(8)
        head = b"SPKSEG1\0" + struct.pack("<Q", number) + marker + struct.pack("<q132s", received_ms, group.encode())
        path = self.folder / f"{number:010d}.segment"
        path.write_bytes(head + struct.pack("<I", zlib.crc32(head)))
        return path, marker

    def add(self, body, received_ms, group="etl", application="app-1", executor="1", kind="folded", labels=(), attempt=""):
        """The recording's number."""
        path, marker = self.segments.setdefault(group, None) or self._begin(group, received_ms)
        self.segments[group] = path, marker
        lines = [f"application={application}", *([f"attempt={attempt}"] if attempt else []), f"executor={executor}",
                 f"sequence={self.number}", f"kind={kind}", *(f"label={label}" for label in labels)]
        meta = "".join(f"{line}\n" for line in lines).encode()
        head = marker + struct.pack("<QqIII", self.number, received_ms, len(meta), len(body), zlib.crc32(meta + body))
        with path.open("ab") as file:
            file.write(head + struct.pack("<I", zlib.crc32(head)) + meta + body)
        self.number += 1
        return self.number - 1
