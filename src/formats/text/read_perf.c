/*
 * read_perf.c - `perf script` text. Lines repeat all the time, so each different one is taken apart once and its
 * frames are remembered. So do whole stacks but for their innermost line, whose address differs from sample to
 * sample: the text of the other lines leads to their node at once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "formats/perf_options.h"
#include "formats/text/perf_line.h"
#include "formats/reader.h"
#include "input/line_cache.h"
#include "input/line_reader.h"
#include "input/text_hash.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Stacks of which the text below the innermost line is remembered. */
#define BODY_CACHE_BYTES ((size_t)64 << 20)
#define NAME_LIMIT_BYTES ((size_t)16 << 20)
#define EVENT_NAME_BYTES 128

/* The thread of a sample: its outermost frame and its label set. */
struct perf_thread {
    uint32_t frame;
    uint32_t context;
    bool is_java;
};

struct perf_reader {
    const struct read_options *options;
    struct perf_options perf;
    struct profile *profile;
    struct line_cache caches[2];  /* lines of other threads, and of Java's */
    struct line_cache symbols[2]; /* the same by function and module, whatever the address */
    struct line_cache
        bodies; /* for the lines of a stack but the first: node, number of lines, thread's frame */
    struct string_table thread_names;
    struct perf_thread *threads; /* by number in thread_names */
    size_t thread_capacity;
    struct text_builder text;
    struct text_builder key;

    bool inside;   /* of a sample */
    bool filtered; /* it is of another event */
    struct perf_thread thread;
    struct sample sample;
    uint32_t *frames; /* innermost first */
    size_t frame_count;
    size_t frame_capacity;
    bool cut; /* the sample has more frames than allowed */

    uint32_t *path_frames; /* of the last stack, outermost first, and its nodes */
    uint32_t *path_nodes;
    size_t path_size;
    size_t path_capacity;
    size_t node_capacity;

    char event_name[EVENT_NAME_BYTES]; /* the last one looked up */
    size_t event_size;
    bool event_filtered;
    uint32_t event;

    uint64_t line;
    bool is_binary; /* the line holds a byte 0 */
    uint64_t samples;
    uint64_t unknown_lines;
    uint64_t first_unknown;
    uint64_t cut_stacks;
};

static bool init(struct perf_reader *reader, const struct read_options *options, struct profile *profile,
                 struct error *error)
{
    *reader = (struct perf_reader){.options = options, .profile = profile, .event_size = SIZE_MAX};
    if (options->perf != NULL)
        reader->perf = *options->perf;
    for (size_t i = 0; i < 2; i++) {
        line_cache_init(&reader->caches[i]);
        line_cache_init(&reader->symbols[i]);
    }
    line_cache_init(&reader->bodies);
    reader->bodies.arena.limit_bytes = BODY_CACHE_BYTES;
    text_builder_init(&reader->text, NAME_LIMIT_BYTES);
    text_builder_init(&reader->key, 2 * NAME_LIMIT_BYTES);
    return string_table_init(&reader->thread_names, PROFILE_STRING_LIMIT_BYTES) ? true
                                                                                : error_set_memory(error);
}

static void release(struct perf_reader *reader)
{
    for (size_t i = 0; i < 2; i++) {
        line_cache_release(&reader->caches[i]);
        line_cache_release(&reader->symbols[i]);
    }
    line_cache_release(&reader->bodies);
    string_table_release(&reader->thread_names);
    text_builder_release(&reader->text);
    text_builder_release(&reader->key);
    free(reader->threads);
    free(reader->frames);
    free(reader->path_frames);
    free(reader->path_nodes);
}

static void count_unknown(struct perf_reader *reader)
{
    if (reader->unknown_lines++ == 0)
        reader->first_unknown = reader->line;
}

/* "cycles" of "cycles:u": user and kernel parts of one event belong together. "sched:sched_switch" stays. */
static struct text_view without_modifiers(struct text_view event)
{
    size_t colon = text_find_last_byte(event, ':');
    if (colon == TEXT_NOT_FOUND || colon == 0)
        return event;
    for (size_t i = colon + 1; i < event.size; i++)
        if (memchr("ukhGHpPSDIeW", event.data[i], 12) == NULL)
            return event;
    return text_part(event, 0, colon);
}

static bool event_matches(struct text_view event, struct text_view wanted)
{
    return text_equal(event, wanted) || text_equal(without_modifiers(event), wanted);
}

static enum event_unit unit_of(struct text_view event)
{
    bool is_clock = text_starts_with(event, TEXT("cpu-clock")) || text_starts_with(event, TEXT("task-clock"));
    return is_clock ? UNIT_NANOSECONDS : UNIT_COUNT;
}

static bool set_event(struct perf_reader *reader, struct text_view event)
{
    if (event.size == reader->event_size && memcmp(event.data, reader->event_name, event.size) == 0)
        return true;
    const char *wanted = reader->perf.event_filter;
    reader->event_filtered = wanted != NULL && !event_matches(event, text_of(wanted));
    struct text_view name = event.size == 0 ? TEXT("samples") : without_modifiers(event);
    if (!reader->event_filtered)
        reader->event = profile_event(reader->profile, name, unit_of(event), true);
    reader->event_size = event.size < sizeof(reader->event_name) ? event.size : SIZE_MAX;
    if (reader->event_size != SIZE_MAX)
        memcpy(reader->event_name, event.data, event.size);
    return reader->event_filtered || reader->event != EVENT_LIMIT;
}

static struct text_view or_unknown(struct text_view text)
{
    return text.size == 0 ? TEXT("?") : text;
}

/* "java", "java-123" or "java-123/456"; blanks become '_'. */
static void add_thread_name(struct perf_reader *reader, const struct perf_header *header)
{
    struct text_builder *text = &reader->text;
    text_builder_clear(text);
    text_builder_add(text, header->command);
    for (size_t i = 0; i < text->size; i++)
        if (text->data[i] == ' ')
            text->data[i] = '_';
        else if (text->data[i] == ';')
            text->data[i] = ':';
    if (!reader->perf.with_pid && !reader->perf.with_tid)
        return;
    text_builder_add_byte(text, '-');
    text_builder_add(text, or_unknown(header->process));
    if (!reader->perf.with_tid)
        return;
    text_builder_add_byte(text, '/');
    text_builder_add(text, header->thread);
}

static bool make_thread(struct perf_reader *reader, const struct perf_header *header,
                        struct perf_thread *thread)
{
    struct profile *profile = reader->profile;
    add_thread_name(reader, header);
    struct text_view name = text_builder_view(&reader->text);
    thread->is_java = text_starts_with(name, TEXT("java"));
    thread->frame = profile_frame(profile, name, TEXT(""), 0, FRAME_GROUP);
    thread->context = 0;
    if (reader->options->needs_contexts) {
        struct label labels[] = {
            {LABEL_THREAD, profile_string(profile, header->command)},
            {LABEL_THREAD_ID, profile_string(profile, header->thread)},
            {LABEL_PROCESS, profile_string(profile, header->process)},
        };
        for (size_t i = 0; i < COUNT_OF(labels); i++)
            if (labels[i].value == NO_STRING)
                return false;
        thread->context = context_table_add(&profile->contexts, labels, COUNT_OF(labels));
    }
    return !reader->text.failed && thread->frame != NO_FRAME && thread->context != NO_CONTEXT;
}

static bool find_thread(struct perf_reader *reader, const struct perf_header *header)
{
    /* From the name to the thread's number, as it stands in the line. */
    struct text_view key = {header->command.data,
                            (size_t)(header->thread.data + header->thread.size - header->command.data)};
    size_t known = reader->thread_names.size;
    uint32_t number = string_table_add(&reader->thread_names, key);
    if (number == NO_STRING ||
        !array_reserve(&reader->threads, &reader->thread_capacity, (size_t)number + 1, UINT32_MAX))
        return false;
    if (number >= known && !make_thread(reader, header, &reader->threads[number]))
        return false;
    reader->thread = reader->threads[number];
    return true;
}

static bool add_frame(struct perf_reader *reader, uint32_t frame)
{
    if (reader->frame_count >= READER_DEPTH_LIMIT) {
        reader->cut = true;
        return true;
    }
    if (!array_reserve(&reader->frames, &reader->frame_capacity, reader->frame_count + 1, READER_DEPTH_LIMIT))
        return false;
    reader->frames[reader->frame_count++] = frame;
    return true;
}

static enum frame_kind kind_of(const struct perf_reader *reader, struct text_view module)
{
    if (reader->perf.mark_kernel && perf_module_is_kernel(module))
        return FRAME_KERNEL;
    if (reader->perf.mark_jit && perf_module_is_jit(module))
        return FRAME_COMPILED;
    return FRAME_UNKNOWN;
}

/* Cuts "outer" off "outer->inner": Java's map files name inlined methods so. C++ has an operator of that name. */
static struct text_view cut_inlined(struct text_view *function)
{
    for (size_t from = 0;;) {
        size_t at = text_find(text_from(*function, from), TEXT("->"));
        if (at == TEXT_NOT_FOUND)
            break;
        at += from;
        if (text_ends_with(text_part(*function, 0, at), TEXT("operator"))) {
            from = at + 2;
            continue;
        }
        struct text_view first = text_part(*function, 0, at);
        *function = text_from(*function, at + 2);
        return first;
    }
    struct text_view all = *function;
    function->size = 0;
    return all;
}

/* Parses a line into frames, outermost first. False: out of memory. */
static bool make_frames(struct perf_reader *reader, const struct perf_frame *parsed, uint32_t *frames,
                        size_t *count)
{
    struct text_view rest = parsed->function;
    *count = 0;
    /* Old perf puts process names here. */
    if (rest.data[0] == '(' && !text_starts_with(rest, TEXT("(anonymous namespace)")))
        return true;
    enum frame_kind kind = kind_of(reader, parsed->module);
    while (rest.size > 0 && *count < LINE_CACHE_FRAMES) {
        text_builder_clear(&reader->text);
        perf_function_add(&reader->text, parsed, cut_inlined(&rest), reader->perf.with_addresses,
                          reader->thread.is_java);
        struct text_view name = text_builder_view(&reader->text);
        enum frame_kind said = frame_kind_of_suffix(&name);
        uint32_t frame =
            profile_frame(reader->profile, name, TEXT(""), 0, said != FRAME_UNKNOWN ? said : kind);
        if (reader->text.failed || frame == NO_FRAME)
            return false;
        frames[(*count)++] = frame;
        kind = FRAME_INLINED;
    }
    return true;
}

/* What distinguishes frames: function and module, and the address if it is shown. */
static struct text_view symbol_key(struct perf_reader *reader, const struct perf_frame *parsed)
{
    text_builder_clear(&reader->key);
    text_builder_add(&reader->key, parsed->function);
    text_builder_add(&reader->key, TEXT("\n"));
    text_builder_add(&reader->key, parsed->module);
    if (reader->perf.with_addresses) {
        text_builder_add(&reader->key, TEXT("\n"));
        text_builder_add(&reader->key, parsed->address);
    }
    return text_builder_view(&reader->key);
}

/* The frames of a parsed line; NULL: out of memory. */
static const struct line_cache_entry *find_symbol(struct perf_reader *reader, const struct perf_frame *parsed)
{
    struct line_cache *cache = &reader->symbols[reader->thread.is_java];
    struct text_view key = symbol_key(reader, parsed);
    uint64_t hash = line_cache_hash(key);
    const struct line_cache_entry *entry = line_cache_find(cache, key, hash);
    if (LIKELY(entry != NULL))
        return entry;
    uint32_t frames[LINE_CACHE_FRAMES];
    size_t count = 0;
    if (reader->key.failed || !make_frames(reader, parsed, frames, &count))
        return NULL;
    return line_cache_add(cache, key, hash, frames, count);
}

static bool add_frames(struct perf_reader *reader, const struct line_cache *cache,
                       const struct line_cache_entry *entry)
{
    if (LIKELY(entry->count == 1))
        return add_frame(reader, entry->frame);
    const uint32_t *frames = line_cache_frames(cache, entry);
    for (size_t i = entry->count; i-- > 0;)
        if (!add_frame(reader, frames[i]))
            return false;
    return true;
}

static bool add_new_line(struct perf_reader *reader, struct text_view line, uint64_t hash, bool is_kept)
{
    struct perf_frame parsed;
    if (!perf_frame_parse(line, &parsed)) {
        count_unknown(reader);
        return true;
    }
    const struct line_cache *symbols = &reader->symbols[reader->thread.is_java];
    const struct line_cache_entry *entry = find_symbol(reader, &parsed);
    if (entry == NULL)
        return false;
    if (is_kept) {
        const uint32_t *frames = entry->count == 1 ? &entry->frame : line_cache_frames(symbols, entry);
        if (line_cache_add(&reader->caches[reader->thread.is_java], line, hash, frames, entry->count) == NULL)
            return false;
    }
    return add_frames(reader, symbols, entry);
}

static bool add_stack_line(struct perf_reader *reader, struct text_view line)
{
    const struct line_cache *cache = &reader->caches[reader->thread.is_java];
    /* The address of the innermost frame differs each time: such lines are not worth caching. */
    if (reader->frame_count == 0)
        return add_new_line(reader, line, 0, false);
    uint64_t hash = line_cache_hash(line);
    const struct line_cache_entry *entry = line_cache_find(cache, line, hash);
    return LIKELY(entry != NULL) ? add_frames(reader, cache, entry) : add_new_line(reader, line, hash, true);
}

/* The innermost node of the collected frames. What is equal to the last stack, seen from outside, has known nodes. */
static uint32_t find_stack(struct perf_reader *reader)
{
    size_t size = reader->frame_count + 1;
    if (!array_reserve(&reader->path_frames, &reader->path_capacity, size, READER_DEPTH_LIMIT + 1) ||
        !array_reserve(&reader->path_nodes, &reader->node_capacity, size, READER_DEPTH_LIMIT + 1))
        return NO_STACK;
    bool same = true;
    uint32_t node = STACK_ROOT;
    for (size_t i = 0; i < size; i++) {
        uint32_t frame = i == 0 ? reader->thread.frame : reader->frames[size - 1 - i];
        same = same && i < reader->path_size && reader->path_frames[i] == frame;
        if (same) {
            node = reader->path_nodes[i];
            continue;
        }
        node = stack_tree_child(&reader->profile->stacks, node, frame);
        if (node == NO_STACK)
            return NO_STACK;
        reader->path_frames[i] = frame;
        reader->path_nodes[i] = node;
    }
    reader->path_size = size;
    return node;
}

static bool end_sample(struct perf_reader *reader)
{
    if (!reader->inside)
        return true;
    reader->inside = false;
    if (reader->filtered)
        return true;
    reader->samples++;
    reader->cut_stacks += reader->cut;
    reader->sample.stack = find_stack(reader);
    return profile_add_sample(reader->profile, &reader->sample);
}

static bool begin_sample(struct perf_reader *reader, const struct perf_header *header)
{
    reader->inside = true;
    reader->frame_count = 0;
    reader->cut = false;
    if (!set_event(reader, header->event))
        return false;
    reader->filtered = reader->event_filtered;
    if (reader->filtered)
        return true;
    if (!find_thread(reader, header))
        return false;
    reader->sample = (struct sample){.context = reader->thread.context,
                                     .event = reader->event,
                                     .time_ns = header->time_ns,
                                     .value = (double)header->period,
                                     .count = 1};
    struct perf_frame only;
    if (header->rest.size == 0 || !perf_frame_parse(header->rest, &only))
        return true;
    return add_stack_line(reader, header->rest) && end_sample(reader);
}

/* Some tools take the blanks off the lines. */
static bool is_bare_frame(struct text_view line)
{
    struct perf_frame frame;
    return line.data[line.size - 1] == ')' && perf_frame_parse(line, &frame) && frame.module.size > 0;
}

static bool read_line(struct perf_reader *reader, struct text_view line)
{
    struct perf_header header;
    reader->line++;
    bool indented = line.size > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    if (LIKELY(indented && reader->inside && !reader->filtered)) {
        /* Blanks only end a sample too. */
        if (LIKELY(line.data[line.size - 1] != ' ') || text_trim(line).size > 0)
            return add_stack_line(reader, line);
        return end_sample(reader);
    }
    if (line.size > 0 && line.data[0] == '#')
        return true;
    if (text_trim(line).size == 0)
        return end_sample(reader);
    if (reader->inside && (indented || is_bare_frame(line)))
        return reader->filtered || add_stack_line(reader, line);
    reader->is_binary = memchr(line.data, '\0', line.size) != NULL;
    if (reader->is_binary)
        return false;
    if (perf_header_parse(line, &header))
        return end_sample(reader) && begin_sample(reader, &header);
    count_unknown(reader);
    return true;
}

/* Where the next empty line begins: after a line end, and with one. */
static size_t find_empty_line(struct text_view text)
{
    size_t at = 0;
#ifdef __SSE2__
    const __m128i line_ends = _mm_set1_epi8('\n');
    for (; at + 17 <= text.size; at += 16) {
        __m128i first = _mm_loadu_si128((const __m128i *)(const void *)(text.data + at));
        __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(text.data + at + 1));
        __m128i both = _mm_and_si128(_mm_cmpeq_epi8(first, line_ends), _mm_cmpeq_epi8(second, line_ends));
        int found = _mm_movemask_epi8(both);
        if (found != 0)
            return at + (size_t)__builtin_ctz((unsigned)found) + 1;
    }
#endif
    for (; at + 2 <= text.size; at++)
        if (text.data[at] == '\n' && text.data[at + 1] == '\n')
            return at + 1;
    return TEXT_NOT_FOUND;
}

static bool is_indented(struct text_view line)
{
    return line.size > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
}

/* The first line's frames below the node that the other lines lead to. */
static bool end_known_sample(struct perf_reader *reader, uint32_t node)
{
    for (size_t i = reader->frame_count; i-- > 0 && node != NO_STACK;)
        node = stack_tree_child(&reader->profile->stacks, node, reader->frames[i]);
    reader->inside = false;
    reader->samples++;
    reader->sample.stack = node;
    return profile_add_sample(reader->profile, &reader->sample);
}

/* A body is remembered by 128 bits of hash: looking at the texts again would take longer than all else. */
static struct text_view body_key(const struct wide_hash *hash)
{
    return (struct text_view){(const char *)hash, sizeof(*hash)};
}

/* Reads the lines one by one, and remembers where all but the first lead to. */
static bool read_new_body(struct perf_reader *reader, struct text_view rest, struct wide_hash hash)
{
    struct text_view left = rest;
    size_t first_frames = reader->frame_count;
    uint64_t unknown = reader->unknown_lines;
    uint32_t lines = 0;
    bool all_indented = true;
    for (; left.size > 0; lines++) {
        struct text_view line = line_cut(&left);
        all_indented = all_indented && is_indented(line);
        if (!read_line(reader, line))
            return false;
    }
    bool whole = reader->inside && all_indented && !reader->cut && reader->unknown_lines == unknown;
    if (!end_sample(reader))
        return false;
    if (!whole || reader->path_size <= first_frames) /* the other lines may have no frame */
        return true;
    uint32_t node = reader->path_nodes[reader->path_size - 1 - first_frames];
    uint32_t known[] = {node, lines, reader->thread.frame};
    return line_cache_add(&reader->bodies, body_key(&hash), hash.low, known, COUNT_OF(known)) != NULL;
}

/* After the first line of a sample: takes the rest of it off the block, when all of it is there. */
static bool read_body(struct perf_reader *reader, struct text_view *block)
{
    size_t size = find_empty_line(*block);
    if (size == TEXT_NOT_FOUND)
        return true;
    struct text_view rest = text_part(*block, 0, size);
    struct text_view first = line_cut(&rest);
    if (!is_indented(first) || rest.size == 0 || rest.size > UINT32_MAX)
        return true;
    *block = text_from(*block, size + 1);
    reader->line++;
    if (!add_stack_line(reader, first))
        return false;
    struct wide_hash hash = wide_hash_end(wide_hash_add(wide_hash_of(rest), reader->thread.frame, rest.size));
    const struct line_cache_entry *entry = line_cache_find(&reader->bodies, body_key(&hash), hash.low);
    const uint32_t *known = entry == NULL ? NULL : line_cache_frames(&reader->bodies, entry);
    if (known == NULL || known[2] != reader->thread.frame)
        return read_new_body(reader, rest, hash) && (reader->line++, true);
    reader->line += known[1] + (uint64_t)1;
    return end_known_sample(reader, known[0]);
}

static bool read_block(struct perf_reader *reader, struct text_view block)
{
    while (block.size > 0) {
        bool was_inside = reader->inside;
        if (!read_line(reader, line_cut(&block)))
            return false;
        if (!was_inside && reader->inside && !reader->filtered && !read_body(reader, &block))
            return false;
    }
    return true;
}

static void tell(const struct perf_reader *reader)
{
    if (reader->unknown_lines > 0)
        reader_notice(reader->options, "%" PRIu64 " line%s not understood, the first is line %" PRIu64,
                      reader->unknown_lines, reader->unknown_lines == 1 ? " was" : "s were",
                      reader->first_unknown);
    reader_notice_cut(reader->options, reader->cut_stacks);
}

static bool read_lines(struct perf_reader *reader, struct byte_source *source, struct error *error)
{
    struct line_reader lines = {.source = source};
    struct text_view block;
    while (line_reader_next(&lines, &block, error)) {
        if (read_block(reader, block))
            continue;
        return reader->is_binary
                   ? error_set(error, ERROR_BAD_INPUT, "line %" PRIu64 ": a NUL byte: not a text file",
                               reader->line)
                   : error_set(error, ERROR_MEMORY, "line %" PRIu64 ": out of memory, or too many events",
                               reader->line);
    }
    if (!end_sample(reader))
        return error_set_memory(error);
    if (lines.failed)
        return error_prefix(error, "after line %" PRIu64, reader->line);
    if (reader->samples == 0 && reader->perf.event_filter == NULL)
        return error_set(error, ERROR_BAD_INPUT, "no sample of perf script in %" PRIu64 " lines",
                         reader->line);
    return true;
}

static bool read_perf(struct byte_source *source, const struct read_options *options, struct profile *profile,
                      struct error *error)
{
    struct perf_reader reader;
    bool good = init(&reader, options, profile, error) && read_lines(&reader, source, error);
    if (good)
        tell(&reader);
    release(&reader);
    return good;
}

/* A line that begins a sample, and then a frame. */
static int recognizes_perf(struct text_view head)
{
    struct perf_header header = {.event = {"", 0}};
    struct perf_frame frame;
    bool had_header = false;
    while (head.size > 0) {
        struct text_view line = line_cut(&head);
        if (text_trim(line).size == 0) {
            if (had_header && header.event.size > 0 && header.time_ns != NO_TIME)
                return 50;
            had_header = false;
        } else if (line.data[0] == '#') {
            continue;
        } else if (had_header) {
            bool indented = line.data[0] == ' ' || line.data[0] == '\t';
            return is_bare_frame(line) || (indented && perf_frame_parse(line, &frame))
                       ? (header.event.size > 0 ? 95 : 70)
                       : 0;
        } else {
            had_header = perf_header_parse(line, &header);
            if (!had_header)
                return 0;
            if (header.rest.size > 0 && perf_frame_parse(header.rest, &frame) && frame.module.size > 0)
                return 90;
        }
    }
    return had_header && header.event.size > 0 && header.time_ns != NO_TIME ? 40 : 0;
}

const struct reader reader_perf = {
    .name = "perf",
    .summary = "text of perf script",
    .recognizes = recognizes_perf,
    .read = read_perf,
};
