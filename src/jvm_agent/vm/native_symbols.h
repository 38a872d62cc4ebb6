/*
 * native_symbols.h - finds a function of this process by name.
 *
 * Threads: one at a time; not in a handler.
 */
#ifndef JVM_AGENT_NATIVE_SYMBOLS_H
#define JVM_AGENT_NATIVE_SYMBOLS_H

#include <stdint.h>

/* "write", "Class::method" (any arguments), or either with a trailing "*". 0: not found in any loaded library. */
uint64_t native_symbols_find(const char *name);

#endif
