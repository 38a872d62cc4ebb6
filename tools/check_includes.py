#!/usr/bin/env python3
"""Check that each layer includes only the layers it may use."""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

# folder: the folders it may include, besides itself
ALLOWED = {
    "base": set(),
    "model": {"base"},
    "symbols": {"base"},
    "jvm_attach": {"base"},
    "formats": {"base", "model"},
    "render": {"base", "model"},
    "python_sampler": {"base", "model", "symbols"},
    "native_sampler": {"base", "model", "symbols"},
    "jvm_agent": {"base", "model", "symbols", "python_sampler", "formats", "render"},
    "spark": {"base", "model", "formats"},
    "collector": {"base", "model", "formats", "render", "spark", "symbols"},
    "commands": {"base", "model", "formats", "render", "symbols", "jvm_attach", "python_sampler", "native_sampler",
                 "spark", "collector"},
    "static_build": {"base", "formats"},
    "": {"base", "commands"},
}
# Of these layers the agent takes only the parts that need nothing but libc.
AGENT_PARTS = {
    "formats": ("jfr_bytes", "write_jfr", "write_folded", "write_text", "write_pprof", "writer"),
    "render": ("render_flame_page", "renderer"),
}
# Included by the code itself, not a layer.
TEST_HEADERS = ("unit_test.h", "failing_memory.h", "folded_profile.h", "listed_stack.h")


def layer_of(path):
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


def forbidden(path, name):
    """Why this file may not include that header, or None."""
    layer = layer_of(path)
    if name in TEST_HEADERS:
        return None if path.stem.endswith("_test") else "only tests include the test runner"
    if "/" not in name:
        return "write the path from src/ on"
    target = name.split("/")[0]
    if not (SOURCE / name).exists():
        return None if name.startswith("generated/") else "no such file under src/"
    if target != layer and target not in ALLOWED[layer]:
        return f"{layer or 'src'} may not use {target}"
    parts = AGENT_PARTS.get(target) if layer == "jvm_agent" else None
    if parts and pathlib.Path(name).stem not in parts:
        return "the agent may not use this part: it needs more than libc"
    return None


def main():
    bad = 0
    for path in sorted(SOURCE.rglob("*.[ch]")) + sorted(SOURCE.rglob("*.def")):
        if layer_of(path) not in ALLOWED:
            print(f"{path.relative_to(SOURCE.parent)}: the layer {layer_of(path)} is not in the table")
            bad += 1
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            why = match and forbidden(path, match[1])
            if why:
                print(f'{path.relative_to(SOURCE.parent)}:{number}: #include "{match[1]}": {why}')
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
