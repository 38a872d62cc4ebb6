#include "formats/folded/folded_batch.h"

#include <stdlib.h>

#include "base/array.h"
#include "formats/folded/folded_line.h"
#include "input/line_reader.h"

void folded_batch_release(struct folded_batch *batch)
{
    free(batch->records);
    batch->records = NULL;
    batch->size = batch->capacity = 0;
}

void folded_counts_add(struct folded_counts *counts, const struct folded_counts *more)
{
    if (counts->unknown_lines == 0 && more->unknown_lines > 0)
        counts->first_unknown = counts->lines + more->first_unknown;
    counts->lines += more->lines;
    counts->stacks += more->stacks;
    counts->unknown_lines += more->unknown_lines;
}

static bool add_record(struct folded_batch *batch, const struct folded_line *parsed, bool is_after)
{
    if (!array_reserve(&batch->records, &batch->capacity, batch->size + 1,
                       SIZE_MAX / sizeof(*batch->records)))
        return error_set_memory(&batch->error);
    struct folded_record *record = &batch->records[batch->size++];
    record->stack = parsed->stack;
    record->hash = wide_hash_of(parsed->stack);
    record->counts[0] = is_after ? 0 : parsed->counts[0];
    record->counts[1] = is_after ? parsed->counts[0] : parsed->counts[1];
    batch->counts.stacks++;
    return true;
}

static bool add_line(struct folded_batch *batch, struct text_view line, struct folded_sides sides)
{
    struct folded_line parsed = {.counts = {0, 0}};
    batch->counts.lines++;
    if (LIKELY(!sides.two_counts && folded_line_parse_usual(line, &parsed)))
        return add_record(batch, &parsed, sides.is_after);
    switch (folded_line_parse(line, sides.two_counts, &parsed, &batch->error)) {
    case FOLDED_NOTHING:
        return true;
    case FOLDED_UNKNOWN:
        if (batch->counts.unknown_lines++ == 0)
            batch->counts.first_unknown = batch->counts.lines;
        return true;
    case FOLDED_BAD:
        return false;
    case FOLDED_STACK:
        break;
    }
    return add_record(batch, &parsed, sides.is_after);
}

void folded_batch_fill(struct folded_batch *batch, struct text_view *text, size_t most,
                       struct folded_sides sides)
{
    batch->size = 0;
    batch->counts = (struct folded_counts){0};
    batch->failed = false;
    while (!batch->failed && text->size > 0 && batch->size < most)
        batch->failed = !add_line(batch, line_cut(text), sides);
}
