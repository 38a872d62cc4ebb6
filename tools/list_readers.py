#!/usr/bin/env python3
"""List the names of the table of readers, for fuzz/meson.build."""

from check_tables import names_in

if __name__ == "__main__":
    print("\n".join(names_in("READER", "src/formats/reader_table.def")))
