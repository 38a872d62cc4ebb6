/*
 * jfr_spans.h - spans and labels of threads over time, to be joined with the samples of a recording.
 *
 * A text of the form "stage=3;task=17" is a list of labels, with %XX for escaped bytes; any other text is the value
 * of the label "span".
 *
 * Owns: spans and texts, until jfr_spans_release().
 * Threads: one at a time while adding; after jfr_spans_sort() many may look up.
 */
#ifndef FORMATS_JFR_SPANS_H
#define FORMATS_JFR_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/string_table.h"
#include "base/text_view.h"
#include "model/profile.h"

#define JFR_NO_SPAN 0

struct jfr_span {
    uint64_t thread;
    int64_t from_ns;
    int64_t to_ns; /* first moment after it */
    uint32_t text; /* in texts; 0: none */
    bool is_open;  /* lasts until the thread's next open one */
};

struct jfr_spans {
    struct string_table texts;
    struct jfr_span *spans;
    size_t size;
    size_t capacity;
    bool is_sorted;
};

bool jfr_spans_init(struct jfr_spans *spans) MUST_CHECK;
void jfr_spans_release(struct jfr_spans *spans);
/* False: out of memory. */
bool jfr_spans_add(struct jfr_spans *spans, uint64_t thread, int64_t from_ns, int64_t to_ns,
                   struct text_view text, bool is_open) MUST_CHECK;
void jfr_spans_sort(struct jfr_spans *spans);
/* The text of the innermost span of the thread at the time; JFR_NO_SPAN when there is none. */
uint32_t jfr_spans_find(const struct jfr_spans *spans, uint64_t thread, int64_t time_ns);
/* Appends the labels that a text stands for, at most LABEL_KEY_LIMIT in all. False: out of memory. */
bool jfr_spans_labels(struct text_view text, struct profile *profile, struct label *labels,
                      size_t *count) MUST_CHECK;

#endif
