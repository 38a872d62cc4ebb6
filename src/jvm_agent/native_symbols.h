/*
 * native_symbols.h - where a function of this process is, by its name.
 *
 * Threads: one at a time; not in a handler.
 */
#ifndef JVM_AGENT_NATIVE_SYMBOLS_H
#define JVM_AGENT_NATIVE_SYMBOLS_H

#include <stdint.h>

/* "write", "Class::method" (any arguments), or either with "*" at its end. 0: no library that is loaded has it. */
uint64_t native_symbols_find(const char *name);

#endif
