/*
 * label_details.h - labels implied by another label: "stage=3" implies "job=1;description=nightly".
 *
 * They are written once per chunk, not with each task's labels. Readers join them by the first label of a label set.
 *
 * Owns: copies of the strings, for the life of the process.
 * Threads: one at a time.
 * Limit: the last LABEL_DETAILS_LIMIT labels, and of these the last LABEL_DETAILS_LIMIT_BYTES.
 */
#ifndef JVM_AGENT_LABEL_DETAILS_H
#define JVM_AGENT_LABEL_DETAILS_H

#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

#define LABEL_DETAILS_LIMIT 256
#define LABEL_DETAILS_LIMIT_BYTES ((size_t)256 << 10)

/* Sets or replaces; false: unchanged, or out of memory. */
bool label_details_set(struct text_view label, struct text_view labels);
/* A label set, or a label alone, is used in the chunk: appends the event of its first label, if there is one and the
 * chunk does not contain it yet. */
void label_details_use(struct text_view tag, struct text_builder *events, uint32_t chunk, uint64_t time_ns);

#endif
