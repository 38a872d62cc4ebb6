#include "python_sampler/python_pulse.h"

/* Interval of the search for new interpreters if it needs a separate read. */
#define HEADS_POLL_NS INT64_C(50000000)
/* Interval of reading the count of code objects if it is a separate range. */
#define GENERATION_POLL_NS INT64_C(1000000)

static bool add_words(struct python_process *process, uint64_t base, uint32_t offset, size_t size)
{
    return offset == NO_OFFSET || base == 0 || span_set_add(&process->pulse, base + offset, size, 0);
}

/* Up to 3.11 it is next to other words that are needed. */
static bool has_head_in_pulse(const struct python_layout *layout)
{
    return layout->runtime.current_thread != NO_OFFSET;
}

/* Only in 3.13 the count of code objects is far from everything else. */
static bool has_generation_in_pulse(const struct python_layout *layout)
{
    return layout->code.version == 0 && layout->interpreter.code_generation != NO_OFFSET;
}

/* Up to 3.12 a program may switch to another interpreter without taking the GIL again. */
static void find_shared_gils(struct python_process *process)
{
    for (size_t i = 0; i < process->interpreter_count; i++) {
        struct python_interpreter *interpreter = &process->interpreters[i];
        interpreter->shares_gil = false;
        for (size_t k = 0; k < process->interpreter_count; k++) {
            if (k != i && process->interpreters[k].gil == interpreter->gil)
                interpreter->shares_gil = true;
        }
    }
}

bool python_pulse_build(struct python_process *process)
{
    const struct python_layout *layout = &process->runtime.layout;
    uint64_t runtime = process->runtime.address;
    find_shared_gils(process);
    span_set_clear(&process->pulse);
    process->next_generation_ns = 0;
    if (has_generation_in_pulse(layout) && process->interpreter_count == 1 &&
        !add_words(process, process->interpreters[0].address, layout->interpreter.code_generation, 8))
        return false;
    bool fits =
        (!has_head_in_pulse(layout) || add_words(process, runtime, layout->runtime.interpreters_head, 8)) &&
        add_words(process, runtime, layout->runtime.current_thread, 8) &&
        add_words(process, runtime, layout->runtime.collecting, 4);
    for (size_t i = 0; fits && i < process->interpreter_count; i++) {
        const struct python_interpreter *interpreter = &process->interpreters[i];
        fits = add_words(process, interpreter->address, layout->interpreter.threads_head, 8) &&
               add_words(process, interpreter->address, layout->interpreter.collecting, 4) &&
               add_words(process, interpreter->gil, layout->gil.holder, 8) &&
               add_words(process, interpreter->gil, layout->gil.locked, 4) &&
               add_words(process, interpreter->gil, layout->gil.switches, 8);
    }
    return fits;
}

static void plan_generation(struct python_process *process, struct memory_batch *batch, int64_t now_ns)
{
    uint32_t offset = process->runtime.layout.interpreter.code_generation;
    process->has_generation = false;
    if (offset == NO_OFFSET || has_generation_in_pulse(&process->runtime.layout) ||
        process->interpreter_count != 1 || now_ns < process->next_generation_ns)
        return;
    process->next_generation_ns = now_ns + GENERATION_POLL_NS;
    process->has_generation =
        memory_batch_add(batch, process->interpreters[0].address + offset, 8, &process->generation_at);
}

bool python_pulse_plan(struct python_process *process, struct memory_batch *batch, int64_t now_ns, size_t *at)
{
    const struct python_layout *layout = &process->runtime.layout;
    uint64_t head = process->runtime.address + layout->runtime.interpreters_head;
    for (size_t i = 0; i < process->interpreter_count; i++)
        process->interpreters[i].again_at = 0;
    process->has_head = false;
    if (!memory_batch_add_spans(batch, &process->pulse, at))
        return false;
    if (!has_head_in_pulse(layout) && now_ns >= process->next_head_ns) {
        process->next_head_ns = now_ns + HEADS_POLL_NS;
        process->has_head = memory_batch_add(batch, head, 8, &process->head_at);
    }
    plan_generation(process, batch, now_ns);
    return true;
}

bool python_pulse_counts(const struct python_process *process, const struct python_interpreter *interpreter)
{
    return process->runtime.layout.gil.switches != NO_OFFSET && interpreter->gil != 0 &&
           !interpreter->shares_gil;
}

void python_pulse_plan_end(struct python_process *process, struct memory_batch *batch, bool is_worth_it)
{
    const struct python_layout *layout = &process->runtime.layout;
    for (size_t i = 0; is_worth_it && i < process->interpreter_count; i++) {
        struct python_interpreter *interpreter = &process->interpreters[i];
        if (!python_pulse_counts(process, interpreter) ||
            !memory_batch_add(batch, interpreter->gil + layout->gil.holder,
                              layout->gil.switches + 8 - layout->gil.holder, &interpreter->again_at))
            interpreter->again_at = 0;
    }
}

/* NULL for a word that this version does not have. */
static const unsigned char *word_at(const struct python_process *process, uint64_t base, uint32_t offset,
                                    size_t size)
{
    if (offset == NO_OFFSET || base == 0)
        return NULL;
    const struct span *span = span_set_find(&process->pulse, base + offset, size, NULL);
    return span == NULL ? NULL : process->pulse_bytes + span->offset + (base + offset - span->start);
}

static uint64_t word_u64(const struct python_process *process, uint64_t base, uint32_t offset)
{
    const unsigned char *at = word_at(process, base, offset, 8);
    return at == NULL ? 0 : load_u64(at);
}

static uint32_t word_u32(const struct python_process *process, uint64_t base, uint32_t offset)
{
    const unsigned char *at = word_at(process, base, offset, 4);
    return at == NULL ? 0 : load_u32(at);
}

/* Without a switch only the last holder can have taken the GIL again meanwhile. */
static void take_switches(const struct python_process *process, struct python_interpreter *interpreter,
                          const unsigned char *batch_bytes)
{
    const struct python_layout *layout = &process->runtime.layout;
    interpreter->is_steady = false;
    if (!python_pulse_counts(process, interpreter))
        return;
    uint64_t current = word_u64(process, process->runtime.address, layout->runtime.current_thread);
    interpreter->last_holder = word_u64(process, interpreter->gil, layout->gil.holder);
    /* Set as current thread without taking the GIL. */
    if (current != 0 && current != interpreter->last_holder)
        interpreter->last_holder = 0;
    interpreter->switches = word_u64(process, interpreter->gil, layout->gil.switches);
    if (interpreter->again_at == 0)
        return;
    const unsigned char *again = batch_bytes + interpreter->again_at;
    interpreter->is_steady =
        load_u64(again) == interpreter->last_holder &&
        load_u64(again + layout->gil.switches - layout->gil.holder) == interpreter->switches;
}

static void take_interpreter(struct python_process *process, struct python_interpreter *interpreter)
{
    const struct python_layout *layout = &process->runtime.layout;
    uint64_t head = word_u64(process, interpreter->address, layout->interpreter.threads_head);
    if (head != interpreter->threads_head) {
        process->list_is_stale = process->list_is_stale || interpreter->threads_head != 0;
        interpreter->threads_head = head;
    }
    interpreter->collecting = word_u32(process, interpreter->address, layout->interpreter.collecting) != 0 ||
                              word_u32(process, process->runtime.address, layout->runtime.collecting) != 0;
    if (layout->runtime.current_thread != NO_OFFSET)
        interpreter->gil_holder = word_u64(process, process->runtime.address, layout->runtime.current_thread);
    else if (word_u32(process, interpreter->gil, layout->gil.locked) == 1)
        interpreter->gil_holder = word_u64(process, interpreter->gil, layout->gil.holder);
    else
        interpreter->gil_holder = 0;
}

static uint64_t read_head(const struct python_process *process, const struct memory_batch *batch)
{
    const struct python_layout *layout = &process->runtime.layout;
    if (has_head_in_pulse(layout))
        return word_u64(process, process->runtime.address, layout->runtime.interpreters_head);
    return process->has_head ? load_u64(batch->bytes + process->head_at) : process->interpreters_head;
}

/* Each interpreter has its own count, but codes are cached for all of them. A count that never changed is treated as
 * none: then codes are compared by time. */
static void take_generation(struct python_process *process, const struct memory_batch *batch)
{
    struct python_interpreter *interpreter = &process->interpreters[0];
    const struct python_layout *layout = &process->runtime.layout;
    if (has_generation_in_pulse(layout) && process->interpreter_count == 1)
        interpreter->code_generation =
            word_u64(process, interpreter->address, layout->interpreter.code_generation);
    else if (process->has_generation)
        interpreter->code_generation = load_u32(batch->bytes + process->generation_at);
}

void python_pulse_take(struct python_process *process, const struct memory_batch *batch, size_t at)
{
    process->pulse_bytes = batch->bytes + at;
    if (read_head(process, batch) != process->interpreters_head)
        process->list_is_stale = true;
    take_generation(process, batch);
    for (size_t i = 0; i < process->interpreter_count; i++) {
        take_interpreter(process, &process->interpreters[i]);
        take_switches(process, &process->interpreters[i], batch->bytes);
    }
}

struct python_gil_note python_pulse_note(const struct python_interpreter *interpreter)
{
    return (struct python_gil_note){.holder = interpreter->last_holder,
                                    .switches = interpreter->switches,
                                    .is_firm = interpreter->is_steady};
}

/* The holder at the time of the note may have run since, and so may the current one. A note that is not firm may
 * combine the holder before a switch and the count after it. */
bool python_pulse_proves_still(const struct python_thread *thread,
                               const struct python_interpreter *interpreter)
{
    const struct python_gil_note *note = &thread->gil_note;
    if (note->holder == 0 || note->holder == thread->address || interpreter->last_holder == thread->address)
        return false;
    uint64_t more = interpreter->switches - note->switches;
    return more == 0 ? note->holder == interpreter->last_holder : more == 1 && note->is_firm;
}
