/*
 * code_blob.h - the generated code around an address: compiled methods with their tables, and other blobs.
 *
 * Threads: any, also signal handlers; under a fault point (fault_guard.h).
 */
#ifndef JVM_AGENT_CODE_BLOB_H
#define JVM_AGENT_CODE_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/vm_layout.h"
#include "jvm_agent/vm_read.h"

static inline bool code_contains(uintptr_t pc)
{
    return vm.code_low != 0 && pc >= *(const uintptr_t *)vm.code_low && pc < *(const uintptr_t *)vm.code_high;
}

static inline bool code_is_interpreter(uintptr_t pc)
{
    return pc >= vm.interpreter_low && pc < vm.interpreter_high;
}

/* The blob that holds pc, or 0. */
uintptr_t code_blob_find(uintptr_t pc);
bool code_blob_is_compiled(uintptr_t blob);
uintptr_t code_blob_begin(uintptr_t blob);
/* Where its frame stands complete. */
uintptr_t code_blob_frame_complete(uintptr_t blob);
int code_blob_frame_words(uintptr_t blob);
/* HotSpot's name of the blob, a constant of libjvm's, or NULL. */
const char *code_blob_name(uintptr_t blob);
uintptr_t compiled_entry(uintptr_t blob);
/* 1 to 3: C1, 4: C2, 0: a native method's wrapper. */
int compiled_level(uintptr_t blob);
/* The place of deoptimized frames' return, or 0. */
uintptr_t compiled_deopt_pc(uintptr_t blob);

/* The methods inlined at a place, innermost first. */
struct scope {
    uintptr_t blob;
    uintptr_t scopes;
    uintptr_t metadata;
    uint32_t next;    /* offset of the scope to decode, 0: no more */
    uintptr_t method; /* of the scope decoded last */
    int bytecode_index;
};

/* False when nothing is known of that place. `interrupted`: pc is the instruction to run, not a return address. */
bool scope_find(struct scope *scope, uintptr_t blob, uintptr_t pc, bool interrupted);
/* Decodes the next scope; false when there is none. */
bool scope_next(struct scope *scope);

/* True for code that never stops on its way, such as that of a getter. */
bool compiled_has_no_places(uintptr_t blob);
/* True when the outermost method at a place in the middle is the one that was compiled, as it has to be. */
bool compiled_is_consistent(uintptr_t blob);

#endif
