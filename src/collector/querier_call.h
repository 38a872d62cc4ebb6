/*
 * querier_call.h - one call of Pyroscope's querier.v1.QuerierService, as clients of the Connect protocol send it: a
 * message of protobuf or JSON.
 *
 * Owns: copies of its texts, until querier_call_release().
 */
#ifndef COLLECTOR_QUERIER_CALL_H
#define COLLECTOR_QUERIER_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

enum querier_method {
    QUERIER_PROFILE_TYPES,
    QUERIER_LABEL_NAMES,
    QUERIER_LABEL_VALUES,
    QUERIER_SERIES,
    QUERIER_MERGE_STACKTRACES,
    QUERIER_MERGE_PROFILE,
    QUERIER_SELECT_SERIES,
};

/* Texts of one list. */
#define QUERIER_TEXTS 64
#define QUERIER_CALL_BYTES ((size_t)1 << 20)

struct querier_texts {
    struct text_view items[QUERIER_TEXTS];
    size_t count;
};

/* PROFILE_FORMAT_UNSPECIFIED and PROFILE_FORMAT_FLAMEGRAPH; there are others. */
enum { QUERIER_FORMAT_DEFAULT, QUERIER_FORMAT_FLAMEGRAPH };

struct querier_call {
    enum querier_method method;
    bool is_json; /* and so is the answer */
    struct querier_texts selectors;
    struct querier_texts label_names; /* also those to group by */
    struct text_view name;
    struct text_view profile_type;
    uint64_t start_ms, end_ms; /* 0: not given */
    uint64_t max_nodes;
    uint64_t format;
    double step_s; /* 0: not given */
    struct arena arena;
};

/* Release it also after a failure. */
bool querier_call_read(struct querier_call *call, enum querier_method method, bool is_json,
                       struct text_view body, struct error *error) MUST_CHECK;
void querier_call_release(struct querier_call *call);

#endif
