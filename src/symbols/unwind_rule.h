/*
 * unwind_rule.h - how to find the caller's frame at one address: where the canonical frame address (CFA), the return
 * address and the frame pointer are.
 */
#ifndef SYMBOLS_UNWIND_RULE_H
#define SYMBOLS_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_kind {
    UNWIND_NONE,               /* no code here, or a rule too complicated */
    UNWIND_STACK_POINTER,      /* CFA = stack pointer + cfa_offset */
    UNWIND_FRAME_POINTER,      /* CFA = frame pointer + cfa_offset */
    UNWIND_FRAME_POINTER_LOAD, /* CFA = memory[frame pointer + cfa_offset] + loaded_offset: a realigned stack */
    UNWIND_STACK_POINTER_LOAD, /* CFA = memory[stack pointer + cfa_offset] + loaded_offset */
    UNWIND_PLT,                /* CFA = stack pointer + 8, 8 more from byte cfa_offset of an entry of 16 on */
    UNWIND_SIGNAL,             /* the kernel put all registers on the stack */
    UNWIND_END,                /* nobody called this */
};

/* In return_address_offset: the return address is still in the link register (aarch64). In frame_pointer_offset: the
   caller's frame pointer is still in its register. */
#define UNWIND_IN_REGISTER INT16_MIN
/* In frame_pointer_offset: the caller's frame pointer lies where the own one points. */
#define UNWIND_AT_FRAME_POINTER (INT16_MIN + 1)

struct unwind_rule {
    uint8_t kind; /* enum unwind_kind */
    int8_t loaded_offset;
    int16_t frame_pointer_offset;  /* from the CFA */
    int16_t return_address_offset; /* from the CFA */
    int32_t cfa_offset;
};

static inline bool unwind_rule_equals(const struct unwind_rule *left, const struct unwind_rule *right)
{
    return left->kind == right->kind && left->loaded_offset == right->loaded_offset &&
           left->cfa_offset == right->cfa_offset &&
           left->frame_pointer_offset == right->frame_pointer_offset &&
           left->return_address_offset == right->return_address_offset;
}

#endif
