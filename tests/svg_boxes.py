"""Boxes of an SVG flame graph: what is drawn where, whichever tool drew it."""

import re
import xml.etree.ElementTree
from typing import NamedTuple

SVG = "{http://www.w3.org/2000/svg}"
FG = "{http://github.com/jonhoo/inferno}"


class Box(NamedTuple):
    name: str
    x: float
    width: float
    level: int


def read_boxes(text):
    """All boxes, callers before callees; level 0 is the root."""
    root = xml.etree.ElementTree.fromstring(text)
    found = []
    for group in (*root.iter(SVG + "g"), *root.iter(SVG + "a")):
        title, rect = group.find(SVG + "title"), group.find(SVG + "rect")
        if rect is None:
            rect = group.find(f"{SVG}a/{SVG}rect")
        if title is None or rect is None or FG + "x" not in rect.attrib:
            continue
        name = re.sub(r" \([^(]*\)$", "", title.text)
        found.append((name, float(rect.get(FG + "x")), float(rect.get(FG + "w")), float(rect.get("y"))))
    rows = sorted({box[3] for box in found})
    root_row = next(box[3] for box in found if box[0] == "all")
    step = min((b - a for a, b in zip(rows, rows[1:])), default=1)
    return [Box(name, x, width, round(abs(y - root_row) / step)) for name, x, width, y in found]
