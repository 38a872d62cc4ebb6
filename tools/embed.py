#!/usr/bin/env python3
"""Write a file's bytes as a C array: embed.py INPUT OUTPUT.c NAME makes NAME[] and NAME_size."""

import pathlib
import sys

BYTES_PER_LINE = 32


def main():
    source, target, name = sys.argv[1:]
    data = pathlib.Path(source).read_bytes()
    lines = ["#include <stddef.h>", "", f"extern const unsigned char {name}[];", f"extern const size_t {name}_size;", "",
             f"const unsigned char {name}[] = {{"]
    for start in range(0, len(data), BYTES_PER_LINE):
        lines.append("".join(f"{byte}," for byte in data[start:start + BYTES_PER_LINE]))
    lines += ["};", f"const size_t {name}_size = {len(data)};", ""]
    pathlib.Path(target).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
