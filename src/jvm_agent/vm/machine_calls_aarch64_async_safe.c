#include <errno.h>
#include <ucontext.h>

#include "base/attributes.h"
#include "jvm_agent/vm/machine.h"
#include "jvm_agent/vm/vm_read.h"

#define SVC_0 0xd4000001u
#define CALL_BYTES 4u
#define SEARCHED_INSTRUCTIONS 12u
#define NUMBER_LIMIT 1024u
#define NO_REGISTER (-1)

enum { REGISTER_NUMBER = 8, REGISTER_ZERO = 31 };

intptr_t machine_result(const void *context)
{
    return (intptr_t)((const ucontext_t *)context)->uc_mcontext.regs[0];
}

void machine_set_result(void *context, intptr_t result)
{
    ((ucontext_t *)context)->uc_mcontext.regs[0] = (uint64_t)result;
}

/* mov x0, xN, mov w0, wN or sxtw x0, wN: N. */
static int copied_register(uint32_t code)
{
    int from = (int)(code >> 16 & 31);
    if ((code & 0x7fe0ffff) == 0x2a0003e0)
        return from == REGISTER_ZERO ? NO_REGISTER : from;
    return (code & 0xfffffc1f) == 0x93407c00 ? (int)(code >> 5 & 31) : NO_REGISTER;
}

static bool is_wide(uint32_t code)
{
    return (code & 0x80000000) != 0;
}

static bool is_signed(uint32_t code)
{
    return (code & 0xfffffc1f) == 0x93407c00;
}

/* Branches, calls, exceptions and system instructions, but nop and hints. */
static bool is_control(uint32_t code)
{
    return (code & 0x1c000000) == 0x14000000 && (code & 0xfffff01f) != 0xd503201f;
}

/* Loads of a pair write the register in bits 10 to 14, too. Stores write none, and count as if they did. */
static bool may_write(uint32_t code, int wanted)
{
    bool pair = (code & 0x3a000000) == 0x28000000;
    return (int)(code & 31) == wanted || (pair && (int)(code >> 10 & 31) == wanted);
}

static bool is_kept(uintptr_t from, uintptr_t end, int wanted)
{
    for (uintptr_t at = from; at < end; at += CALL_BYTES)
        if (may_write((uint32_t)load_int(at), wanted))
            return false;
    return true;
}

/* The result has replaced the first argument. libc's functions copy it from another register right before the call,
 * which still has it. */
static bool find_first_argument(uintptr_t pc, const uint64_t *registers, uintptr_t *argument)
{
    uintptr_t svc = pc - CALL_BYTES;
    for (unsigned i = 1; i <= SEARCHED_INSTRUCTIONS; i++) {
        uintptr_t at = svc - (uintptr_t)i * CALL_BYTES;
        uint32_t code = (uint32_t)load_int(at);
        int from = copied_register(code);
        if (from > 0) {
            uint64_t value = registers[from];
            if (is_signed(code))
                value = (uint64_t)(int64_t)(int32_t)value;
            *argument = (uintptr_t)(is_wide(code) ? value : (uint32_t)value);
            return is_kept(at + CALL_BYTES, svc, from);
        }
        if (is_control(code) || may_write(code, 0))
            return false;
    }
    return false;
}

bool machine_ended_call(const void *context, struct ended_call *call)
{
    const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;
    call->pc = (uintptr_t)registers->pc;
    call->sp = (uintptr_t)registers->sp;
    if ((int64_t)registers->regs[0] != -EINTR || (uint32_t)load_int(call->pc - CALL_BYTES) != SVC_0)
        return false;
    for (size_t i = 1; i < COUNT_OF(call->arguments); i++)
        call->arguments[i] = (uintptr_t)registers->regs[i];
    uint64_t number = registers->regs[REGISTER_NUMBER];
    uintptr_t first = 0;
    bool known =
        number < NUMBER_LIMIT && find_first_argument(call->pc, (const uint64_t *)registers->regs, &first);
    call->arguments[0] = first;
    call->number = known ? (int)number : -1;
    return true;
}

void machine_repeat_call(void *context, const struct ended_call *call)
{
    mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
    for (size_t i = 0; i < COUNT_OF(call->arguments); i++)
        registers->regs[i] = call->arguments[i];
    registers->regs[REGISTER_NUMBER] = (uint64_t)call->number;
    registers->pc = call->pc - CALL_BYTES;
}
