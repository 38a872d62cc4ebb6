/*
 * rollup_cover.h - which roll-ups and which recordings give a range of a group's recordings, each once.
 *
 * Owns: the spans, until rollup_cover_release(). Threads: one at a time.
 */
#ifndef COLLECTOR_ROLLUP_COVER_H
#define COLLECTOR_ROLLUP_COVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/store/recording_index.h"

/* By number, without overlaps. */
struct rollup_span {
    uint64_t rollup;       /* 0: the recordings themselves, of which there may be none */
    uint64_t from, before; /* numbers of recordings */
};

struct rollup_cover {
    struct rollup_span *spans;
    size_t count, capacity;
};

/* Of the recordings with numbers in [from, before), with as few roll-ups as there are; without them one span. */
bool rollup_cover_make(struct rollup_cover *cover, struct recording_index *index, const char *group,
                       uint64_t from, uint64_t before, bool uses_rollups, struct error *error) MUST_CHECK;
/* Adds recordings themselves at the end, in place of a roll-up that cannot be read. */
bool rollup_cover_replace(struct rollup_cover *cover, size_t span, struct error *error) MUST_CHECK;
void rollup_cover_release(struct rollup_cover *cover);

#endif
