/*
 * json_out.h - writes JSON objects member by member.
 *
 * Owns: nothing.
 */
#ifndef SPARK_JSON_OUT_H
#define SPARK_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "base/string_table.h"

struct json_out {
    struct output *output;
    const struct string_table *strings; /* for json_out_text() */
    bool is_first;                      /* the next member is its object's first */
};

void json_out_key(struct json_out *out, const char *name);
void json_out_number(struct json_out *out, const char *name, int64_t value);
/* NO_MS is null. */
void json_out_moment(struct json_out *out, const char *name, int64_t value);
void json_out_plain(struct json_out *out, const char *name, const char *value);
/* 0 is null. */
void json_out_text(struct json_out *out, const char *name, uint32_t string);
void json_out_flag(struct json_out *out, const char *name, bool value);
/* An item of a list, which is an object; `index` 0 is the first. */
void json_out_begin(struct json_out *out, size_t index);
void json_out_end(struct json_out *out);
/* A member of the outermost object that is a list. */
void json_out_list(struct json_out *out, const char *name);
void json_out_end_list(struct json_out *out);

#endif
