"""Random tables, and Parquet files of them by our own writer (tests/unit/make_parquet.c)."""

import random
import subprocess

INT32, INT64, TEXT, TIMESTAMP, DATE = range(5)
PLAIN, DELTA, DICTIONARY = range(3)
TYPES = range(5)
LIMITS = {INT32: 31, DATE: 31, INT64: 63, TIMESTAMP: 63}
GROUP_ROWS = 1 << 18
SIZES = [0, 1, 7, 8, 9, 127, 128, 129, 130, 1000, 5000]


def random_number(dice, kind):
    """Small, or of any size up to the limits of the type, which differences between two of them exceed."""
    bits = dice.choice([0, 1, 3, 8, LIMITS[kind] // 2, LIMITS[kind]])
    if kind in (TIMESTAMP, DATE):
        return dice.randrange(1 << min(bits, 20))
    return dice.choice([-1 << bits, (1 << bits) - 1, dice.randrange(-1 << bits, 1 << bits)])


def random_text(dice):
    length = dice.choice([0, 1, 5, 20, 300])
    return "".join(dice.choice("ab/.;\0\"é☃𝄞") for _ in range(length))


def random_column(dice, kind, rows, optional):
    """Values with runs, repetitions, a sorted stretch, and none at all."""
    make = (lambda: random_text(dice)) if kind == TEXT else (lambda: random_number(dice, kind))
    few = [make() for _ in range(dice.choice([1, 2, 9, 300]))]
    values = []
    while len(values) < rows:
        part = dice.choice(["run", "few", "new", "sorted", "none"])
        size = dice.choice([1, 3, 7, 8, 9, 100, 1000])
        if part == "run":
            values += [dice.choice(few)] * size
        elif part == "none" and optional:
            values += [None] * size
        else:
            stretch = [dice.choice(few) if part == "few" else make() for _ in range(min(size, 200))]
            values += sorted(stretch) if part == "sorted" else stretch
    return values[:rows]


def line_of(row, kinds):
    return "\t".join("\\N" if value is None else value.encode().hex() if kind == TEXT else str(value)
                     for value, kind in zip(row, kinds)).encode() + b"\n"


def write(binary, path, columns, table):
    """columns: (type, encoding, optional); table: the values of each."""
    head = "\t".join(f"c{i}:{kind}:{encoding}{':optional' if optional else ''}"
                     for i, (kind, encoding, optional) in enumerate(columns))
    kinds = [column[0] for column in columns]
    text = b"".join(line_of(row, kinds) for row in zip(*table))
    with open(path, "wb") as out:
        subprocess.run([binary.parent / "make_parquet"], input=head.encode() + b"\n" + text, stdout=out, check=True)


def numbers(kind, values):
    """What is compared: as numbers, whatever objects a reader makes of times."""
    return values if kind == TEXT else [None if value is None else int(value) for value in values]


def random_table(binary, path, seed, sizes=SIZES):
    """Writes a table with each type in each encoding; returns its columns and what a reader finds in each."""
    dice = random.Random(seed)
    columns = [(kind, encoding, dice.random() < 0.5) for kind in TYPES for encoding in (PLAIN, DELTA, DICTIONARY)]
    rows = dice.choice(sizes)
    table = [random_column(dice, kind, rows, optional) for kind, _, optional in columns]
    write(binary, path, columns, table)
    return columns, [numbers(kind, values) for (kind, _, _), values in zip(columns, table)]
