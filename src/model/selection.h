/*
 * selection.h - selects samples, and trims, reverses and groups their stacks.
 *
 * Owns: the patterns and lists, until selection_release().
 * Threads: one at a time.
 */
#ifndef MODEL_SELECTION_H
#define MODEL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/pattern.h"
#include "model/profile.h"
#include "model/weight.h"

#define SELECTION_LIST_LIMIT 32

/* Only samples whose label is one of the values, or matches the pattern. */
struct label_filter {
    uint32_t key;       /* set by selection_apply() for its profile */
    const char *name;   /* the key as given, for messages */
    const char *values; /* comma-separated; NULL when there is a pattern */
    struct pattern *pattern;
};

struct selection {
    const char *event; /* name; NULL: all */
    int64_t from_ns;   /* NO_TIME: open */
    int64_t to_ns;
    bool from_is_relative; /* to the first sample (or, when negative, to the last) */
    bool to_is_relative;
    struct label_filter labels[SELECTION_LIST_LIMIT];
    size_t label_count;
    struct pattern *include[SELECTION_LIST_LIMIT]; /* stacks with a frame that matches one of them */
    size_t include_count;
    struct pattern *exclude[SELECTION_LIST_LIMIT]; /* stacks without */
    size_t exclude_count;
    struct pattern *only_frames[SELECTION_LIST_LIMIT]; /* frames that stay */
    size_t only_frame_count;
    struct pattern *drop_frames[SELECTION_LIST_LIMIT]; /* frames to remove; their callees move up */
    size_t drop_frame_count;
    struct pattern *base[SELECTION_LIST_LIMIT]; /* removes frames outside the innermost match */
    size_t base_count;
    double min_share;                          /* of the total, 0 to 1: smaller subtrees become "[other]" */
    uint32_t group_keys[SELECTION_LIST_LIMIT]; /* outermost frames made of labels, first key outermost */
    const char *group_names[SELECTION_LIST_LIMIT];
    size_t group_count;
    bool reverse;                          /* innermost frame first */
    bool collapse_recursion;               /* f;f;f becomes f */
    enum weight weight;                    /* for min_share */
    char *texts[2 * SELECTION_LIST_LIMIT]; /* of selection_copy_text() */
    size_t text_count;
};

void selection_init(struct selection *selection);
void selection_release(struct selection *selection);
/* A copy that lives until selection_release(); NULL: too many, or out of memory. */
char *selection_copy_text(struct selection *selection, const char *text);
/* True if nothing is selected or changed. */
bool selection_is_all(const struct selection *selection);
/* Copies what is selected of `from` to the empty profile `to`. Fails with ERROR_USAGE if a label key or event is not
 * in the profile, listing those that are. */
bool selection_apply(struct selection *selection, const struct profile *from, struct profile *to,
                     struct error *error) MUST_CHECK;

#endif
