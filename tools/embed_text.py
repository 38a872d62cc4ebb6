#!/usr/bin/env python3
"""Turn a text file into C: embed_text.py INPUT NAME OUTPUT gives NAME[] and NAME_size."""

import sys


def main():
    source, name, target = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    rows = [", ".join(str(byte) for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
    with open(target, "w", encoding="ascii") as file:
        file.write("#include <stddef.h>\n\n")
        file.write(f"extern const char {name}[];\nextern const size_t {name}_size;\n")
        file.write(f"const char {name}[] = {{\n    " + ",\n    ".join(rows) + ",\n    0};\n")
        file.write(f"const size_t {name}_size = {len(data)};\n")


if __name__ == "__main__":
    main()
