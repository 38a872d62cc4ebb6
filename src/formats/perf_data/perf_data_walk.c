#include "formats/perf_data/perf_data_walk.h"

#define LEAST_ADDRESS 4096

static bool read_copy(void *context, uint64_t address, uint64_t *value)
{
    const struct perf_data_sample *sample = context;
    uint64_t offset = address - sample->sp;
    if (address < sample->sp || sample->stack.size < sizeof(*value) ||
        offset > sample->stack.size - sizeof(*value))
        return false;
    memcpy(value, sample->stack.data + offset, sizeof(*value));
    return true;
}

void perf_data_walk(struct perf_data_walk *walk, struct perf_data_names *names,
                    const struct perf_data_sample *sample)
{
    struct perf_data_sample copy = *sample;
    const struct unwind_memory memory = {read_copy, &copy};
    struct unwind_registers registers = {
        .pc = sample->pc, .sp = sample->sp, .fp = sample->fp, .link = sample->link, .interrupted = true};
    enum unwind_result result = UNWIND_STEPPED;
    walk->count = 0;
    while (result == UNWIND_STEPPED && walk->count < PERF_DATA_WALK_FRAMES && registers.pc >= LEAST_ADDRESS) {
        uint64_t address = registers.pc - (registers.interrupted ? 0 : 1);
        struct perf_data_location location = perf_data_locate(names, sample->pid, address, false);
        if (walk->count > 0 && location.module == NO_FILE && !location.is_generated)
            break; /* what was taken for a frame is none */
        walk->addresses[walk->count++] = address;
        const struct unwind_rule *rule = perf_data_rule(names, &location);
        result = unwind_step(rule == NULL ? &unwind_by_frame_pointer : rule, &registers, &memory);
    }
}
