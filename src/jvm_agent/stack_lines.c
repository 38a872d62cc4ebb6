#include "jvm_agent/stack_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/hash.h"
#include "jvm_agent/class_names.h"
#include "jvm_agent/frame_text.h"
#include "jvm_agent/native_names.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_names.h"

#define TEXTS_LIMIT_BYTES ((size_t)512 << 20)
#define LINES_LIMIT ((size_t)1 << 24)
#define KERNEL_FRAMES_LIMIT ((size_t)1 << 20)

struct line_maker {
    struct stack_lines *lines;
    const struct profile_view *view;
    struct frame_style style;
    struct text_builder builder;
    struct id_map frames; /* frame word to text number */
    struct id_map by_hash;
    uint32_t numbers[SAMPLER_DEPTH_LIMIT + 4];
    uint32_t depth;
};

static uint32_t add_text(struct line_maker *maker)
{
    uint32_t number = string_table_add(&maker->lines->texts, text_builder_view(&maker->builder));
    text_builder_clear(&maker->builder);
    return number;
}

static void push(struct line_maker *maker, uint32_t number)
{
    if (number != NO_STRING && maker->depth < COUNT_OF(maker->numbers))
        maker->numbers[maker->depth++] = number;
}

/* The bytecode index does not show in text: all places of a method are one. */
static void push_frame(struct line_maker *maker, frame_word frame)
{
    frame_word key = frame_is_java(frame) ? frame & ~(UINT64_C(0xffff) << 32) : frame;
    uint32_t number = id_map_get(&maker->frames, key);
    if (number == NO_ID) {
        frame_text_add(&maker->builder, frame, &maker->style);
        number = add_text(maker);
        if (number == NO_STRING || !id_map_set(&maker->frames, key, number))
            return;
    }
    push(maker, number);
}

static void push_thread(struct line_maker *maker, int32_t tid)
{
    struct thread_name name;
    if (thread_names_get(tid, &name))
        text_builder_format(&maker->builder, "[%s tid=%d]", name.text, tid);
    else
        text_builder_format(&maker->builder, "[tid=%d]", tid);
    push(maker, add_text(maker));
}

static void push_class(struct line_maker *maker, uint32_t class_number, uint8_t kind)
{
    frame_text_add_class(&maker->builder, class_names_text(class_number), &maker->style);
    if (kind == SAMPLE_ALLOCATION || kind == SAMPLE_LIVE_OBJECT)
        text_builder_add_c_string(&maker->builder, "_[i]");
    if (kind == SAMPLE_ALLOCATION_OUTSIDE)
        text_builder_add_c_string(&maker->builder, "_[k]");
    push(maker, add_text(maker));
}

static void make_line(struct line_maker *maker, const struct sample_count *count)
{
    const struct trace *trace = trace_table_at(&sampler.traces, count->trace);
    uint32_t left = trace->depth;
    maker->depth = 0;
    if (left > 0 && frame_kind_of(trace->frames[left - 1]) == FRAME_POLICY)
        push_frame(maker, trace->frames[--left]); /* threads are grouped by it */
    if (count->tid != 0)
        push_thread(maker, count->tid);
    while (left-- > 0)
        push_frame(maker, trace->frames[left]);
    if (count->class_number != 0)
        push_class(maker, count->class_number, count->kind);
}

/* "*part*", "begin*", "*end" or the whole. */
static bool matches(const char *pattern, struct text_view text)
{
    struct text_view wanted = text_of(pattern);
    bool open_begin = wanted.size > 0 && wanted.data[0] == '*';
    bool open_end = wanted.size > 0 && wanted.data[wanted.size - 1] == '*';
    wanted = text_part(wanted, open_begin, wanted.size - open_begin - (open_end && wanted.size > 1));
    if (open_begin && open_end)
        return text_find(text, wanted) != TEXT_NOT_FOUND;
    if (open_begin)
        return text_ends_with(text, wanted);
    return open_end ? text_starts_with(text, wanted) : text_equal(text, wanted);
}

static bool any_frame_matches(const struct line_maker *maker, const struct argument_list *patterns)
{
    for (uint32_t i = 0; i < maker->depth; i++)
        for (int j = 0; j < patterns->count; j++)
            if (matches(patterns->items[j], string_table_text(&maker->lines->texts, maker->numbers[i])))
                return true;
    return false;
}

static bool is_wanted(const struct line_maker *maker)
{
    const struct arguments *arguments = maker->view->arguments;
    return (arguments->include.count == 0 || any_frame_matches(maker, &arguments->include)) &&
           (arguments->exclude.count == 0 || !any_frame_matches(maker, &arguments->exclude));
}

static struct stack_line *add_line(struct line_maker *maker)
{
    struct stack_lines *lines = maker->lines;
    size_t bytes = maker->depth * sizeof(*maker->numbers);
    uint32_t *frames = arena_allocate(&lines->arena, bytes == 0 ? 1 : bytes);
    if (frames == NULL || !array_reserve(&lines->lines, &lines->capacity, lines->count + 1, LINES_LIMIT))
        return NULL;
    memcpy(frames, maker->numbers, bytes);
    lines->lines[lines->count] = (struct stack_line){frames, maker->depth, 0, 0};
    return &lines->lines[lines->count++];
}

static bool count_line(struct line_maker *maker, const struct sample_count *count)
{
    uint64_t hash = hash_bytes(maker->numbers, maker->depth * sizeof(*maker->numbers));
    uint32_t *place = id_map_place(&maker->by_hash, hash);
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        *place = (uint32_t)maker->lines->count;
        if (add_line(maker) == NULL)
            return false;
    }
    struct stack_line *line = &maker->lines->lines[*place];
    line->samples += count->samples;
    line->value += count->value;
    maker->lines->samples += count->samples;
    maker->lines->value += count->value;
    return true;
}

static bool is_of_kind(uint8_t kind, enum sample_kind wanted)
{
    return kind == wanted || (wanted == SAMPLE_ALLOCATION && kind == SAMPLE_ALLOCATION_OUTSIDE) ||
           (wanted == SAMPLE_MONITOR && kind == SAMPLE_PARK);
}

/* The kernel's frames are few, and looked up together. */
static void expect_kernel_frames(const struct sample_counts *counts)
{
    frame_word *frames = NULL;
    size_t found = 0, capacity = 0;
    for (uint32_t i = 1; i <= sample_counts_number(counts); i++) {
        const struct trace *trace = trace_table_at(&sampler.traces, sample_counts_at(counts, i)->trace);
        for (uint32_t at = 0; at < trace->depth && frame_kind_of(trace->frames[at]) == FRAME_KERNEL; at++)
            if (array_reserve(&frames, &capacity, found + 1, KERNEL_FRAMES_LIMIT))
                frames[found++] = trace->frames[at];
    }
    native_names_expect(frames, found);
    free(frames);
}

static bool make_lines(struct line_maker *maker, struct error *error)
{
    const struct sample_counts *counts = maker->view->counts;
    for (uint32_t i = 1; i <= sample_counts_number(counts); i++) {
        const struct sample_count *count = sample_counts_at(counts, i);
        if (atomic_load(&count->samples) == 0 || !is_of_kind(count->kind, maker->view->kind))
            continue;
        make_line(maker, count);
        if (is_wanted(maker) && !count_line(maker, count))
            return error_set_memory(error);
    }
    return true;
}

bool stack_lines_build(struct stack_lines *lines, const struct profile_view *view, struct error *error)
{
    const struct arguments *arguments = view->arguments;
    memset(lines, 0, sizeof(*lines));
    arena_init(&lines->arena, TEXTS_LIMIT_BYTES);
    struct line_maker *maker = calloc(1, sizeof(*maker));
    if (maker == NULL || !string_table_init(&lines->texts, TEXTS_LIMIT_BYTES)) {
        free(maker);
        return error_set_memory(error);
    }
    maker->lines = lines;
    maker->view = view;
    maker->style = (struct frame_style){arguments->simple,   arguments->normal,  arguments->signatures,
                                        arguments->annotate, arguments->library, arguments->dot};
    text_builder_init(&maker->builder, 1 << 20);
    id_map_init(&maker->frames);
    id_map_init(&maker->by_hash);
    expect_kernel_frames(view->counts);
    bool done = make_lines(maker, error);
    id_map_release(&maker->frames);
    id_map_release(&maker->by_hash);
    text_builder_release(&maker->builder);
    free(maker);
    if (!done)
        stack_lines_release(lines);
    return done;
}

void stack_lines_release(struct stack_lines *lines)
{
    string_table_release(&lines->texts);
    arena_release(&lines->arena);
    free(lines->lines);
    memset(lines, 0, sizeof(*lines));
}
