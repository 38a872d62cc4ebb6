/*
 * stack_lines.h - the counted stacks of one kind as lines of text, root first, equal ones summed.
 *
 * Owns: the texts and lines, until stack_lines_release().
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_STACK_LINES_H
#define JVM_AGENT_STACK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/string_table.h"
#include "jvm_agent/profile_text.h"

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

bool stack_lines_build(struct stack_lines *lines, const struct profile_view *view,
                       struct error *error) MUST_CHECK;
void stack_lines_release(struct stack_lines *lines);

#endif
