/*
 * vm_layout.h - where HotSpot keeps its methods, code and frames, read from the tables that libjvm.so exports.
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
#include "jvm_agent/vm_fields.def"
#undef OFFSET
#undef STATIC
#undef SIZE
#undef INTEGER
    int32_t frame_complete_bytes;  /* 2 or 4: how wide CodeBlob's field is */
    int32_t metadata_offset_bytes; /* 2 or 4 */
    int32_t unsigned5_base;        /* what the smallest encoded byte stands above zero */
    int32_t bytecode_slot;         /* of an interpreted frame, in words from its frame pointer */
    int32_t method_slot;
    int32_t line_table_flag;
    int32_t symbol_hash; /* where a Symbol keeps 16 bits of its hash */
    int major_version;
    bool java_frames; /* all that walking Java frames needs is there */
    /* Known from vm_layout_attach() on. */
    uintptr_t heaps[VM_CODE_HEAPS];
    int heap_count;
    uintptr_t interpreter_low, interpreter_high;
    uintptr_t call_stub_return_pc;
};

extern struct vm_layout vm;

/* Reads the tables of the library that holds `address`. Fails when this is no HotSpot, or one without them. */
bool vm_layout_read(const void *address, struct error *error) MUST_CHECK;
/* Reads what exists only once the VM runs: code heaps, interpreter, stubs. */
bool vm_layout_attach(struct error *error) MUST_CHECK;
/* A function that the library exports, or NULL. */
void *vm_layout_function(const char *name);
/* The address of a VM option's value, or NULL. */
void *vm_layout_flag(const char *name);

#endif
