/*
 * demangle.h - demangles C++ (Itanium ABI) and Rust (legacy and v0) symbol names.
 *
 * Owns: nothing; uses at most 128 KiB of the caller's stack, no heap.
 * Threads: any; not for signal handlers (stack).
 * Limit: the caller's buffer, 2000 parts per name, fixed recursion depth; beyond them a name is unchanged.
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum demangle_style {
    DEMANGLE_FULL,      /* with parameter types, return types and clone suffixes, as c++filt prints them */
    DEMANGLE_NAME_ONLY, /* what a flame graph shows: std::vector<int>::push_back */
};

/* Writes the readable name to out (always ended by '\0' when size > 0). Returns false, and copies the name as it
   is as far as it fits, when it is not mangled, not understood or longer than the buffer. */
bool demangle(const char *name, enum demangle_style style, char *out, size_t size);

#endif
