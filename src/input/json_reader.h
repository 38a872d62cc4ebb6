/*
 * json_reader.h - JSON token by token, from a byte source or from memory; several values may follow one another.
 *
 *     while ((token = json_reader_next(&json, error)) == JSON_KEY)
 *         if (text_equal(json.text, TEXT("name"))) ...
 *
 * Lenient, as real files need: NaN and Infinity are numbers, strings may contain control characters, invalid UTF-8 is
 * passed on.
 *
 * Owns: a buffer for strings, until json_reader_release(). The source stays the caller's.
 * Threads: one at a time.
 * Limit: JSON_DEPTH_LIMIT nested values; text_limit_bytes for one string.
 */
#ifndef INPUT_JSON_READER_H
#define INPUT_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "input/byte_source.h"

#define JSON_DEPTH_LIMIT 1024

enum json_token {
    JSON_FAILED, /* *error has place and reason; permanent */
    JSON_END,    /* of the input */
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_KEY,    /* in text */
    JSON_TEXT,   /* in text */
    JSON_NUMBER, /* in number, and in integer if it is one */
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

struct json_reader {
    struct text_view text; /* without quotes and escapes; valid until the next call */
    double number;
    int64_t integer;
    bool is_integer;
    size_t depth;

    struct byte_source *source; /* NULL: memory */
    const char *begin;          /* of the bytes at hand */
    const char *at;
    const char *end;
    uint64_t begin_offset;
    struct text_builder unescaped;
    uint32_t high_surrogate;                   /* of a pair whose second half must come next; 0: none */
    uint64_t is_object[JSON_DEPTH_LIMIT / 64]; /* one bit per level */
    int state;
};

void json_reader_init(struct json_reader *json, struct byte_source *source, size_t text_limit_bytes);
/* `offset` is where the text begins in its file, for error messages. */
void json_reader_init_memory(struct json_reader *json, struct text_view text, uint64_t offset,
                             size_t text_limit_bytes);
/* Starts again on other text, with the buffers kept. */
void json_reader_reset_memory(struct json_reader *json, struct text_view text, uint64_t offset);
void json_reader_release(struct json_reader *json);
enum json_token json_reader_next(struct json_reader *json, struct error *error) MUST_CHECK;
/* Skips the rest of the value that `first` began; does nothing if it is not an object or array. Only the end is
 * searched for: errors inside may go unnoticed. */
bool json_reader_skip(struct json_reader *json, enum json_token first, struct error *error) MUST_CHECK;
/* Skips the next value, as after a key that is not needed. */
bool json_reader_skip_next(struct json_reader *json, struct error *error) MUST_CHECK;
/* Inside an object, where a key or the end comes next: true when it is this key, right before its value, without
 * blanks; else nothing is read. Cheaper than reading the key and comparing. */
bool json_reader_take_key(struct json_reader *json, struct text_view key) MUST_CHECK;
/* After json_reader_take_key(): true when the value is a small whole number; else nothing is read. */
bool json_reader_take_integer(struct json_reader *json, int64_t *integer) MUST_CHECK;
/* The next token must be this one. `what` names it in the error, as in "a number". */
bool json_reader_expect(struct json_reader *json, enum json_token token, const char *what,
                        struct error *error) MUST_CHECK;
/* Offset of the next byte. */
uint64_t json_reader_offset(const struct json_reader *json);
/* Reports bad input at the current position. */
bool json_reader_fail(struct json_reader *json, struct error *error, const char *what);

#endif
