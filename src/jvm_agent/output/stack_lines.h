/*
 * stack_lines.h - the counted stacks of one event as lines of text, root first, equal lines summed.
 *
 * Owns: the texts and lines, until stack_lines_release().
 * Threads: one at a time.
 * Limit: the view's limit_bytes, for a recording whose tables were renewed. Beyond it the stacks with the fewest
 * samples are reduced to their first frames, "[dropped]" and the leaf, so that totals and leaves stay correct.
 */
#ifndef JVM_AGENT_STACK_LINES_H
#define JVM_AGENT_STACK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/string_table.h"
#include "jvm_agent/output/profile_view.h"

struct stack_line {
    const uint32_t *frames; /* numbers in `texts`, root first */
    uint32_t depth;
    uint64_t samples;
    uint64_t value;
};

struct stack_lines {
    struct string_table texts;
    struct arena arena;
    struct stack_line *lines;
    size_t count, capacity;
    uint64_t samples, value; /* of all lines */
};

/* `frame_bytes`: memory that the caller's output needs per frame of a line, in addition to the line itself. */
bool stack_lines_build(struct stack_lines *lines, const struct profile_view *view, size_t frame_bytes,
                       struct error *error) MUST_CHECK;
/* The same for one generation of tables, without a limit. */
bool stack_lines_build_part(struct stack_lines *lines, const struct profile_view *view,
                            struct recording_tables *tables, const struct spilled_threads *threads,
                            struct error *error) MUST_CHECK;
void stack_lines_release(struct stack_lines *lines);

#endif
