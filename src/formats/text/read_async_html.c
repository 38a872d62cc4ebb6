/*
 * The flame graph pages that async-profiler and its converter write. The data are calls in a script:
 *
 *     f(level,left,width,type,'name')            versions 2.x
 *     cpool ['all',' name',...] and then         versions 3.0 on; each name begins with ' ' + bytes shared with the
 *     f(name*8+type,level,left,width)            one before it; left is relative, a missing width is the last one
 *     u(name*8+type,width)                       one level up
 *     n(name*8+type,width)                       next to the last one
 *
 * A box that has been left out because it is too narrow counts as its caller's own, outermost ones as LEFT_OUT.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/text_builder.h"
#include "input/line_reader.h"
#include "formats/reader.h"

#define NAME_LIMIT_BYTES ((size_t)16 << 20)
#define NAMES_LIMIT ((size_t)1 << 28)
#define MOST_ARGUMENTS 8
#define LEFT_OUT TEXT("[left out]")

struct async_level {
    uint32_t node;
    double own; /* width less that of the callees so far */
};

struct async_page {
    struct profile *profile;
    struct text_builder name; /* the last one of the pool, or the present one */
    uint32_t *names;          /* string numbers of the pool */
    size_t name_count;
    size_t name_capacity;
    struct async_level *levels; /* from the root box to the last one read */
    size_t depth;
    size_t level_capacity;
    uint32_t event;
    bool has_event;
    enum event_unit unit;
    struct text_view event_name;
    double width;       /* of the last call, for those that leave it out */
    bool has_old_types; /* before 2.8: 0 Java, 1 inlined, 2 kernel, 3 C++, 4 native */
    bool in_pool;       /* between the brackets of the table of names */
    uint64_t line;      /* number of the present one */
    uint64_t box_count;
    const struct read_options *options;
};

struct call {
    char function; /* f, u or n */
    uint64_t arguments[MOST_ARGUMENTS];
    size_t count;
    struct text_view title; /* still escaped; data NULL: none */
};

static const enum frame_kind old_kinds[] = {FRAME_COMPILED, FRAME_INLINED, FRAME_KERNEL, FRAME_CPP,
                                            FRAME_NATIVE};
static const enum frame_kind new_kinds[] = {FRAME_INTERPRETED, FRAME_COMPILED, FRAME_INLINED, FRAME_NATIVE,
                                            FRAME_CPP,         FRAME_KERNEL,   FRAME_C1};

static enum frame_kind kind_of(const struct async_page *page, uint64_t type)
{
    if (page->has_old_types)
        return type < COUNT_OF(old_kinds) ? old_kinds[type] : FRAME_UNKNOWN;
    return type < COUNT_OF(new_kinds) ? new_kinds[type] : FRAME_UNKNOWN;
}

static void add_unescaped(struct text_builder *to, struct text_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\\' && i + 1 < text.size)
            i++;
        text_builder_add_byte(to, text.data[i]);
    }
}

/* The text between the quotes at the front of *line, which loses it. False when it has none. */
static bool cut_quoted(struct text_view *line, struct text_view *text)
{
    if (line->size == 0 || line->data[0] != '\'')
        return false;
    size_t end = 1;
    while (end < line->size && line->data[end] != '\'')
        end += line->data[end] == '\\' ? 2 : 1;
    if (end >= line->size)
        return false;
    *text = text_part(*line, 1, end - 1);
    *line = text_from(*line, end + 1);
    return true;
}

static bool add_pool_name(struct async_page *page, struct text_view packed, struct error *error)
{
    if (page->name_count == 0) {
        add_unescaped(&page->name, packed);
    } else {
        struct text_builder unescaped;
        text_builder_init(&unescaped, NAME_LIMIT_BYTES);
        add_unescaped(&unescaped, packed);
        size_t shared = unescaped.size == 0 ? 0 : (unsigned char)unescaped.data[0] - (size_t)' ';
        bool good = unescaped.size > 0 && shared <= page->name.size && !unescaped.failed;
        if (good) {
            page->name.size = shared;
            text_builder_add(&page->name, text_from(text_builder_view(&unescaped), 1));
        }
        text_builder_release(&unescaped);
        if (!good)
            return error_set(error, ERROR_BAD_INPUT, "a broken name in the table of names");
    }
    uint32_t string = profile_string(page->profile, text_builder_view(&page->name));
    if (string == NO_STRING || page->name.failed ||
        !array_reserve(&page->names, &page->name_capacity, page->name_count + 1, NAMES_LIMIT))
        return error_set_memory(error);
    page->names[page->name_count++] = string;
    return true;
}

/* One or more names on a line. */
static bool read_pool_line(struct async_page *page, struct text_view line, struct error *error)
{
    while (line.size > 0) {
        struct text_view packed;
        if (line.data[0] == ',' || line.data[0] == ' ') {
            line = text_from(line, 1);
            continue;
        }
        if (!cut_quoted(&line, &packed))
            return error_set(error, ERROR_BAD_INPUT, "a broken table of names");
        if (!add_pool_name(page, packed, error))
            return false;
    }
    return true;
}

/* "f(1,2,3)" or "f(1,2,3,4,'title',5)". */
static bool parse_call(struct text_view line, struct call *call)
{
    *call = (struct call){.function = line.data[0]};
    line = text_from(line, 2);
    while (line.size > 0 && line.data[0] != ')') {
        if (line.data[0] == '\'') {
            if (call->title.data != NULL || !cut_quoted(&line, &call->title))
                return false;
        } else {
            size_t end = 0;
            while (end < line.size && line.data[end] != ',' && line.data[end] != ')')
                end++;
            if (call->count == MOST_ARGUMENTS ||
                !text_to_u64(text_part(line, 0, end), &call->arguments[call->count++]))
                return false;
            line = text_from(line, end);
        }
        if (line.size > 0 && line.data[0] == ',')
            line = text_from(line, 1);
    }
    return line.size > 0;
}

static bool add_event(struct async_page *page, struct error *error)
{
    if (page->has_event)
        return true;
    page->event = profile_event(page->profile, page->event_name, page->unit, page->unit != UNIT_COUNT);
    page->has_event = page->event != EVENT_LIMIT;
    return page->has_event || error_set(error, ERROR_MEMORY, "too many events");
}

/* What is the box of all's own stands for outermost boxes that were left out. */
static uint32_t node_of(struct async_page *page, const struct async_level *level)
{
    if (level->node != STACK_ROOT)
        return level->node;
    uint32_t frame = profile_frame(page->profile, LEFT_OUT, TEXT(""), 0, FRAME_UNKNOWN);
    return frame == NO_FRAME ? NO_STACK : stack_tree_child(&page->profile->stacks, STACK_ROOT, frame);
}

/* All boxes of that level and above are complete: what is left of their width is their own. */
static bool close_levels(struct async_page *page, size_t level, struct error *error)
{
    while (page->depth > level) {
        const struct async_level *last = &page->levels[--page->depth];
        if (last->own < 0)
            return error_set(error, ERROR_BAD_INPUT, "a box is narrower than those above it");
        if (last->own == 0)
            continue;
        struct sample sample = {
            .stack = node_of(page, last), .event = page->event, .time_ns = NO_TIME, .value = last->own};
        sample.count = page->unit == UNIT_COUNT ? last->own : 1;
        if (sample.stack == NO_STACK || !profile_add_sample(page->profile, &sample))
            return error_set_memory(error);
    }
    return true;
}

/* Level 0 is the box of all, which is no frame. */
static bool open_level(struct async_page *page, uint64_t level, double width, struct frame frame,
                       struct error *error)
{
    if (level > page->depth || level > READER_DEPTH_LIMIT)
        return error_set(error, ERROR_BAD_INPUT,
                         level > page->depth ? "a box without one below it" : "too many levels");
    if (!add_event(page, error) || !close_levels(page, level, error))
        return false;
    if (!array_reserve(&page->levels, &page->level_capacity, level + 1, READER_DEPTH_LIMIT + 2))
        return error_set_memory(error);
    struct async_level *opened = &page->levels[level];
    *opened = (struct async_level){STACK_ROOT, width};
    page->depth = level + 1;
    page->box_count++;
    if (level == 0)
        return true;
    opened[-1].own -= width;
    uint32_t number = frame_table_add(&page->profile->frames, frame);
    opened->node =
        number == NO_FRAME ? NO_STACK : stack_tree_child(&page->profile->stacks, opened[-1].node, number);
    return opened->node != NO_STACK || error_set_memory(error);
}

/* f(level,left,width,type,'name',…) */
static bool read_titled_call(struct async_page *page, const struct call *call, struct error *error)
{
    if (call->function != 'f' || call->count < 4)
        return error_set(error, ERROR_BAD_INPUT, "a broken call");
    text_builder_clear(&page->name);
    add_unescaped(&page->name, call->title);
    struct frame frame = {.kind = kind_of(page, call->arguments[3])};
    frame.name = profile_string(page->profile, text_builder_view(&page->name));
    if (frame.name == NO_STRING || page->name.failed)
        return error_set_memory(error);
    return open_level(page, call->arguments[0], (double)call->arguments[2], frame, error);
}

static bool read_pooled_call(struct async_page *page, const struct call *call, struct error *error)
{
    uint64_t name = call->arguments[0] >> 3;
    if (call->count == 0 || name >= page->name_count || (call->function == 'f' && call->count < 3))
        return error_set(error, ERROR_BAD_INPUT, "a call without a name that is in the table");
    /* The box of all may be "next to" nothing. */
    bool beside = call->function == 'n' && page->depth > 0;
    uint64_t level = call->function == 'f' ? call->arguments[1] : page->depth - beside;
    size_t width_at = call->function == 'f' ? 3 : 1;
    /* The page's own script takes a width of 0 for a missing one, too. */
    if (call->count > width_at && call->arguments[width_at] > 0)
        page->width = (double)call->arguments[width_at];
    struct frame frame = {.name = page->names[name], .kind = kind_of(page, call->arguments[0] & 7)};
    return open_level(page, level, page->width, frame, error);
}

static bool read_call(struct async_page *page, struct text_view line, struct error *error)
{
    struct call call;
    if (!parse_call(line, &call))
        return error_set(error, ERROR_BAD_INPUT, "a broken call");
    if (call.function == 'u' && page->depth == 0)
        return error_set(error, ERROR_BAD_INPUT, "a box without one below it");
    return call.title.data != NULL ? read_titled_call(page, &call, error)
                                   : read_pooled_call(page, &call, error);
}

static bool holds(struct text_view text, const char *part)
{
    return text_find(text, text_of(part)) != TEXT_NOT_FOUND;
}

/* What the page says about itself before its data. */
static void read_header_line(struct async_page *page, struct text_view line)
{
    if (holds(line, "[0x50bebe,"))
        page->has_old_types = true;
    if (text_starts_with(line, TEXT("\tconst units = '"))) {
        page->unit = holds(line, "'bytes'") ? UNIT_BYTES
                     : holds(line, "'ns'")  ? UNIT_NANOSECONDS
                                            : UNIT_COUNT;
        page->event_name = page->unit == UNIT_BYTES ? TEXT("alloc") : TEXT("samples");
    }
}

static bool is_call(struct text_view line)
{
    return line.size > 2 && (line.data[0] == 'f' || line.data[0] == 'u' || line.data[0] == 'n') &&
           line.data[1] == '(' && (unsigned char)line.data[2] - (unsigned)'0' <= 9;
}

static bool read_page_line(struct async_page *page, struct text_view line, struct error *error)
{
    if (page->in_pool) {
        page->in_pool = !text_starts_with(line, TEXT("]"));
        return !page->in_pool || read_pool_line(page, line, error);
    }
    if (is_call(line))
        return read_call(page, line, error);
    if (text_starts_with(line, TEXT("const cpool")))
        page->in_pool = true;
    else if (page->box_count == 0)
        read_header_line(page, line);
    return true;
}

/* After the boxes nothing of interest comes. */
static bool is_end(const struct async_page *page, struct text_view line)
{
    return page->box_count > 0 && (text_starts_with(line, TEXT("search(")) || holds(line, "</script>"));
}

static bool read_lines(struct async_page *page, struct text_view block, bool *ended, struct error *error)
{
    while (block.size > 0 && !*ended) {
        struct text_view line = line_cut(&block);
        page->line++;
        if (!read_page_line(page, line, error))
            return error_prefix(error, "line %llu", (unsigned long long)page->line);
        *ended = is_end(page, line);
    }
    return true;
}

static bool read_page(struct async_page *page, struct byte_source *source, struct error *error)
{
    struct line_reader lines = {.source = source};
    struct text_view block;
    bool ended = false;
    while (!ended && line_reader_next(&lines, &block, error))
        if (!read_lines(page, block, &ended, error))
            return false;
    if (lines.failed)
        return false;
    if (page->box_count == 0)
        return error_set(error, ERROR_BAD_INPUT, "line %llu: the page ends without a flame graph",
                         (unsigned long long)page->line);
    if (!ended)
        reader_notice(page->options, "the page is cut off: its last boxes are missing");
    return close_levels(page, 0, error);
}

static bool read_async_html(struct byte_source *source, const struct read_options *options,
                            struct profile *profile, struct error *error)
{
    struct async_page page = {.profile = profile, .unit = UNIT_COUNT, .event_name = TEXT("samples")};
    page.options = options;
    text_builder_init(&page.name, NAME_LIMIT_BYTES);
    bool good = read_page(&page, source, error);
    text_builder_release(&page.name);
    free(page.names);
    free(page.levels);
    return good;
}

static int recognizes(struct text_view head)
{
    return holds(head, "function f(level, left, width") || holds(head, "function f(key, level, left, width")
               ? 95
               : 0;
}

const struct reader reader_async_html = {
    .name = "async_html",
    .summary = "flame graph pages of async-profiler",
    .recognizes = recognizes,
    .read = read_async_html,
};
