/*
 * debug_file.h - finds the separate file with the full symbols of a stripped one.
 */
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include <stdbool.h>

#include "symbols/elf_file.h"

/* Looks by build-id (/usr/lib/debug/.build-id, the debuginfod cache), then by .gnu_debuglink beside path, in its .debug
   folder and under /usr/lib/debug. A file with another build-id or checksum is skipped. */
bool debug_file_open(struct elf_file *debug_file, const struct elf_file *file, const char *path,
                     const char *root);

#endif
