#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "jvm_agent/vm/machine.h"

#include <errno.h>
#include <ucontext.h>

#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/vm_read.h"

#define MAX_FRAME_BYTES 0x40000u
#define PROLOGUE_BYTES 48u
#define OPCODE_RET 0xc3
#define OPCODE_POP_FRAME 0x5d
#define OPCODE_PUSH_FRAME 0x55

static uintptr_t greg(const void *context, int index)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[index];
}

uintptr_t machine_receiver(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSI];
}

uintptr_t machine_context_pc(const void *context)
{
    return greg(context, REG_RIP);
}

void machine_registers(const void *context, struct frame_registers *registers, struct leaf_registers *leaf)
{
    registers->pc = greg(context, REG_RIP);
    registers->sp = greg(context, REG_RSP);
    registers->fp = greg(context, REG_RBP);
    leaf->method = greg(context, REG_RBX);
    leaf->sender_sp = greg(context, REG_R13);
    leaf->bytecode = greg(context, REG_R13);
    leaf->result = greg(context, REG_RAX);
}

void machine_own_registers(struct frame_registers *registers)
{
    uintptr_t *frame = __builtin_frame_address(0);
    registers->pc = (uintptr_t)__builtin_return_address(0);
    registers->sp = (uintptr_t)(frame + 2);
    registers->fp = frame[0];
}

static void pop_return(struct frame_registers *registers)
{
    registers->pc = load_word(registers->sp);
    registers->sp += 8;
}

static void pop_frame_and_return(struct frame_registers *registers)
{
    registers->fp = load_word(registers->sp);
    registers->sp += 8;
    pop_return(registers);
}

void machine_leave_frame(int frame_words, struct frame_registers *registers)
{
    registers->sp += (uintptr_t)frame_words * 8;
    registers->fp = load_word(registers->sp - 16);
    registers->pc = load_word(registers->sp - 8);
}

/* sub rsp, imm8 or imm32 between entry and pc: the frame is complete. */
static bool has_lowered_stack(uintptr_t entry, uintptr_t pc)
{
    for (uintptr_t at = entry; at + 4 <= pc; at++)
        if (load_byte(at) == 0x48 && (load_byte(at + 1) & 0xfd) == 0x81 && load_byte(at + 2) == 0xec)
            return true;
    return false;
}

/* True if push rbp is between entry and pc. */
static bool has_pushed_frame(uintptr_t entry, uintptr_t pc)
{
    for (uintptr_t at = entry; at < pc; at++)
        if (load_byte(at) == OPCODE_PUSH_FRAME && (at + 1 == pc || load_byte(at + 1) == 0x48))
            return true;
    return false;
}

/* sub rsp, size; mov [rsp+size], rbp: between the two the frame pointer is still the caller's. */
static bool is_before_save(uintptr_t entry, uintptr_t pc)
{
    bool lowers =
        load_byte(entry) == 0x48 && (load_byte(entry + 1) & 0xfd) == 0x81 && load_byte(entry + 2) == 0xec;
    return lowers && pc == entry + (load_byte(entry + 1) == 0x81 ? 7 : 4);
}

/* Prologue of a compiled method: stack bang; push rbp; (native: mov rbp, rsp;) sub rsp, size. Small methods push
 * nothing and save the frame pointer with a move. */
bool machine_leave_prologue(uintptr_t entry, int frame_words, struct frame_registers *registers)
{
    uintptr_t pc = registers->pc, fp = registers->fp;
    if (pc <= entry || load_byte(pc) == OPCODE_PUSH_FRAME || frame_words == 0) {
        pop_return(registers);
        return true;
    }
    if (pc > entry + PROLOGUE_BYTES)
        return false;
    if (has_lowered_stack(entry, pc)) {
        machine_leave_frame(frame_words, registers);
        if (is_before_save(entry, pc))
            registers->fp = fp;
    } else if (has_pushed_frame(entry, pc)) {
        pop_frame_and_return(registers);
    } else {
        pop_return(registers);
    }
    return true;
}

/* A return polls for a safepoint between pop rbp and ret: cmp rsp, [r15+n]; ja (since 17), or mov r10, [r15+n];
 * test. */
static bool is_return_poll(uintptr_t pc)
{
    uint8_t first = load_byte(pc), second = load_byte(pc + 1), third = load_byte(pc + 2);
    if (first == 0x49 && second == 0x3b && (third == 0x67 || third == 0xa7))
        return load_byte(pc - 1) == OPCODE_POP_FRAME;
    if (first == 0x0f && second == 0x87)
        return load_byte(pc + 6) == OPCODE_RET;
    if (first == 0x4d && second == 0x8b && third == 0x97)
        return load_byte(pc - 1) == OPCODE_POP_FRAME;
    return first == 0x41 && second == 0x85 && third == 0x02 && load_byte(pc + 3) == OPCODE_RET;
}

bool machine_leave_epilogue(struct frame_registers *registers)
{
    uint8_t opcode = load_byte(registers->pc);
    if (opcode == OPCODE_RET || is_return_poll(registers->pc)) {
        pop_return(registers);
        return true;
    }
    if (opcode == OPCODE_POP_FRAME) {
        pop_frame_and_return(registers);
        return true;
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
    registers->pc = load_word(fp + 8);
    return true;
}

bool machine_leave_stub(uintptr_t begin, bool bare, uintptr_t stack_end, struct frame_registers *registers)
{
    if (bare || registers->pc == begin || load_byte(registers->pc) == OPCODE_RET) {
        pop_return(registers);
        return true;
    }
    /* push rbp; mov rbp, rsp */
    bool frames = load_byte(begin) == OPCODE_PUSH_FRAME && load_byte(begin + 1) == 0x48 &&
                  (load_byte(begin + 2) == 0x8b || load_byte(begin + 2) == 0x89);
    if (!frames)
        return false;
    if (registers->pc == begin + 1) {
        pop_frame_and_return(registers);
        return true;
    }
    return follow_frame_pointer(stack_end, registers);
}

bool machine_leave_native(uintptr_t stack_end, struct frame_registers *registers)
{
    return follow_frame_pointer(stack_end, registers);
}

bool machine_in_system_call(const struct frame_registers *registers, const struct leaf_registers *leaf)
{
    uintptr_t pc = registers->pc;
    if (load_byte(pc) == 0x0f && load_byte(pc + 1) == 0x05)
        return true; /* restarted by the kernel: pc is back on the syscall instruction */
    return leaf->result == (uintptr_t)-EINTR && load_byte(pc - 2) == 0x0f && load_byte(pc - 1) == 0x05;
}

__asm__(".text\n"
        ".globl fault_point_set\n"
        ".hidden fault_point_set\n"
        ".type fault_point_set, @function\n"
        "fault_point_set:\n"
        "    movq %rbx, 0(%rdi)\n"
        "    movq %rbp, 8(%rdi)\n"
        "    movq %r12, 16(%rdi)\n"
        "    movq %r13, 24(%rdi)\n"
        "    movq %r14, 32(%rdi)\n"
        "    movq %r15, 40(%rdi)\n"
        "    leaq 8(%rsp), %rdx\n"
        "    movq %rdx, 48(%rdi)\n"
        "    movq (%rsp), %rdx\n"
        "    movq %rdx, 56(%rdi)\n"
        "    xorl %eax, %eax\n"
        "    ret\n"
        ".size fault_point_set, .-fault_point_set\n");

void fault_point_resume(const struct fault_point *point, void *context)
{
    static const int kept[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RSP, REG_RIP};
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
#ifdef __SANITIZE_ADDRESS__
    /* AddressSanitizer has marked the memory of the frames that are left. */
    uintptr_t stack = (uintptr_t)registers[REG_RSP];
    __asan_unpoison_memory_region((void *)stack, point->saved[6] - stack);
#endif
    for (int i = 0; i < 8; i++)
        registers[kept[i]] = (greg_t)point->saved[i];
    registers[REG_RAX] = 1;
}
