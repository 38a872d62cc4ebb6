/*
 * jfr_constants.h - the constants of a recording that is being written, without duplicates.
 *
 * Owns: its tables and bytes, until jfr_constants_release().
 * Limit: a builder that runs over its limit sets `failed`.
 */
#ifndef FORMATS_JFR_CONSTANTS_H
#define FORMATS_JFR_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "formats/jfr/jfr_output.h"
#include "model/profile.h"

/* Constants of one type, as written to the file. */
struct jfr_constant_list {
    struct id_map numbers;
    struct text_builder bytes;
    uint64_t count;
};

struct jfr_constants {
    const struct profile *profile;
    struct string_table symbols;
    struct jfr_constant_list classes;
    struct jfr_constant_list methods;
    struct jfr_constant_list traces;
    struct jfr_constant_list threads;
    struct jfr_constant_list states;
    struct string_table strings;
    struct text_builder text;
    bool failed;
};

#define JFR_STATE_DEFAULT 0
/* A number that no constant has: the state is not known. */
#define JFR_STATE_NONE 100

bool jfr_constants_init(struct jfr_constants *constants, const struct profile *profile) MUST_CHECK;
void jfr_constants_release(struct jfr_constants *constants);
/* Each gives the number of the constant. Out of memory sets constants->failed. */
uint64_t jfr_constants_class(struct jfr_constants *constants, struct text_view dotted_name);
uint64_t jfr_constants_trace(struct jfr_constants *constants, uint32_t node);
/* By the strings of the labels "thread" and "thread_id", 0 when there is none. */
uint64_t jfr_constants_thread(struct jfr_constants *constants, uint32_t name, uint32_t id);
uint64_t jfr_constants_state(struct jfr_constants *constants, uint32_t state);
uint64_t jfr_constants_string(struct jfr_constants *constants, struct text_view text);
/* Appends the checkpoint event. */
void jfr_constants_put(struct jfr_constants *constants, bool with_default_state, struct text_builder *out);

#endif
