#include "jvm_agent/native_unwind.h"

#include <stddef.h>

#include "jvm_agent/native_modules.h"
#include "jvm_agent/vm_read.h"

struct module_map native_modules;

/* Faults lead back to the walk's fault point. */
static bool read_word(void *context, uint64_t address, uint64_t *value)
{
    uintptr_t stack_end = *(const uintptr_t *)context;
    if (address < 0x1000 || address + 8 > stack_end)
        return false;
    *value = load_word((uintptr_t)address);
    return true;
}

static bool step(const struct module *module, uint64_t pc, struct frame_registers *registers,
                 bool interrupted, uintptr_t stack_end)
{
    const struct unwind_rule *rule = module == NULL ? NULL : module_find_rule(module, pc);
    struct unwind_registers state = {registers->pc, registers->sp, registers->fp, 0, interrupted};
    struct unwind_memory memory = {read_word, &stack_end};
    if (rule == NULL || rule->kind == UNWIND_NONE)
        return machine_leave_native(stack_end, registers);
    if (unwind_step(rule, &state, &memory) != UNWIND_STEPPED)
        return false;
    *registers = (struct frame_registers){(uintptr_t)state.pc, (uintptr_t)state.sp, (uintptr_t)state.fp};
    return true;
}

/* A return address may lie behind its function's end, when that function never returns. */
bool native_unwind(struct frame_registers *registers, bool interrupted, uintptr_t stack_end,
                   uintptr_t *function)
{
    uint64_t pc = interrupted ? registers->pc : registers->pc - 1;
    const struct module *module = module_map_find(&native_modules, pc);
    struct symbol_match match;
    *function = 0;
    if (module != NULL && module_find_symbol(module, pc, &match))
        *function = (uintptr_t)(match.start + module->bias);
    return step(module, pc, registers, interrupted, stack_end);
}
