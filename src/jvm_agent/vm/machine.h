/*
 * machine.h - processor-specific parts: registers of an interrupted thread, and how generated code builds and leaves
 * its frames. One file per architecture implements it.
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

/* Registers beyond the three, known for the interrupted frame only. */
struct leaf_registers {
    uintptr_t method;    /* the interpreter's callee during method entry */
    uintptr_t sender_sp; /* the caller's stack pointer during method entry */
    uintptr_t bytecode;  /* the interpreter's bytecode pointer */
    uintptr_t result;    /* of a system call */
};

struct fault_point;

void machine_registers(const void *context, struct frame_registers *registers, struct leaf_registers *leaf);
/* The caller's registers, for a walk that starts in the agent's own function. */
__attribute__((noinline)) void machine_own_registers(struct frame_registers *registers);

/* Compiled code: true if the frame is being built or torn down at pc; `registers` are then the caller's. */
bool machine_leave_prologue(uintptr_t entry, int frame_words, struct frame_registers *registers);
bool machine_leave_epilogue(struct frame_registers *registers);
/* A complete frame of `frame_words`, return address included. */
void machine_leave_frame(int frame_words, struct frame_registers *registers);
/* Generated code without a description. `bare`: it never builds a frame. */
bool machine_leave_stub(uintptr_t begin, bool bare, uintptr_t stack_end, struct frame_registers *registers);
/* Native code with a frame pointer. */
bool machine_leave_native(uintptr_t stack_end, struct frame_registers *registers);
/* True if the thread was interrupted in a blocking system call, or is about to restart it. */
bool machine_in_system_call(const struct frame_registers *registers, const struct leaf_registers *leaf);

/* A system call that a signal interrupted: its result is -EINTR. */
struct ended_call {
    uintptr_t pc, sp;
    uintptr_t arguments[6];
    int number; /* -1: unknown */
};

intptr_t machine_result(const void *context);
void machine_set_result(void *context, intptr_t result);
/* True if the interrupted thread is right after such a call. Reads the code before it: under a fault point. */
bool machine_ended_call(const void *context, struct ended_call *call);
/* Makes the interrupted thread repeat the call with these arguments. */
void machine_repeat_call(void *context, const struct ended_call *call);

/* Like setjmp(): 0 at first, 1 after a fault. */
int fault_point_set(struct fault_point *point) __attribute__((returns_twice));
/* Makes the interrupted context continue at the fault point. */
void fault_point_resume(const struct fault_point *point, void *context);
uintptr_t machine_context_pc(const void *context);
/* The receiver of the call, in a stub that looks up the method. */
uintptr_t machine_receiver(const void *context);

#endif
