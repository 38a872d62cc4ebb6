/*
 * method_table.h - gives each Java method one number and keeps its names, line table and flags.
 *
 * Names are copied when the method is first seen on a stack, while its class is certainly loaded: later the class may
 * be unloaded and its memory reused. An entry is therefore compared with the name symbols of class and method before it
 * counts as a hit.
 *
 * Owns: the copies, in the arena it was given.
 * Threads: any, including signal handlers; no locks. Reads HotSpot's memory: call under a fault point (fault_guard.h).
 * Limit: the arena's; then method_table_add() returns 0.
 */
#ifndef JVM_AGENT_METHOD_TABLE_H
#define JVM_AGENT_METHOD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/safe_memory.h"

#define METHOD_BUCKETS ((uint32_t)1 << 15)

struct method {
    uintptr_t address;      /* HotSpot's Method */
    uintptr_t class_symbol; /* HotSpot's Symbol of the class name */
    uintptr_t name_symbol;
    const char *class_name; /* not null-terminated */
    const char *name;
    const char *signature;
    const uint8_t *lines; /* HotSpot's compressed line table, or NULL */
    uint16_t class_size;
    uint16_t name_size;
    uint16_t signature_size;
    uint16_t access_flags;
    uint16_t class_check; /* hashes stored in HotSpot's symbols */
    uint16_t name_check;
    uint32_t lines_size;
    uint32_t next;  /* in its bucket */
    uint32_t chunk; /* last chunk that contains it; used by the writer */
    bool ready;     /* names are complete */
};

struct method_table {
    struct safe_arena *arena;
    struct safe_items methods;
    _Atomic uint32_t *buckets;
    uint32_t named; /* all methods up to this number have names; used by java_fallback.c */
};

bool method_table_init(struct method_table *table, struct safe_arena *arena);
void method_table_release(struct method_table *table);
/* The number of the method at this address, from 1 on; 0 if it is not a method, or there is no space. */
uint32_t method_table_add(struct method_table *table, uintptr_t address);
/* The same for a method known only by its JNI id: its names are empty until the JVM is asked for them. */
uint32_t method_table_add_id(struct method_table *table, uintptr_t id);
/* The same for a class, given HotSpot's Klass: an entry without a method name. */
uint32_t method_table_add_class(struct method_table *table, uintptr_t address);
/* Copies a method of another table; 0 if there is no space. */
uint32_t method_table_copy(struct method_table *table, const struct method *method);
/* The line of a bytecode, 0 if unknown. */
uint32_t method_line(const struct method *method, int bytecode_index);

/* Entries of method_table_add_id() have an id in place of an address. */
static inline bool method_is_id(const struct method *method)
{
    return method->address != 0 && method->class_symbol == 0;
}

static inline struct method *method_table_at(const struct method_table *table, uint32_t number)
{
    return safe_items_at(&table->methods, number);
}

/* Start address and size of the method's bytecodes. */
uintptr_t method_bytecodes(uintptr_t address, uint32_t *size);

#endif
