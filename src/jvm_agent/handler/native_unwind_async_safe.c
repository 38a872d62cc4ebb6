#include "jvm_agent/handler/native_unwind.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/hash.h"
#include "jvm_agent/vm/native_modules.h"
#include "jvm_agent/vm/vm_read.h"

struct module_map native_modules;

/* Faults return to the walk's fault point. */
static bool read_word(void *context, uint64_t address, uint64_t *value)
{
    uintptr_t stack_end = *(const uintptr_t *)context;
    if (address < 0x1000 || address + 8 > stack_end)
        return false;
    *value = load_word((uintptr_t)address);
    return true;
}

#define NATIVE_PLACES 4096u

/* Results of both searches for an address, for one index of modules. */
struct native_place {
    _Atomic uint32_t turn; /* odd during a change */
    uint64_t index;        /* its number; 0: there was none */
    uint64_t address;
    uint64_t function;
    const struct unwind_rule *rule;
};

static struct native_place native_places[NATIVE_PLACES];

/* Touches the pages, so that handlers cause no page faults. */
void native_unwind_prepare(void)
{
    for (size_t i = 0; i < NATIVE_PLACES; i++)
        atomic_fetch_add(&native_places[i].turn, 0);
}

static struct native_place *place_of(uint64_t address)
{
    return &native_places[hash_u64(address) & (NATIVE_PLACES - 1)];
}

__attribute__((no_sanitize("thread"))) static bool find_known(uint64_t address, uint64_t index,
                                                              struct native_place *found)
{
    const struct native_place *place = place_of(address);
    uint32_t turn = atomic_load_explicit(&place->turn, memory_order_acquire);
    found->function = place->function;
    found->rule = place->rule;
    bool same = (turn & 1) == 0 && place->address == address && place->index == index && index != 0;
    atomic_thread_fence(memory_order_acquire);
    return same && atomic_load_explicit(&place->turn, memory_order_relaxed) == turn;
}

__attribute__((no_sanitize("thread"))) static void remember(const struct native_place *found)
{
    struct native_place *place = place_of(found->address);
    uint32_t turn = atomic_load_explicit(&place->turn, memory_order_relaxed);
    if ((turn & 1) != 0 || !atomic_compare_exchange_strong(&place->turn, &turn, turn + 1))
        return;
    atomic_thread_fence(memory_order_release);
    place->index = found->index;
    place->address = found->address;
    place->function = found->function;
    place->rule = found->rule;
    atomic_store_explicit(&place->turn, turn + 2, memory_order_release);
}

/* Tables may still be loading: only successful searches are cached. */
static void look_up(struct native_place *found)
{
    const struct module *module = module_map_find(&native_modules, found->address);
    struct symbol_match match;
    found->function = 0;
    found->rule = module == NULL ? NULL : module_find_rule(module, found->address);
    if (module != NULL && module_find_symbol(module, found->address, &match))
        found->function = match.start + module->bias;
    if (found->function != 0 && found->rule != NULL)
        remember(found);
}

static bool step(const struct unwind_rule *rule, struct frame_registers *registers, bool interrupted,
                 uintptr_t stack_end)
{
    struct unwind_registers state = {registers->pc, registers->sp, registers->fp, machine_link(registers),
                                     interrupted};
    struct unwind_memory memory = {read_word, &stack_end};
    if (rule == NULL || rule->kind == UNWIND_NONE)
        return machine_leave_native(stack_end, registers);
    if (unwind_step(rule, &state, &memory) != UNWIND_STEPPED)
        return false;
    *registers = (struct frame_registers){
        .pc = (uintptr_t)state.pc, .sp = (uintptr_t)state.sp, .fp = (uintptr_t)state.fp};
    return true;
}

/* A return address may be after the end of its function, if the call never returns. */
bool native_unwind(struct frame_registers *registers, bool interrupted, uintptr_t stack_end,
                   uintptr_t *function)
{
    struct native_place found = {.address = interrupted ? registers->pc : registers->pc - 1};
    const struct module_index *index = __atomic_load_n(&native_modules.index, __ATOMIC_ACQUIRE);
    found.index = index == NULL ? 0 : index->number;
    if (!find_known(found.address, found.index, &found))
        look_up(&found);
    *function = (uintptr_t)found.function;
    return step(found.rule, registers, interrupted, stack_end);
}
