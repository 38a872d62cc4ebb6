/* Steps from frame to frame: may run inside a signal handler. */
#include "symbols/module_map.h"
#include "symbols/return_address.h"
#include "symbols/unwind_table.h"

const struct unwind_rule unwind_by_frame_pointer = {
    .kind = UNWIND_FRAME_POINTER, .cfa_offset = 16, .frame_pointer_offset = -16, .return_address_offset = -8};

static bool load(const struct unwind_memory *memory, uint64_t address, uint64_t *value)
{
    return address % 8 == 0 && memory->read(memory->context, address, value);
}

#if defined(__aarch64__)
/* The kernel's rt_sigframe: siginfo (128 bytes), ucontext; regs start 184 bytes into the latter. */
enum {
    SIGNAL_FP = 128 + 184 + 29 * 8,
    SIGNAL_LINK = 128 + 184 + 30 * 8,
    SIGNAL_SP = 128 + 184 + 31 * 8,
    SIGNAL_PC = 128 + 184 + 32 * 8
};
#else
/* The stack pointer stands at the ucontext; its general registers start at byte 40. */
enum { SIGNAL_FP = 40 + 10 * 8, SIGNAL_LINK = SIGNAL_FP, SIGNAL_SP = 40 + 15 * 8, SIGNAL_PC = 40 + 16 * 8 };
#endif

static enum unwind_result step_signal(struct unwind_registers *registers, const struct unwind_memory *memory)
{
    struct unwind_registers caller = {.interrupted = true};
    uint64_t sp = registers->sp;
    if (!load(memory, sp + SIGNAL_FP, &caller.fp) || !load(memory, sp + SIGNAL_SP, &caller.sp) ||
        !load(memory, sp + SIGNAL_PC, &caller.pc) || !load(memory, sp + SIGNAL_LINK, &caller.link))
        return UNWIND_FAILED;
    if (caller.pc == 0)
        return UNWIND_FINISHED;
    *registers = caller; /* may be another stack: sigaltstack */
    return UNWIND_STEPPED;
}

static bool frame_address(const struct unwind_rule *rule, const struct unwind_registers *registers,
                          const struct unwind_memory *memory, uint64_t *cfa)
{
    uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
    switch (rule->kind) {
    case UNWIND_STACK_POINTER:
        *cfa = registers->sp + offset;
        return true;
    case UNWIND_FRAME_POINTER:
        *cfa = registers->fp + offset;
        return true;
    case UNWIND_FRAME_POINTER_LOAD:
    case UNWIND_STACK_POINTER_LOAD:
        if (!load(memory, (rule->kind == UNWIND_STACK_POINTER_LOAD ? registers->sp : registers->fp) + offset,
                  cfa))
            return false;
        *cfa += (uint64_t)(int64_t)rule->loaded_offset;
        return true;
    case UNWIND_PLT:
        *cfa = registers->sp + 8 + ((registers->pc & 15) >= offset ? 8 : 0);
        return true;
    default:
        return false;
    }
}

static bool caller_frame_pointer(const struct unwind_rule *rule, const struct unwind_registers *registers,
                                 const struct unwind_memory *memory, uint64_t cfa, uint64_t *fp)
{
    if (rule->frame_pointer_offset == UNWIND_IN_REGISTER)
        return true;
    if (rule->frame_pointer_offset == UNWIND_AT_FRAME_POINTER)
        return load(memory, registers->fp, fp);
    uint64_t address = cfa + (uint64_t)(int64_t)rule->frame_pointer_offset;
    /* Compilers do not say that an epilogue's pop has brought it back; below the stack pointer nothing is kept. */
    return address < registers->sp || load(memory, address, fp);
}

enum unwind_result unwind_step(const struct unwind_rule *rule, struct unwind_registers *registers,
                               const struct unwind_memory *memory)
{
    uint64_t cfa;
    struct unwind_registers caller = {.fp = registers->fp};
    if (rule->kind == UNWIND_END)
        return UNWIND_FINISHED;
    if (rule->kind == UNWIND_SIGNAL)
        return step_signal(registers, memory);
    if (!frame_address(rule, registers, memory, &cfa) || cfa % 8 != 0)
        return UNWIND_FAILED;
    bool in_link = rule->return_address_offset == UNWIND_IN_REGISTER;
    /* A leaf of aarch64 may have no frame; in all other cases the stack pointer must change. */
    if (cfa < registers->sp || (cfa == registers->sp && !(in_link && registers->interrupted)))
        return UNWIND_FAILED;
    if (in_link)
        caller.pc = registers->link;
    else if (!load(memory, cfa + (uint64_t)(int64_t)rule->return_address_offset, &caller.pc))
        return UNWIND_FAILED;
    caller.pc = return_address_plain(caller.pc);
    if (!caller_frame_pointer(rule, registers, memory, cfa, &caller.fp))
        return UNWIND_FAILED;
    if (caller.pc == 0)
        return UNWIND_FINISHED;
    caller.sp = cfa;
    *registers = caller;
    return UNWIND_STEPPED;
}

static const struct unwind_rule *find_rule(const struct module_map *map,
                                           const struct unwind_registers *registers)
{
    uint64_t address = registers->pc - (registers->interrupted ? 0 : 1);
    const struct module *module = module_map_find(map, address);
    return module == NULL ? NULL : module_find_rule(module, address);
}

size_t unwind_walk(const struct module_map *map, struct unwind_registers registers,
                   const struct unwind_memory *memory, uint64_t *pcs, size_t limit)
{
    size_t count = 0;
    while (count < limit) {
        pcs[count++] = registers.pc;
        const struct unwind_rule *rule = find_rule(map, &registers);
        if (unwind_step(rule == NULL ? &unwind_by_frame_pointer : rule, &registers, memory) != UNWIND_STEPPED)
            break;
        if (registers.pc < 4096)
            break;
    }
    return count;
}
