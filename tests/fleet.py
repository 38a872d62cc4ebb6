"""Recordings of a made-up fleet, in the layout in which the plugin ships them: GROUP/APPLICATION/EXECUTOR/SEQUENCE.jfr.

Executors share methods, but each meets them in an order of its own, so that whoever numbers them by the order of reading
numbers them differently."""

import random

from jfr_builder import FRAME_TYPES, Chunk, standard_metadata, utf8

SECOND = 1_000_000_000
START_NS = 1_700_000_000 * SECOND
RUNNER = "org/apache/spark/api/python/BasePythonRunner$ReaderIterator"
SLEEPING, RUNNABLE = 7, 6
PYTHON = len(FRAME_TYPES)
# class, method
METHODS = [("java/lang/Thread", "run"), ("org/example/Größe", "apply"), ("org/example/Job", "call"), (RUNNER, "next"),
           ("java/io/DataInputStream", "readInt"), ("java/util/HashMap", "get"), ("worker.py", "main"),
           ("json.py", "loads"), ("re.py", "match")]
JAVA, WAIT, PY = [1, 2, 5], [3, 4], [7, 8]


def numbered(texts, dice):
    """Numbers from 1 on, in a random order."""
    order = list(dict.fromkeys(texts))
    dice.shuffle(order)
    return {text: number for number, text in enumerate(order, 1)}


def constants(chunk, dice):
    """Names in random order; returns the number of each method of METHODS."""
    symbols = numbered([text for pair in METHODS for text in pair] + ["[B"], dice)
    classes = numbered([owner for owner, _ in METHODS] + ["[B"], dice)
    methods = numbered(METHODS, dice)
    chunk.standard_constants(
        symbols={number: text for text, number in symbols.items()},
        classes={number: symbols[text] for text, number in classes.items()},
        methods={number: (classes[owner], symbols[name]) for (owner, name), number in methods.items()},
        threads={1: ("main", 1), 2: ("Executor task launch worker-0", 2), 3: ("Executor task launch worker-1", 3)},
        frame_types=[*FRAME_TYPES, "Python"])
    return [methods[method] for method in METHODS], classes["[B"]


def random_stack(dice, methods):
    """(kind, frames innermost first) of Java, of Java that waits for Python, or of Python."""
    kind = dice.choice(["java", "java", "wait", "python"])
    if kind == "python":
        chosen = [6] + dice.choices(PY, k=dice.randint(1, 4))
        frames = [(methods[i], dice.randint(1, 9), PYTHON) for i in chosen]
    else:
        chosen = [0] + dice.choices(JAVA, k=dice.randint(1, 4)) + (WAIT if kind == "wait" else [])
        frames = [(methods[i], dice.randint(0, 3), dice.randint(0, 2)) for i in chosen]
    return kind, frames[::-1]


def recording(application, executor, sequence, samples=60):
    """One object: a chunk of 60 s with samples of CPU, wall clock and allocations, some of them in tasks."""
    dice = random.Random(f"{application} {executor} {sequence}")
    chunk = Chunk(standard_metadata(), start_ns=START_NS + sequence * 60 * SECOND)
    methods, array = constants(chunk, dice)
    stacks = {number: random_stack(dice, methods) for number in range(1, 25)}
    chunk.stacks({number: frames for number, (_, frames) in stacks.items()})
    tick = 1000
    for i in range(samples):
        tick += dice.randint(1, 60 * SECOND // samples)
        number = dice.choice(list(stacks))
        thread = 1 if i % 5 == 0 else dice.randint(2, 3)
        if i % 7 == 0:
            task = f";stage={dice.randint(1, 3)};task={dice.randint(1, 4)}" if thread > 1 else ""
            chunk.add("sparkflame.Labels", tick, thread,
                      utf8(f"application={application};executor={executor}{task}"))
        state = SLEEPING if stacks[number][0] == "wait" else RUNNABLE
        event = dice.choice(["cpu", "wall", "alloc"])
        if event == "cpu":
            chunk.add("jdk.ExecutionSample", tick, thread, number, 0)
        elif event == "wall":
            chunk.add("profiler.WallClockSample", tick, thread, number, state, dice.randint(1, 300))
        else:
            chunk.add("jdk.ObjectAllocationSample", tick, thread, number, array, dice.randint(1, 1 << 40))
    return chunk.bytes()


def make(folder, applications=2, executors=3, sequences=(9, 10, 11), samples=60):
    """Writes the recordings; returns their paths."""
    paths = []
    for application in range(applications):
        for executor in range(executors):
            home = folder / "team" / f"app-{application}" / ("driver" if executor == 0 else str(executor))
            home.mkdir(parents=True)
            for sequence in sequences:
                paths.append(home / f"{sequence}.jfr")
                paths[-1].write_bytes(recording(f"app-{application}", home.name, sequence, samples))
    return paths
