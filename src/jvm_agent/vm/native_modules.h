/*
 * native_modules.h - the libraries of this process, with their symbols and unwind tables.
 *
 * Threads: native_modules_refresh() takes a lock, and frees unloaded libraries; readers of the map hold the lock, or
 * are handlers counted as active (sampler.active).
 */
#ifndef JVM_AGENT_NATIVE_MODULES_H
#define JVM_AGENT_NATIVE_MODULES_H

#include "base/error.h"
#include "symbols/module_map.h"

extern struct module_map native_modules;

/* Reads newly loaded libraries with their tables; fast if there are none. Unreadable ones are skipped. */
void native_modules_refresh(void);
/* How to wait until no handler reads the map; false: some still does. Before it is set, none does. */
void native_modules_wait_by(bool (*wait_for_handlers)(void));
void native_modules_lock(void);
void native_modules_unlock(void);
/* Changes when the map does; not 0. */
uint64_t native_modules_version(void);
/* How often the loader has loaded or unloaded a library. */
uint64_t native_modules_loads(void);

#endif
