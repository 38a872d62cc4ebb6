#include "jvm_agent/vm/machine.h"

#include <errno.h>
#include <ucontext.h>

#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"
#include "symbols/return_address.h"

#define MAX_FRAME_BYTES 0x40000u
#define PROLOGUE_BYTES 256u
#define EPILOGUE_INSTRUCTIONS 10u
#define INSTRUCTION_BYTES 4u
#define OWN_CODE_BYTES 1024u

/* Whole instructions. */
#define RET 0xd65f03c0u
#define NOP 0xd503201fu
#define SVC_0 0xd4000001u
#define PUSH_FRAME 0xa9bf7bfdu        /* stp x29, x30, [sp, #-16]! */
#define POP_FRAME 0xa8c17bfdu         /* ldp x29, x30, [sp], #16 */
#define SET_FRAME 0x910003fdu         /* mov x29, sp */
#define DROP_PAIR 0x910043ffu         /* add sp, sp, #16 */
#define POP_SCRATCH 0xa8c133e8u       /* ldp x8, x12, [sp], #16 */
#define LOWER_BY_REGISTER 0xcb2863ffu /* sub sp, sp, x8 */
#define COMPARE_STACK 0xeb2863ffu     /* cmp sp, x8 */
#define COMPARE_FRAME 0xeb0803bfu     /* cmp x29, x8 */

enum { REGISTER_FP = 29, REGISTER_LINK = 30 };
/* HotSpot's use of registers. The interpreter has the sender's stack pointer in another one since JDK 19. */
enum { REGISTER_METHOD = 12, REGISTER_SENDER = 19, REGISTER_OLD_SENDER = 13, REGISTER_BYTECODE = 22 };
enum { NEW_SENDER_VERSION = 19 };

static uintptr_t reg(const void *context, int index)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.regs[index];
}

static uint32_t instruction(uintptr_t pc)
{
    return (uint32_t)load_int(pc);
}

uintptr_t machine_receiver(const void *context)
{
    return reg(context, 1);
}

uintptr_t machine_context_pc(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
}

void machine_registers(const void *context, struct frame_registers *registers, struct leaf_registers *leaf)
{
    registers->pc = machine_context_pc(context);
    registers->sp = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
    registers->fp = reg(context, REGISTER_FP);
    registers->link = machine_code_address(reg(context, REGISTER_LINK));
    leaf->method = reg(context, REGISTER_METHOD);
    leaf->sender_sp =
        reg(context, vm.major_version >= NEW_SENDER_VERSION ? REGISTER_SENDER : REGISTER_OLD_SENDER);
    leaf->bytecode = reg(context, REGISTER_BYTECODE);
    leaf->result = reg(context, 0);
}

void machine_own_registers(struct frame_registers *registers)
{
    uintptr_t *frame = __builtin_frame_address(0);
    registers->pc = machine_code_address((uintptr_t)__builtin_return_address(0));
    registers->sp = (uintptr_t)(frame + 2);
    registers->fp = frame[0];
    registers->link = 0;
}

static bool return_to_link(struct frame_registers *registers)
{
    if (registers->link == 0)
        return false;
    registers->pc = registers->link;
    registers->link = 0;
    return true;
}

/* A call of native code keeps two words below the frame until it is back. */
void machine_leave_frame(int frame_words, struct frame_registers *registers)
{
    uint32_t next = instruction(registers->pc & ~(uintptr_t)3);
    if (next == DROP_PAIR || next == POP_SCRATCH)
        registers->sp += 16;
    registers->sp += (uintptr_t)frame_words * 8;
    registers->fp = load_word(registers->sp - 16);
    registers->pc = machine_code_address(load_word(registers->sp - 8));
    registers->link = 0;
}

/* sub sp, sp, #bytes: the number of bytes, or 0. */
static uintptr_t lowered_bytes(uint32_t code)
{
    if ((code & 0xff8003ff) != 0xd10003ff)
        return 0;
    return (uintptr_t)(code >> 10 & 0xfff) << ((code & 0x400000) != 0 ? 12 : 0);
}

/* add sp, sp, #bytes */
static uintptr_t raised_bytes(uint32_t code)
{
    return (code & 0xff8003ff) == 0x910003ff ? lowered_bytes(code | 0x40000000) : 0;
}

/* stp x29, x30, [sp, #n] */
static bool saves_frame(uint32_t code)
{
    return (code & 0xffc07fff) == 0xa9007bfd;
}

/* ldp x29, x30, [sp, #n] */
static bool loads_frame(uint32_t code)
{
    return (code & 0xffc07fff) == 0xa9407bfd;
}

/* A frame that is being built: what the instructions before pc did. */
struct built_frame {
    uintptr_t bytes;
    bool saved; /* x29 and x30 are in its two top words */
    bool whole; /* of a size that is not in an instruction */
};

static struct built_frame frame_between(uintptr_t begin, uintptr_t pc)
{
    struct built_frame built = {0, false, false};
    for (uintptr_t at = begin; at + INSTRUCTION_BYTES <= pc; at += INSTRUCTION_BYTES) {
        uint32_t code = instruction(at);
        built.bytes += lowered_bytes(code);
        built.saved |= saves_frame(code);
        if (code == PUSH_FRAME) {
            built.bytes += 16;
            built.saved = true;
        }
        built.whole |= code == LOWER_BY_REGISTER;
    }
    return built;
}

/* Prologue of a compiled method: stack bang; sub sp, sp, #size; stp x29, x30, [sp, #size - 16]. Large frames, and
 * native methods: stp x29, x30, [sp, #-16]!; sub sp, sp, #size - 16, or x8. */
bool machine_leave_prologue(uintptr_t entry, int frame_words, struct frame_registers *registers)
{
    uintptr_t pc = registers->pc;
    if (pc <= entry || frame_words == 0)
        return return_to_link(registers);
    if (pc - entry > PROLOGUE_BYTES)
        return false;
    struct built_frame built = frame_between(entry, pc);
    if (built.whole) {
        machine_leave_frame(frame_words, registers);
    } else if (built.saved) {
        machine_leave_frame((int)(built.bytes / 8), registers);
    } else {
        registers->sp += built.bytes;
        return return_to_link(registers);
    }
    return true;
}

/* Between the frame and ret: the poll for a safepoint (ldr x8, [x28, #n]; cmp; b.hi, or before 17 ldr w, [x]), and
 * autiasp, nop and the like. */
static bool is_between_frame_and_return(uint32_t code)
{
    bool loads_poll = (code & 0xffc003ff) == 0xf9400388; /* ldr x8, [x28, #n] */
    bool polls = (code & 0xffc0001f) == 0xb940001f;      /* ldr wzr, [x] */
    bool hint = (code & 0xfffff01f) == NOP;
    bool branches = (code & 0xff00001f) == 0x54000008; /* b.hi */
    return loads_poll || polls || hint || branches || code == COMPARE_STACK || code == COMPARE_FRAME;
}

/* ldp x29, x30, [sp, #size - 16]; add sp, sp, #size; poll; ret. Large frames: add sp; ldp x29, x30, [sp], #16. */
bool machine_leave_epilogue(struct frame_registers *registers)
{
    struct frame_registers caller = *registers;
    if (caller.link == 0)
        return false;
    for (unsigned i = 0; i < EPILOGUE_INSTRUCTIONS; i++) {
        uint32_t code = instruction(registers->pc + (uintptr_t)i * INSTRUCTION_BYTES);
        if (code == RET) {
            *registers = caller;
            return return_to_link(registers);
        }
        if (loads_frame(code))
            return false; /* all before is still a complete frame */
        if (code == POP_FRAME) {
            caller.fp = load_word(caller.sp);
            caller.link = machine_code_address(load_word(caller.sp + 8));
            caller.sp += 16;
        } else if (raised_bytes(code) != 0) {
            caller.sp += raised_bytes(code);
        } else if (!is_between_frame_and_return(code)) {
            return false;
        }
    }
    return false;
}

static bool follow_frame_pointer(uintptr_t stack_end, struct frame_registers *registers)
{
    uintptr_t fp = registers->fp;
    if (fp < registers->sp || fp - registers->sp > MAX_FRAME_BYTES || fp + 16 > stack_end || (fp & 7) != 0)
        return false;
    registers->sp = fp + 16;
    registers->fp = load_word(fp);
    registers->pc = machine_code_address(load_word(fp + 8));
    registers->link = 0;
    return true;
}

/* bl or blr */
static bool is_after_call(uintptr_t pc)
{
    uint32_t code =
        (pc & 3) == 0 && is_plausible(pc & ~(uintptr_t)7) ? instruction(pc - INSTRUCTION_BYTES) : 0;
    return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000;
}

/* Stubs that call something push x29 and x30 first; the others leave the caller in x30. */
bool machine_leave_stub(uintptr_t begin, bool bare, uintptr_t stack_end, struct frame_registers *registers)
{
    uint32_t first = instruction(begin);
    bool leaf = registers->link != 0;
    if (leaf && (bare || registers->pc == begin || instruction(registers->pc) == RET))
        return return_to_link(registers);
    if (first == PUSH_FRAME && instruction(begin + INSTRUCTION_BYTES) == SET_FRAME) {
        if (registers->pc != begin + INSTRUCTION_BYTES)
            return follow_frame_pointer(stack_end, registers);
        registers->sp += 16;
        return return_to_link(registers);
    }
    if (!leaf || registers->pc < begin)
        return false;
    struct built_frame built = {0, false, false};
    if (registers->pc - begin <= PROLOGUE_BYTES)
        built = frame_between(begin, registers->pc);
    if (built.saved || built.whole || !is_after_call(registers->link))
        return false;
    registers->sp += built.bytes;
    return return_to_link(registers);
}

/* A function without a description that has called nothing, such as an entry of a table of imports: x30 is its caller.
 * After a call of its own it points into the function itself. */
bool machine_leave_native(uintptr_t stack_end, struct frame_registers *registers)
{
    uintptr_t link = registers->link;
    if (link != 0 && (link < registers->pc ? registers->pc - link : link - registers->pc) > OWN_CODE_BYTES &&
        is_after_call(link))
        return return_to_link(registers);
    return follow_frame_pointer(stack_end, registers);
}

bool machine_in_system_call(const struct frame_registers *registers, const struct leaf_registers *leaf)
{
    if (instruction(registers->pc) == SVC_0)
        return true; /* restarted by the kernel: pc is back on the instruction */
    return leaf->result == (uintptr_t)-EINTR && instruction(registers->pc - INSTRUCTION_BYTES) == SVC_0;
}

/* The floating-point registers are not kept: nothing under a fault point uses them. */
__asm__(".text\n"
        ".globl fault_point_set\n"
        ".hidden fault_point_set\n"
        ".type fault_point_set, %function\n"
        "fault_point_set:\n"
        "    stp x19, x20, [x0, #0]\n"
        "    stp x21, x22, [x0, #16]\n"
        "    stp x23, x24, [x0, #32]\n"
        "    stp x25, x26, [x0, #48]\n"
        "    stp x27, x28, [x0, #64]\n"
        "    mov x1, sp\n"
        "    stp x29, x30, [x0, #80]\n"
        "    str x1, [x0, #96]\n"
        "    mov w0, #0\n"
        "    ret\n"
        ".size fault_point_set, .-fault_point_set\n");

void fault_point_resume(const struct fault_point *point, void *context)
{
    mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
    for (int i = 0; i < 12; i++)
        registers->regs[REGISTER_SENDER + i] = point->saved[i]; /* x19 to x30 */
    registers->sp = point->saved[12];
    registers->pc = point->saved[11];
    registers->regs[0] = 1;
}
