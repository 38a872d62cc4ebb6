/*
 * code_blob.h - the generated code at an address: compiled methods with their tables, and other blobs.
 *
 * Threads: any, including signal handlers; under a fault point (fault_guard.h).
 */
#ifndef JVM_AGENT_CODE_BLOB_H
#define JVM_AGENT_CODE_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

static inline bool code_contains(uintptr_t pc)
{
    return vm.code_low != 0 && pc >= *(const uintptr_t *)vm.code_low && pc < *(const uintptr_t *)vm.code_high;
}

static inline bool code_is_interpreter(uintptr_t pc)
{
    return pc >= vm.interpreter_low && pc < vm.interpreter_high;
}

/* The blob that contains pc, or 0. */
uintptr_t code_blob_find(uintptr_t pc);
bool code_blob_is_compiled(uintptr_t blob);
uintptr_t code_blob_begin(uintptr_t blob);
/* The address from which its frame is complete. */
uintptr_t code_blob_frame_complete(uintptr_t blob);
int code_blob_frame_words(uintptr_t blob);
/* HotSpot's name of the blob, a constant in libjvm, or NULL. */
const char *code_blob_name(uintptr_t blob);
uintptr_t compiled_entry(uintptr_t blob);
/* 1 to 3: C1, 4: C2, 0: a native method's wrapper. */
int compiled_level(uintptr_t blob);
/* The return address of deoptimized frames, or 0. */
uintptr_t compiled_deopt_pc(uintptr_t blob);

/* The methods inlined at a code address, innermost first. */
struct scope {
    uintptr_t blob;
    uintptr_t scopes;
    uintptr_t metadata;
    uint32_t next;    /* offset of the next scope to decode; 0: none left */
    uintptr_t method; /* of the last decoded scope */
    int bytecode_index;
};

/* False if nothing is known about the address. `interrupted`: pc is the next instruction, not a return address. */
bool scope_find(struct scope *scope, uintptr_t blob, uintptr_t pc, bool interrupted);
/* Decodes the next scope; false if there is none. */
bool scope_next(struct scope *scope);

/* True for code without a safepoint, such as a getter. */
bool compiled_has_no_places(uintptr_t blob);
/* True if the outermost method decoded at an address in the middle is the compiled method, as it must be. */
bool compiled_is_consistent(uintptr_t blob);

#endif
