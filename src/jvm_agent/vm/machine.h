/*
 * machine.h - processor-specific parts: registers of an interrupted thread, and how generated code builds and leaves
 * its frames. One file per architecture implements it.
 */
#ifndef JVM_AGENT_MACHINE_H
#define JVM_AGENT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/vm/vm_read.h"
#include "symbols/return_address.h"

struct frame_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
#if defined(__aarch64__)
    uintptr_t link; /* x30 of the interrupted frame; 0: unknown, since it called something */
#endif
};

/* Registers beyond the three, known for the interrupted frame only. */
struct leaf_registers {
    uintptr_t method;    /* the interpreter's callee during method entry */
    uintptr_t sender_sp; /* the caller's stack pointer during method entry */
    uintptr_t bytecode;  /* the interpreter's bytecode pointer */
    uintptr_t result;    /* of a system call */
};

struct fault_point;

/* HotSpot's frames: slots are in words from the frame pointer, 0: the JVM's tables have it. */
#if defined(__aarch64__)
enum {
    MACHINE_BYTECODE_SLOT = -9, /* the interpreter's bytecode pointer */
    MACHINE_SENDER_SLOT = -1,   /* the stack pointer of its caller */
    MACHINE_FRAMES_OVERLAP =
        1, /* a callee's frame may begin above the stack pointer of its interpreted caller */
    MACHINE_WRAPPER_SLOT = -8, /* the JavaCallWrapper in the frame of the call stub */
    MACHINE_CALL_BYTES = 0,    /* pushed by a call */
};
#else
enum {
    MACHINE_BYTECODE_SLOT = -8,
    MACHINE_SENDER_SLOT = 0,
    MACHINE_FRAMES_OVERLAP = 0,
    MACHINE_WRAPPER_SLOT = 0,
    MACHINE_CALL_BYTES = 8,
};
#endif

/* A return address without the processor's signature. */
static inline uintptr_t machine_code_address(uintptr_t address)
{
    return (uintptr_t)return_address_plain(address);
}

/* The caller of code that has no frame and has called nothing yet; under a fault point. */
static inline uintptr_t machine_return_address(const struct frame_registers *registers)
{
#if defined(__aarch64__)
    return registers->link;
#else
    return load_word(registers->sp);
#endif
}

static inline uintptr_t machine_link(const struct frame_registers *registers)
{
#if defined(__aarch64__)
    return registers->link;
#else
    return 0;
#endif
}

static inline void machine_set_link(struct frame_registers *registers, uintptr_t link)
{
#if defined(__aarch64__)
    registers->link = link;
#endif
}

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
