/*
 * label_details.h - labels that one label brings along: "stage=3" means "job=1;description=nightly" as well.
 *
 * So they stand once in a chunk, not in each task's tag. Readers join them by the first part of a tag.
 *
 * Owns: copies of the texts, for the life of the process.
 * Threads: one at a time.
 * Limit: the last LABEL_DETAILS_LIMIT labels.
 */
#ifndef JVM_AGENT_LABEL_DETAILS_H
#define JVM_AGENT_LABEL_DETAILS_H

#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

#define LABEL_DETAILS_LIMIT 256

/* Sets or replaces; false: nothing new, or out of memory. */
bool label_details_set(struct text_view label, struct text_view labels);
/* A tag, or a label alone, is used in the chunk: appends the event for its first part, if there is one and the chunk
 * has not got it yet. */
void label_details_use(struct text_view tag, struct text_builder *events, uint32_t chunk, uint64_t time_ns);

#endif
