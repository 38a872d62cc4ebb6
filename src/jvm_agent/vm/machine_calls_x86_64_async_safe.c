#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "base/attributes.h"
#include "jvm_agent/vm/machine.h"
#include "jvm_agent/vm/vm_read.h"

#define SEARCHED_BYTES 48u
#define CALL_BYTES 2u /* 0f 05 */
#define NUMBER_LIMIT 1024u
#define REGISTER_AX 0u
#define REGISTER_DI 7u

static const int argument_registers[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

/* Size of the ModRM byte and its operands. */
static unsigned operand_bytes(const uint8_t *at)
{
    unsigned mode = at[0] >> 6, low = at[0] & 7;
    unsigned bytes = mode == 1 ? 2 : mode == 2 ? 5 : 1;
    if (mode == 3)
        return bytes;
    if (low == 4)
        return bytes + 1 + (mode == 0 && (at[1] & 7) == 5 ? 4 : 0);
    return bytes + (mode == 0 && low == 5 ? 4 : 0);
}

/* Size of a simple instruction that prepares arguments: moves between registers, memory and constants. 0: another
 * instruction, or one that changes the register `kept`. */
static unsigned move_bytes(const uint8_t *code, unsigned kept)
{
    unsigned prefix = (code[0] & 0xf0) == 0x40;
    unsigned rex = prefix ? code[0] : 0;
    const uint8_t *at = code + prefix;
    unsigned operand = prefix + 1 + operand_bytes(at + 1);
    unsigned reg = ((at[1] >> 3) & 7) | (rex & 4) << 1, low = (at[1] & 7) | (rex & 1) << 3;
    bool changes_low = at[1] >> 6 == 3 && low == kept;
    switch (at[0]) {
    case 0x89: /* mov to register or memory */
    case 0x31: /* xor */
        return changes_low ? 0 : operand;
    case 0x8b: /* mov from register or memory */
    case 0x8d: /* lea */
    case 0x33: /* xor */
    case 0x63: /* movslq */
        return reg == kept ? 0 : operand;
    case 0x85: /* test */
    case 0x39: /* cmp */
    case 0x3b:
        return operand;
    case 0xc7: /* mov of an immediate */
        return changes_low ? 0 : operand + 4;
    default:
        break;
    }
    if ((at[0] & 0xf8) == 0xb8 && (rex & 8) == 0)
        return ((at[0] & 7u) | (rex & 1) << 3) == kept ? 0 : prefix + 5;
    return 0;
}

/* True if there are only such instructions from `at` to the end. */
static bool leads_to_end(const uint8_t *code, unsigned at, unsigned end, unsigned kept)
{
    while (at < end) {
        unsigned bytes = move_bytes(code + at, kept);
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return at == end;
}

/* The value that the code right before `end` sets a register to: mov $constant, register, or xor register, register. */
static int find_constant(uintptr_t end_address, unsigned wanted)
{
    uint8_t code[SEARCHED_BYTES + 16];
    const unsigned end = SEARCHED_BYTES;
    memset(code, 0, sizeof(code));
    for (unsigned i = 0; i < end; i++)
        code[i] = load_byte(end_address - end + i);
    for (unsigned at = end - 2; at > 0; at--) {
        bool extended = (code[at - 1] & 0xf1) == 0x41 || (code[at - 1] & 0xf8) == 0x48;
        uint32_t constant = 0;
        unsigned next = at + 2;
        if (code[at] == 0xb8 + wanted && !extended) {
            memcpy(&constant, code + at + 1, sizeof(constant));
            next = at + 5;
        } else if (code[at] != 0x31 || code[at + 1] != 0xc0 + wanted * 9 || extended) {
            continue;
        }
        if (constant < NUMBER_LIMIT && next <= end && leads_to_end(code, next, end, wanted))
            return (int)constant;
    }
    return -1;
}

/* libc's syscall(): all arguments are shifted by one, so the number is set by its caller. */
static bool is_general_call(uintptr_t pc)
{
    static const uint8_t code[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6,
                                   0x48, 0x89, 0xca, 0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8,
                                   0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05};
    for (size_t i = 0; i < sizeof(code); i++)
        if (load_byte(pc - sizeof(code) + i) != code[i])
            return false;
    return true;
}

/* The number is no longer in its register. */
static int find_number(uintptr_t pc, uintptr_t sp)
{
    int number = find_constant(pc - CALL_BYTES, REGISTER_AX);
    if (number >= 0 || !is_general_call(pc))
        return number;
    uintptr_t caller = load_word(sp);
    if (load_byte(caller - 5) == 0xe8) /* call relative */
        return find_constant(caller - 5, REGISTER_DI);
    if (load_byte(caller - 6) == 0xff && load_byte(caller - 5) == 0x15) /* call through a table */
        return find_constant(caller - 6, REGISTER_DI);
    return -1;
}

intptr_t machine_result(const void *context)
{
    return (intptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RAX];
}

void machine_set_result(void *context, intptr_t result)
{
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = (greg_t)result;
}

bool machine_ended_call(const void *context, struct ended_call *call)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    call->pc = (uintptr_t)registers[REG_RIP];
    call->sp = (uintptr_t)registers[REG_RSP];
    if (registers[REG_RAX] != -EINTR || load_byte(call->pc - 2) != 0x0f || load_byte(call->pc - 1) != 0x05)
        return false;
    for (size_t i = 0; i < COUNT_OF(argument_registers); i++)
        call->arguments[i] = (uintptr_t)registers[argument_registers[i]];
    call->number = find_number(call->pc, call->sp);
    return true;
}

void machine_repeat_call(void *context, const struct ended_call *call)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    for (size_t i = 0; i < COUNT_OF(argument_registers); i++)
        registers[argument_registers[i]] = (greg_t)call->arguments[i];
    registers[REG_RAX] = call->number;
    registers[REG_RIP] = (greg_t)(call->pc - CALL_BYTES);
}
