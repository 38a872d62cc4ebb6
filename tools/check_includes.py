#!/usr/bin/env python3
"""Check that each room of src/ includes only the rooms it may use, and that no modules include each other in a circle.

A room is a folder below src/; a sub-room is a folder inside a room, with a line of its own in the table. A module is x.c with x.h
and x_async_safe.c.
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

SPARK = {"spark", "spark/event_log", "spark/log", "spark/metrics", "spark/stages", "spark/what_if", "spark/advice", "spark/baseline",
         "spark/report"}
COLLECTOR = {"collector/libraries", "collector/http", "collector/store", "collector/query", "collector/rollups"}
AGENT = {"jvm_agent", "jvm_agent/vm", "jvm_agent/handler", "jvm_agent/hooks", "jvm_agent/engines", "jvm_agent/labels",
         "jvm_agent/output", "jvm_agent/jfr"}
# room: the rooms it may include, besides itself
ALLOWED = {
    "base": set(),
    "jfr": {"base"},
    "model": {"base"},
    "symbols": {"base"},
    "jvm_attach": {"base"},
    "input": {"base"},
    "formats": {"base", "model", "input"},
    "formats/folded": {"base", "model", "input", "formats"},
    "formats/jfr": {"base", "jfr", "model", "input", "formats"},
    "formats/json": {"base", "model", "input", "formats"},
    "formats/partial": {"base", "model", "input", "formats"},
    "formats/parquet": {"base", "model", "formats"},
    "formats/perf_data": {"base", "model", "input", "symbols", "formats", "formats/text"},
    "formats/otlp": {"base", "model", "input", "formats", "formats/pprof"},
    "formats/pprof": {"base", "model", "formats"},
    "formats/text": {"base", "model", "input", "formats"},
    "render": {"base", "model"},
    "python_sampler": {"base", "model", "symbols"},
    "native_sampler": {"base", "model", "symbols"},
    "jvm_agent": {"base"},
    "jvm_agent/vm": {"base", "symbols", "jvm_agent"},
    "jvm_agent/handler": {"base", "jvm_agent", "jvm_agent/vm"},
    "jvm_agent/hooks": {"base", "jvm_agent", "jvm_agent/vm", "jvm_agent/handler"},
    "jvm_agent/engines": {"base", "jvm_agent", "jvm_agent/vm", "jvm_agent/handler", "jvm_agent/hooks"},
    "jvm_agent/labels": {"base", "jvm_agent", "jvm_agent/vm", "jvm_agent/handler", "jvm_agent/hooks"},
    "jvm_agent/output": {"base", "jvm_agent", "jvm_agent/vm", "jvm_agent/handler"},
    "jvm_agent/jfr": {"base", "jfr", "model", "python_sampler"} | AGENT - {"jvm_agent/hooks", "jvm_agent/jfr"},
    "jvm_agent/control": {"base", "python_sampler"} | AGENT,
    "processes": {"base", "input"},
    "spark": {"base"},
    "spark/event_log": {"base", "input", "spark"},
    "spark/log": {"base", "input", "spark"},
    "spark/metrics": {"base", "input", "formats/jfr", "spark"},
    "spark/stages": {"base", "model", "spark"},
    "spark/what_if": {"base", "spark"},
    "spark/advice": {"base", "model", "spark", "spark/log", "spark/metrics", "spark/stages", "spark/what_if"},
    "spark/baseline": {"base", "model", "spark", "spark/stages"},
    "spark/report": {"base", "model", "input"} | SPARK - {"spark/event_log", "spark/report"},
    "spark/fleet": {"base", "model", "spark", "spark/baseline", "spark/report"},
    "collector/libraries": {"base"},
    "collector/http": {"base", "collector/libraries"},
    "collector/store": {"base", "input", "spark", "collector/libraries"},
    "collector/query": {"base", "collector/http"},
    "collector/rollups": {"base", "collector/query", "collector/store"},
    "collector": {"base", "model", "input", "formats", "formats/jfr", "formats/otlp", "formats/pprof", "render", "symbols"} | COLLECTOR | SPARK,
    "commands": {"base"},
    "commands/picture": {"base", "model", "input", "formats", "formats/folded", "formats/partial", "render", "commands"},
    "commands/processes": {"base", "jvm_attach", "processes", "commands"},
    "commands/record": {"base", "model", "formats", "jvm_attach", "python_sampler", "native_sampler", "processes", "commands",
                        "commands/picture", "commands/processes", "collector", "commands/collector"} | COLLECTOR,
    "commands/top": {"base", "model", "formats", "jvm_attach", "python_sampler", "native_sampler", "commands", "commands/record"},
    "commands/dump": {"base", "model", "jvm_attach", "python_sampler", "native_sampler", "processes", "commands", "commands/processes"},
    "commands/doctor": {"base", "symbols", "jvm_attach", "python_sampler", "commands", "commands/processes"},
    "commands/report": {"base", "model", "input", "formats", "formats/jfr", "render", "commands"} | SPARK,
    "commands/fleet": {"base", "model", "formats", "render", "spark", "spark/fleet", "commands", "commands/picture"},
    "commands/collector": {"base", "model", "input", "formats", "formats/jfr", "formats/partial", "spark/baseline", "spark/fleet", "collector", "commands",
                           "commands/picture", "commands/processes"} | COLLECTOR,
    "commands/compatibility": {"base", "jvm_attach", "python_sampler", "commands", "commands/picture", "commands/processes",
                               "commands/record", "commands/top"},
    "static_build": {"base", "formats"},
    "": {"base", "commands"},
}
# Included by the code itself, not a room.
TEST_HEADERS = ("unit_test.h", "failing_memory.h", "folded_profile.h", "listed_stack.h")


def room_of(path):
    """The room of a path below src/: "formats/jfr" of formats/jfr/jfr_chunk.c, "" of main.c."""
    parent = pathlib.PurePath(path).parent.as_posix()
    return "" if parent == "." else parent


def module_of(path):
    """The module of a path below src/, as a name: "symbols/lookup" of symbols/lookup_async_safe.c."""
    return re.sub(r"(_async_safe)?\.\w+$", "", pathlib.PurePath(path).as_posix())


def included(path):
    """(line, name) of the headers of ours that a file includes."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match[1]


def forbidden(path, name):
    """Why this file may not include that header, or None."""
    room = room_of(path.relative_to(SOURCE))
    if name in TEST_HEADERS:
        return None if path.stem.endswith("_test") else "only tests include the test runner"
    if "/" not in name:
        return "write the path from src/ on"
    if not (SOURCE / name).exists():
        return None if name.startswith("generated/") else "no such file under src/"
    target = room_of(name)
    if target != room and target not in ALLOWED[room]:
        return f"{room or 'src'} may not use {target}"
    return None


def cycles(graph):
    """The groups of two or more nodes that reach each other (Tarjan), each sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            place = stack.index(node)
            group = sorted(stack[place:])
            del stack[place:]
            if len(group) > 1:
                found.append(group)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)


def module_graph(paths):
    """{module: the modules it includes}. Nothing includes a test."""
    graph = {}
    for path in paths:
        relative = path.relative_to(SOURCE)
        if path.stem.endswith("_test"):
            continue
        module = module_of(relative)
        targets = {module_of(name) for _, name in included(path) if (SOURCE / name).exists()}
        graph.setdefault(module, set()).update(targets - {module})
    return graph


def check(paths):
    for path in paths:
        name = path.relative_to(SOURCE.parent)
        if room_of(path.relative_to(SOURCE)) not in ALLOWED:
            yield f"{name}: the room {room_of(path.relative_to(SOURCE))} is not in the table"
            continue
        for number, header in included(path):
            why = forbidden(path, header)
            if why:
                yield f'{name}:{number}: #include "{header}": {why}'
    for group in cycles(module_graph(paths)):
        yield f"modules include each other in a circle: {' '.join(group)}"
    for group in cycles(ALLOWED):
        yield f"the table lets rooms use each other in a circle: {' '.join(group)}"


def main():
    found = list(check(sorted(path for suffix in ("c", "h", "def") for path in SOURCE.rglob(f"*.{suffix}"))))
    if found:
        print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
