/*
 * vm_layout.h - the location of HotSpot's methods, code and frames, read from tables that libjvm.so exports.
 *
 * Owns: nothing; all addresses belong to libjvm.so, which stays loaded.
 * Threads: filled once before sampling; read-only afterwards, also by signal handlers.
 */
#ifndef JVM_AGENT_VM_LAYOUT_H
#define JVM_AGENT_VM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

#define VM_CODE_HEAPS 8
#define VM_MISSING (-1)

struct vm_layout {
#define OFFSET(name, types, field, need) int32_t name;
#define STATIC(name, types, field, need) uintptr_t name;
#define SIZE(name, type, need) int32_t name;
#define INTEGER(name, constant, need) int32_t name;
#include "jvm_agent/vm/vm_fields.def"
#undef OFFSET
#undef STATIC
#undef SIZE
#undef INTEGER
    int32_t frame_complete_bytes;  /* 2 or 4: width of CodeBlob's field */
    int32_t metadata_offset_bytes; /* 2 or 4 */
    int32_t unsigned5_base;        /* added to zero in the smallest encoded byte */
    int32_t bytecode_slot;         /* of an interpreted frame, in words from its frame pointer */
    int32_t method_slot;
    int32_t line_table_flag;
    int32_t symbol_hash; /* offset of 16 bits of the hash in a Symbol */
    int major_version;
    bool java_frames; /* everything needed to walk Java frames is present */
    /* Set by vm_layout_attach(). */
    uintptr_t heaps[VM_CODE_HEAPS];
    int heap_count;
    uintptr_t interpreter_low, interpreter_high;
    uintptr_t call_stub_return_pc;
};

extern struct vm_layout vm;

/* Reads the tables of the library that contains `address`. Fails if it is not HotSpot, or has no tables. */
bool vm_layout_read(const void *address, struct error *error) MUST_CHECK;
/* Reads what exists only once the VM is running: code heaps, interpreter, stubs. */
bool vm_layout_attach(struct error *error) MUST_CHECK;
/* A function that the library exports, or NULL. */
void *vm_layout_function(const char *name);
/* The address of a VM option's value, or NULL. */
void *vm_layout_flag(const char *name);

#endif
