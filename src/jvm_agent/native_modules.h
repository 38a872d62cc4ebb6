/*
 * native_modules.h - the libraries of this process, with their symbols and unwind tables.
 *
 * Threads: native_modules_refresh() takes a lock; the map may be read from anywhere, also from signal handlers.
 */
#ifndef JVM_AGENT_NATIVE_MODULES_H
#define JVM_AGENT_NATIVE_MODULES_H

#include "base/error.h"
#include "symbols/module_map.h"

extern struct module_map native_modules;

/* Reads what was loaded since, with its tables; quick when nothing was. What cannot be read is left out. */
void native_modules_refresh(void);
/* How often the loader has loaded or unloaded a library. */
uint64_t native_modules_loads(void);

#endif
