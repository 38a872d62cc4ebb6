#include "python_sampler/python_profile.h"

#include <stdio.h>

#include "base/hash.h"
#include "python_sampler/python_thread.h"

#define MOST_NUMBER_BYTES 24

bool python_profile_init(struct python_profile *into, struct profile *profile,
                         const struct python_profile_options *options, struct error *error)
{
    *into = (struct python_profile){.profile = profile, .options = *options};
    id_map_init(&into->frames);
    id_map_init(&into->contexts);
    into->event = profile_event(profile, options->wall ? TEXT("wall") : TEXT("cpu"), UNIT_NANOSECONDS, false);
    return into->event != EVENT_LIMIT || error_set_memory(error);
}

void python_profile_release(struct python_profile *into)
{
    id_map_release(&into->frames);
    id_map_release(&into->contexts);
}

/* Keeps what follows the last occurrence of the part; false if there is none. */
static bool cut_after(struct text_view *path, struct text_view part)
{
    bool found = false;
    for (size_t at; (at = text_find(*path, part)) != TEXT_NOT_FOUND; found = true)
        *path = text_from(*path, at + part.size);
    return found;
}

/* "python3.11/threading.py": what follows "…/lib/". */
static bool cut_library(struct text_view *path)
{
    size_t at = text_find(*path, TEXT("/lib/python3."));
    if (at == TEXT_NOT_FOUND)
        return false;
    struct text_view rest = text_from(*path, at + 5);
    size_t slash = text_find_byte(rest, '/');
    if (slash == TEXT_NOT_FOUND)
        return false;
    *path = text_from(rest, slash + 1);
    return true;
}

struct text_view python_short_file_name(struct text_view path)
{
    if (cut_after(&path, TEXT("/site-packages/")) || cut_after(&path, TEXT("/dist-packages/")) ||
        cut_after(&path, TEXT(".zip/")) || cut_after(&path, TEXT(".egg/")) || cut_library(&path))
        return path;
    if (path.size == 0 || path.data[0] != '/')
        return path;
    return text_from(path, text_find_last_byte(path, '/') + 1);
}

static uint32_t line_of(const struct python_profile *into, const struct python_stack *stack,
                        const struct python_frame *frame)
{
    if (into->options.lines == PYTHON_LINES_NONE)
        return 0;
    return into->options.lines == PYTHON_LINES_FIRST ? stack->functions->functions[frame->function].first_line
                                                     : frame->line;
}

static uint32_t find_frame(struct python_profile *into, const struct python_stack *stack,
                           const struct python_frame *frame)
{
    uint32_t line = line_of(into, stack, frame);
    uint32_t *place = id_map_place(&into->frames, (uint64_t)frame->function << 32 | line);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_FRAME : *place;
    struct text_view file = python_function_file(stack->functions, frame->function);
    bool is_native = stack->functions->functions[frame->function].is_native;
    uint32_t number = profile_frame(into->profile, python_function_name(stack->functions, frame->function),
                                    into->options.full_file_names ? file : python_short_file_name(file), line,
                                    is_native ? FRAME_NATIVE : FRAME_PYTHON);
    *place = number == NO_FRAME ? 0 : number;
    return number;
}

static uint32_t add_group(struct python_profile *into, uint32_t node, const char *text)
{
    uint32_t frame = profile_frame(into->profile, text_of(text), TEXT(""), 0, FRAME_GROUP);
    return frame == NO_FRAME || node == NO_STACK ? NO_STACK
                                                 : stack_tree_child(&into->profile->stacks, node, frame);
}

/* The parent of the stack's frames: its process and thread, if these are shown. */
static uint32_t find_root(struct python_profile *into, const struct python_stack *stack)
{
    char text[PYTHON_THREAD_NAME_BYTES + 64];
    uint32_t node = STACK_ROOT;
    if (into->options.group_by_process) {
        snprintf(text, sizeof(text), "process %d", (int)stack->pid);
        node = add_group(into, node, text);
    }
    if (into->options.group_by_thread) {
        snprintf(text, sizeof(text), "thread (%d): %.*s", (int)stack->thread_number,
                 TEXT_FORMAT(stack->thread_name));
        node = add_group(into, node, text);
    }
    return node;
}

/* The marks are the nodes of the frames. */
static uint32_t find_node(struct python_profile *into, const struct python_stack *stack)
{
    uint32_t node = stack->unchanged > 0 ? stack->marks[stack->unchanged - 1] : find_root(into, stack);
    for (size_t i = stack->unchanged; i < stack->frame_count && node != NO_STACK; i++) {
        uint32_t frame = find_frame(into, stack, &stack->frames[stack->frame_count - 1 - i]);
        node = frame == NO_FRAME ? NO_STACK : stack_tree_child(&into->profile->stacks, node, frame);
        if (stack->marks != NULL)
            stack->marks[i] = node;
    }
    return node;
}

static struct label number_label(struct python_profile *into, enum label_key key, int64_t number)
{
    char text[MOST_NUMBER_BYTES];
    int size = snprintf(text, sizeof(text), "%lld", (long long)number);
    return (struct label){key, profile_string(into->profile, (struct text_view){text, (size_t)size})};
}

static const char *state_of(const struct python_stack *stack)
{
    if (stack->collecting && stack->has_gil)
        return "collecting";
    return stack->on_cpu ? "running" : "waiting";
}

static uint32_t make_context(struct python_profile *into, const struct python_stack *stack)
{
    struct label labels[8];
    size_t count = 0;
    labels[count++] = (struct label){LABEL_THREAD, profile_string(into->profile, stack->thread_name)};
    labels[count++] = number_label(into, LABEL_THREAD_ID, stack->thread_number);
    labels[count++] = number_label(into, LABEL_PROCESS, stack->pid);
    labels[count++] = (struct label){LABEL_STATE, profile_string(into->profile, text_of(state_of(stack)))};
    if (stack->task.known) {
        labels[count++] = number_label(into, LABEL_STAGE, stack->task.stage);
        labels[count++] = number_label(into, LABEL_PARTITION, stack->task.partition);
        labels[count++] = number_label(into, LABEL_ATTEMPT, stack->task.attempt);
        labels[count++] = number_label(into, LABEL_TASK, stack->task.task_id);
    }
    for (size_t i = 0; i < count; i++) {
        if (labels[i].value == NO_STRING)
            return NO_CONTEXT;
    }
    return context_table_add(&into->profile->contexts, labels, count);
}

static uint32_t find_context(struct python_profile *into, const struct python_stack *stack)
{
    uint64_t key = hash_bytes(stack->thread_name.data, stack->thread_name.size);
    key = hash_mix(key ^ (uint64_t)stack->thread_number, HASH_SEED ^ (uint64_t)stack->pid);
    key = hash_mix(key ^ (uint64_t)state_of(stack)[0],
                   HASH_SEED ^ (stack->task.known ? (uint64_t)stack->task.task_id : UINT64_MAX));
    uint32_t *place = id_map_place(&into->contexts, key);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_CONTEXT : *place;
    uint32_t number = make_context(into, stack);
    *place = number == NO_CONTEXT ? 0 : number;
    return number;
}

static bool add_sample(struct python_profile *into, const struct sample *sample, uint32_t *mark)
{
    if (sample->stack == NO_STACK || sample->context == NO_CONTEXT)
        return false;
    if (into->profile->keep_times || mark == NULL)
        return profile_add_sample(into->profile, sample);
    *mark = profile_sum_sample(into->profile, sample);
    return *mark != NO_SAMPLE;
}

/* The thread's mark is the index of the sample of its previous stack. */
void python_profile_deliver(void *context, const struct python_stack *stack)
{
    struct python_profile *into = context;
    if (into->failed)
        return;
    if (stack->is_repeated && stack->mark != NULL && *stack->mark != NO_SAMPLE) {
        struct sample *before = &into->profile->samples[*stack->mark];
        before->value += (double)into->options.interval_ns;
        before->count++;
        return;
    }
    struct sample sample = {
        .stack = find_node(into, stack),
        .context = find_context(into, stack),
        .event = into->event,
        .time_ns = stack->time_ns,
        .value = (double)into->options.interval_ns,
        .count = 1,
    };
    into->failed = !add_sample(into, &sample, stack->mark);
}
