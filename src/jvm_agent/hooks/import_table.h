/*
 * import_table.h - the slots through which a library calls functions of other libraries.
 *
 * Threads: any, while the library is held.
 */
#ifndef JVM_AGENT_IMPORT_TABLE_H
#define JVM_AGENT_IMPORT_TABLE_H

#include "jvm_agent/hooks/loaded_library.h"

/* name: the symbol that the slot is bound to, or will be by lazy binding. */
typedef void import_visit(void **slot, const char *name, void *context);

void import_table_each(const struct loaded_library *library, import_visit *visit, void *context);
/* Changes the slot if it still holds `expected`; restores the protection of read-only pages. */
bool import_slot_replace(const struct loaded_library *library, void **slot, void *expected, void *function);

#endif
