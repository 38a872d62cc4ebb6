/*
 * demangle_rust.h - shared by the two forms of Rust names.
 *
 * Owns: nothing. Threads: any.
 */
#ifndef SYMBOLS_DEMANGLE_RUST_H
#define SYMBOLS_DEMANGLE_RUST_H

#include "symbols/demangle_output.h"

/* A name after its "_R"; see the "v0 symbol mangling" chapter of the rustc book. */
bool demangle_rust_v0(const char *name, struct demangle_output *output);
/* As UTF-8; control characters become '?'. */
void rust_add_character(struct demangle_output *output, uint32_t character);

#endif
