"""Samples that are cut short or have wrong bytes end with a result or a clear error, never with a crash or a hang."""

import pathlib
import random
import re

import pytest

DATA = pathlib.Path(__file__).resolve().parent / "data"
TABLE = DATA.parent.parent / "src" / "formats" / "reader_table.def"
MOST_BYTES = 1 << 20
CUTS = (0.02, 0.3, 0.5, 0.9, 0.999)
FLIPS = 8


def samples():
    names = re.findall(r"^READER\((\w+)\)", TABLE.read_text(), re.MULTILINE) if TABLE.exists() else []
    paths = [path for name in names for path in sorted((DATA / name).rglob("*"))]
    return [path for path in paths if path.is_file() and path.stat().st_size <= MOST_BYTES]


def damaged(content, name):
    """(what was done, bytes): the same each time."""
    for share in CUTS:
        yield f"cut at {share:.1%}", content[:int(len(content) * share)]
    chance = random.Random(name)
    for number in range(FLIPS):
        changed = bytearray(content)
        for _ in range(1 + number * 4):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        yield f"flipped {number}", bytes(changed)


@pytest.mark.parametrize("path", samples(), ids=lambda path: str(path.relative_to(DATA)))
def test_damaged_sample(sparkflame, path):
    content = path.read_bytes()
    for what, text in damaged(content, path.name) if content else ():
        result = sparkflame("convert", "-", "--quiet", "-f", "folded", "-o", "/dev/null", stdin=text)
        assert result.returncode in (0, 1), f"{what}: status {result.returncode}: {result.stderr[:500]}"
        assert bool(result.stderr) == (result.returncode == 1), f"{what}: {result.stderr[:500]}"
        for line in result.stderr.splitlines():
            assert line.startswith(b"sparkflame convert: "), f"{what}: {line[:500]}"
