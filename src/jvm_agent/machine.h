/*
 * machine.h - what depends on the processor: registers of an interrupted thread, and how generated code builds and
 * leaves its frames. One file per architecture implements it.
 */
#ifndef JVM_AGENT_MACHINE_H
#define JVM_AGENT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct frame_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
};

/* Registers beyond the three that only the interrupted frame has. */
struct leaf_registers {
    uintptr_t method;    /* the interpreter's callee while it enters a method */
    uintptr_t sender_sp; /* the caller's stack pointer then */
    uintptr_t bytecode;  /* the interpreter's place in the bytecodes */
    uintptr_t result;    /* a system call's */
};

struct fault_point;

void machine_registers(const void *context, struct frame_registers *registers, struct leaf_registers *leaf);
/* The caller's registers, for a walk that begins in the agent's own function. */
__attribute__((noinline)) void machine_own_registers(struct frame_registers *registers);

/* Compiled code: true when the frame is being built or torn down at pc, and `registers` are now the caller's. */
bool machine_leave_prologue(uintptr_t entry, int frame_words, struct frame_registers *registers);
bool machine_leave_epilogue(struct frame_registers *registers);
/* A complete frame of `frame_words`, return address included. */
void machine_leave_frame(int frame_words, struct frame_registers *registers);
/* Generated code without a description. `bare` says that it never builds a frame. */
bool machine_leave_stub(uintptr_t begin, bool bare, uintptr_t stack_end, struct frame_registers *registers);
/* Native code with a frame pointer. */
bool machine_leave_native(uintptr_t stack_end, struct frame_registers *registers);
/* True when the thread was interrupted in a system call that waits, or is about to go back into it. */
bool machine_in_system_call(const struct frame_registers *registers, const struct leaf_registers *leaf);

/* Like setjmp(): 0 at first, 1 when a fault came back here. */
int fault_point_set(struct fault_point *point) __attribute__((returns_twice));
/* Makes the interrupted context continue at the point. */
void fault_point_resume(const struct fault_point *point, void *context);
uintptr_t machine_context_pc(const void *context);
/* The object whose method is being called, in a stub that looks the method up. */
uintptr_t machine_receiver(const void *context);

#endif
