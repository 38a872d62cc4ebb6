#include "jvm_agent/output/stack_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "jvm_agent/handler/class_names.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/output/frame_text.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/vm/native_names.h"

#define TEXTS_LIMIT_BYTES ((size_t)512 << 20)
#define LINES_LIMIT ((size_t)1 << 24)
#define KERNEL_FRAMES_LIMIT ((size_t)1 << 20)

#define FIRST_KEPT_FRAMES 64u

struct line_maker {
    struct stack_lines *lines;
    const struct profile_view *view;
    struct recording_tables *tables; /* current tables */
    const struct spilled_threads *threads;
    size_t frame_bytes, limit_bytes; /* 0: none */
    size_t line_frames;              /* of all lines */
    uint32_t kept_frames;            /* of shortened lines */
    uint64_t few_samples;            /* maximum samples of shortened lines */
    uint32_t dropped_text;
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

/* Text does not show the bytecode index: all locations in a method are one frame. */
static void push_frame(struct line_maker *maker, frame_word frame)
{
    frame_word key = frame_is_java(frame) ? frame & ~(UINT64_C(0xffff) << 32) : frame;
    uint32_t number = id_map_get(&maker->frames, key);
    if (number == NO_ID) {
        frame_text_add(&maker->builder, &maker->tables->methods, frame, &maker->style);
        number = add_text(maker);
        if (number == NO_STRING || !id_map_set(&maker->frames, key, number))
            return;
    }
    push(maker, number);
}

static void push_thread(struct line_maker *maker, int32_t tid)
{
    struct thread_name name;
    const char *spilled = spilled_thread_name(maker->threads, tid);
    if (spilled != NULL)
        text_builder_format(&maker->builder, "[%s tid=%d]", spilled, tid);
    else if (thread_names_get(tid, &name))
        text_builder_format(&maker->builder, "[%s tid=%d]", name.text, tid);
    else
        text_builder_format(&maker->builder, "[tid=%d]", tid);
    push(maker, add_text(maker));
}

static void push_class(struct line_maker *maker, uint32_t class_number, uint8_t kind)
{
    frame_text_add_class(&maker->builder, class_names_text(&maker->tables->classes, class_number),
                         &maker->style);
    if (kind == SAMPLE_ALLOCATION || kind == SAMPLE_LIVE_OBJECT)
        text_builder_add_c_string(&maker->builder, "_[i]");
    if (kind == SAMPLE_ALLOCATION_OUTSIDE)
        text_builder_add_c_string(&maker->builder, "_[k]");
    push(maker, add_text(maker));
}

static void make_line(struct line_maker *maker, const struct sample_count *count)
{
    const struct trace *trace = recording_tables_trace(maker->tables, count->trace);
    uint32_t left = trace->depth;
    maker->depth = 0;
    if (left > 0 && frame_kind_of(trace->frames[left - 1]) == AGENT_FRAME_POLICY)
        push_frame(maker, trace->frames[--left]); /* threads are grouped by it */
    if (count->tid != 0)
        push_thread(maker, count->tid);
    while (left-- > 0)
        push_frame(maker, trace->frames[left]);
    if (count->class_number != 0)
        push_class(maker, count->class_number, count->kind);
}

/* "*part*", "start*", "*end" or the whole text. */
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
    maker->line_frames += maker->depth;
    lines->lines[lines->count] = (struct stack_line){frames, maker->depth, 0, 0};
    return &lines->lines[lines->count++];
}

/* Counts the line of the maker's numbers. */
static bool count_line(struct line_maker *maker, uint64_t samples, uint64_t value)
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
    line->samples += samples;
    line->value += value;
    maker->lines->samples += samples;
    maker->lines->value += value;
    return true;
}

static size_t used_bytes(const struct line_maker *maker)
{
    const struct stack_lines *lines = maker->lines;
    return string_table_bytes(&lines->texts) + lines->arena.used_bytes +
           lines->capacity * sizeof(*lines->lines) + id_map_bytes(&maker->by_hash) +
           maker->line_frames * maker->frame_bytes;
}

/* A number of samples that half of the lines do not exceed. */
static uint64_t few_samples_of(const struct stack_lines *lines)
{
    size_t by_size[64] = {0}, sum = 0;
    for (size_t i = 0; i < lines->count; i++)
        by_size[63 - __builtin_clzll(lines->lines[i].samples | 1)]++;
    for (unsigned i = 0; i < 63; i++) {
        sum += by_size[i];
        if (sum * 2 >= lines->count)
            return ((uint64_t)2 << i) - 1;
    }
    return UINT64_MAX;
}

/* First frames, "[dropped]", leaf. */
static void set_numbers(struct line_maker *maker, const struct stack_line *line)
{
    uint32_t kept = maker->kept_frames;
    bool whole = line->samples > maker->few_samples || line->depth <= kept + 2;
    maker->depth = whole ? line->depth : kept;
    memcpy(maker->numbers, line->frames, maker->depth * sizeof(*maker->numbers));
    if (whole)
        return;
    maker->numbers[maker->depth++] = maker->dropped_text;
    maker->numbers[maker->depth++] = line->frames[line->depth - 1];
}

static bool shorten_once(struct line_maker *maker)
{
    struct stack_lines *lines = maker->lines;
    struct stack_lines before = *lines;
    bool done = true;
    id_map_clear(&maker->by_hash);
    arena_init(&lines->arena, TEXTS_LIMIT_BYTES);
    lines->lines = NULL;
    lines->count = lines->capacity = 0;
    lines->samples = lines->value = 0;
    maker->line_frames = 0;
    for (size_t i = 0; i < before.count && done; i++) {
        set_numbers(maker, &before.lines[i]);
        done = count_line(maker, before.lines[i].samples, before.lines[i].value);
    }
    arena_release(&before.arena);
    free(before.lines);
    return done;
}

/* To half of the limit, so that it is not needed again soon. */
static bool shorten(struct line_maker *maker)
{
    maker->kept_frames = FIRST_KEPT_FRAMES;
    do {
        maker->few_samples = few_samples_of(maker->lines);
        maker->kept_frames /= 2;
        if (!shorten_once(maker))
            return false;
    } while (used_bytes(maker) > maker->limit_bytes / 2 && maker->kept_frames > 0);
    return true;
}

static bool is_of_kind(uint8_t kind, enum sample_kind wanted)
{
    return kind == wanted || (wanted == SAMPLE_ALLOCATION && kind == SAMPLE_ALLOCATION_OUTSIDE) ||
           (wanted == SAMPLE_MONITOR && kind == SAMPLE_PARK);
}

/* Kernel frames are few, and are looked up together. */
static void expect_kernel_frames(const struct recording_tables *tables)
{
    const struct sample_counts *counts = &tables->counts;
    frame_word *frames = NULL;
    size_t found = 0, capacity = 0;
    for (uint32_t i = 1; i <= sample_counts_number(counts); i++) {
        const struct trace *trace = recording_tables_trace(tables, sample_counts_at(counts, i)->trace);
        for (uint32_t at = 0; at < trace->depth && frame_kind_of(trace->frames[at]) == AGENT_FRAME_KERNEL;
             at++)
            if (array_reserve(&frames, &capacity, found + 1, KERNEL_FRAMES_LIMIT))
                frames[found++] = trace->frames[at];
    }
    native_names_expect(frames, found);
    free(frames);
}

static bool make_lines(struct line_maker *maker, struct error *error)
{
    const struct sample_counts *counts = &maker->tables->counts;
    for (uint32_t i = 1; i <= sample_counts_number(counts); i++) {
        const struct sample_count *count = sample_counts_at(counts, i);
        if (atomic_load(&count->samples) == 0 || !is_of_kind(count->kind, maker->view->kind))
            continue;
        make_line(maker, count);
        if (is_wanted(maker) && !count_line(maker, count->samples, count->value))
            return error_set_memory(error);
        if (maker->limit_bytes > 0 && used_bytes(maker) > maker->limit_bytes && !shorten(maker))
            return error_set_memory(error);
    }
    return true;
}

/* Method numbers differ between generations of tables. */
static bool add_tables(struct recording_tables *tables, const struct spilled_threads *threads, void *context,
                       struct error *error)
{
    struct line_maker *maker = context;
    maker->tables = tables;
    maker->threads = threads;
    id_map_clear(&maker->frames);
    expect_kernel_frames(tables);
    return make_lines(maker, error);
}

/* Samples that did not fit on disk. */
static bool add_lost(struct line_maker *maker, struct error *error)
{
    for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
        const struct lost_samples *lost = &maker->view->spilled->lost[kind];
        if (lost->samples == 0 || !is_of_kind((uint8_t)kind, maker->view->kind))
            continue;
        maker->depth = 0;
        push(maker, maker->dropped_text);
        if (!count_line(maker, lost->samples, lost->value))
            return error_set_memory(error);
    }
    return true;
}

static bool add_all(struct line_maker *maker, size_t frame_bytes, struct error *error)
{
    const struct spilled_tables *spilled = maker->view->spilled;
    if (spilled == NULL)
        return add_tables(maker->view->tables, NULL, maker, error);
    maker->frame_bytes = frame_bytes;
    maker->limit_bytes = spilled->count == 0 ? 0 : maker->view->limit_bytes / 2;
    return spilled_tables_each(spilled, add_tables, maker, error) &&
           add_tables(maker->view->tables, NULL, maker, error) && add_lost(maker, error);
}

static struct line_maker *maker_new(struct stack_lines *lines, const struct profile_view *view,
                                    struct error *error)
{
    const struct arguments *arguments = view->arguments;
    memset(lines, 0, sizeof(*lines));
    arena_init(&lines->arena, TEXTS_LIMIT_BYTES);
    struct line_maker *maker = calloc(1, sizeof(*maker));
    if (maker == NULL || !string_table_init(&lines->texts, TEXTS_LIMIT_BYTES)) {
        free(maker);
        error_set_memory(error);
        return NULL;
    }
    maker->lines = lines;
    maker->view = view;
    maker->style = (struct frame_style){arguments->simple,   arguments->normal,  arguments->signatures,
                                        arguments->annotate, arguments->library, arguments->dot};
    text_builder_init(&maker->builder, 1 << 20);
    id_map_init(&maker->frames);
    id_map_init(&maker->by_hash);
    maker->dropped_text = string_table_add(&lines->texts, TEXT("[dropped]"));
    return maker;
}

static bool finish(struct line_maker *maker, bool done)
{
    id_map_release(&maker->frames);
    id_map_release(&maker->by_hash);
    text_builder_release(&maker->builder);
    if (!done)
        stack_lines_release(maker->lines);
    free(maker);
    return done;
}

bool stack_lines_build(struct stack_lines *lines, const struct profile_view *view, size_t frame_bytes,
                       struct error *error)
{
    struct line_maker *maker = maker_new(lines, view, error);
    return maker != NULL && finish(maker, add_all(maker, frame_bytes, error));
}

bool stack_lines_build_part(struct stack_lines *lines, const struct profile_view *view,
                            struct recording_tables *tables, const struct spilled_threads *threads,
                            struct error *error)
{
    struct line_maker *maker = maker_new(lines, view, error);
    return maker != NULL && finish(maker, add_tables(tables, threads, maker, error));
}

void stack_lines_release(struct stack_lines *lines)
{
    string_table_release(&lines->texts);
    arena_release(&lines->arena);
    free(lines->lines);
    memset(lines, 0, sizeof(*lines));
}
