#!/usr/bin/env python3
"""Make folded stacks like those of a Spark job: make_folded.py FILE --kind deep|wide|distinct [--share S].

deep: 20,000 different stacks of 40 to 120 frames in 71,500 lines, about 310 MB and one million tree nodes.
wide: 100,000 different stacks of 6 to 18 frames in 1,000,000 lines, about 270 MB.
distinct: 60,000 lines, all different, of 30 to 70 frames drawn at random from 12,000 names: 3 million tree nodes, about 140 MB.
The same arguments give the same file.
"""

import argparse
import random

PACKAGES = ["org/apache/spark/sql/execution", "org/apache/spark/scheduler", "org/apache/spark/util/collection",
            "org/apache/spark/sql/catalyst/expressions", "java/util/concurrent", "scala/collection/immutable",
            "org/apache/hadoop/io/compress", "io/netty/channel/nio", "com/example/warehouse/ingest"]
WORDS = ["Hash", "Sorted", "Broadcast", "Columnar", "Shuffled", "Exchange", "Iterator", "Writer", "Reader", "Buffer",
         "Codegen", "Stage", "Adaptive", "Partition", "Aggregate", "Join", "Row", "Vector", "Map", "Encoder"]
METHODS = ["apply", "next", "hasNext", "run", "call", "process", "write", "read", "compute", "evaluate", "foreach",
           "apply$mcV$sp", "$anonfun$run$1", "insertAll", "advance", "loadBytes"]
KINDS = {
    "deep": {"stacks": 20000, "lines": 71516, "names": 12000, "depth": (40, 120), "kept": (0.0, 0.8),
             "short": False},
    "wide": {"stacks": 100000, "lines": 1000000, "names": 9000, "depth": (6, 18), "kept": (0.85, 1.0),
             "short": True},
    "distinct": {"lines": 60000, "names": 12000, "depth": (30, 70), "words": 1},
}


def make_names(generator, count, short=False, most_words=3):
    names = set()
    while len(names) < count:
        words = "".join(generator.choices(WORDS, k=generator.randint(1, 2 if short else most_words)))
        package = "" if short else generator.choice(PACKAGES) + "/"
        names.add(f"{package}{words}{generator.randint(1, 99)}.{generator.choice(METHODS)}")
    return sorted(names)


def make_stacks(generator, kind):
    """Each stack begins as one of those before and goes on by itself; most methods call few others."""
    names = make_names(generator, kind["names"], kind["short"])
    callees = {name: generator.choices(names, k=6) for name in names}
    roots = names[:20]
    stacks, seen = [], set()
    while len(stacks) < kind["stacks"]:
        depth = generator.randint(*kind["depth"])
        stack = []
        if stacks:
            before = generator.choice(stacks)
            stack = before[: int(min(depth, len(before)) * generator.uniform(*kind["kept"]))]
        while len(stack) < depth:
            stack.append(generator.choice(callees[stack[-1]]) if stack else generator.choice(roots))
        text = ";".join(stack)
        if text not in seen:
            seen.add(text)
            stacks.append(stack)
    return [";".join(stack) for stack in stacks]


def write_distinct(path, kind, share):
    """Nothing is shared but the names of frames, so that neither lines nor callers come again."""
    generator = random.Random("distinct")
    names = make_names(generator, kind["names"], most_words=kind["words"])
    with open(path, "w", encoding="ascii") as file:
        for _ in range(int(kind["lines"] * share)):
            stack = generator.choices(names, k=generator.randint(*kind["depth"]))
            file.write(f"{';'.join(stack)} {generator.randint(1, 300)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--kind", choices=KINDS, default="deep")
    parser.add_argument("--share", type=float, default=1.0, help="of the lines, for a smaller file")
    arguments = parser.parse_args()
    kind = KINDS[arguments.kind]
    if arguments.kind == "distinct":
        write_distinct(arguments.file, kind, arguments.share)
        return
    generator = random.Random(arguments.kind)
    stacks = make_stacks(generator, kind)
    lines = int(kind["lines"] * arguments.share)
    order = list(range(min(len(stacks), lines)))
    order += [min(int(generator.expovariate(4 / len(stacks))), len(stacks) - 1) for _ in range(lines - len(order))]
    generator.shuffle(order)
    with open(arguments.file, "w", encoding="ascii") as file:
        for number in order:
            file.write(f"{stacks[number]} {generator.randint(1, 300)}\n")


if __name__ == "__main__":
    main()
