#include "input/json_reader.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "input/json_scan.h"

#define NUMBER_BYTES 64
#define END_OF_INPUT (-1)

enum json_state {
    STATE_VALUE,       /* a value at the top level */
    STATE_FIRST_ITEM,  /* a value or ] */
    STATE_FIRST_KEY,   /* a key or } */
    STATE_COLON,       /* after a key */
    STATE_AFTER_VALUE, /* a comma or the end of the object or array */
    STATE_FAILED,
};

void json_reader_init(struct json_reader *json, struct byte_source *source, size_t text_limit_bytes)
{
    *json = (struct json_reader){.source = source, .state = STATE_VALUE};
    json->begin_offset = source == NULL ? 0 : byte_source_position(source);
    text_builder_init(&json->unescaped, text_limit_bytes);
}

void json_reader_init_memory(struct json_reader *json, struct text_view text, uint64_t offset,
                             size_t text_limit_bytes)
{
    json_reader_init(json, NULL, text_limit_bytes);
    json_reader_reset_memory(json, text, offset);
}

void json_reader_reset_memory(struct json_reader *json, struct text_view text, uint64_t offset)
{
    json->begin = json->at = text.data;
    json->end = text.data + text.size;
    json->begin_offset = offset;
    json->depth = 0;
    json->state = STATE_VALUE;
}

void json_reader_release(struct json_reader *json)
{
    text_builder_release(&json->unescaped);
}

uint64_t json_reader_offset(const struct json_reader *json)
{
    return json->begin_offset + (uint64_t)(json->at - json->begin);
}

bool json_reader_fail(struct json_reader *json, struct error *error, const char *what)
{
    json->state = STATE_FAILED;
    return error_set(error, ERROR_BAD_INPUT, "offset %llu: %s", (unsigned long long)json_reader_offset(json),
                     what);
}

/* Fetches more bytes once those at hand are used up. False at the end of the input. */
static bool fill(struct json_reader *json, struct error *error)
{
    if (json->source == NULL)
        return false;
    byte_source_skip(json->source, (size_t)(json->at - json->begin));
    json->begin_offset = byte_source_position(json->source);
    struct text_view bytes = byte_source_peek(json->source, 1, error);
    json->begin = json->at = bytes.data;
    json->end = bytes.data + bytes.size;
    return bytes.size > 0;
}

static int peek_byte(struct json_reader *json, struct error *error)
{
    if (json->at == json->end && !fill(json, error))
        return END_OF_INPUT;
    return (unsigned char)*json->at;
}

/* The first byte that is no white space, unread. */
static int peek_past_blanks(struct json_reader *json, struct error *error)
{
    for (;;) {
        while (json->at < json->end) {
            char byte = *json->at;
            if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')
                return (unsigned char)byte;
            json->at++;
        }
        if (!fill(json, error))
            return END_OF_INPUT;
    }
}

/* At the end of the input: a read error was already returned. */
static bool fail_at_end(struct json_reader *json, struct error *error)
{
    if (json->source != NULL && byte_source_failed(json->source)) {
        json->state = STATE_FAILED;
        return false;
    }
    return json_reader_fail(json, error, "the JSON ends too early");
}

static bool in_object(const struct json_reader *json)
{
    size_t level = json->depth - 1;
    return json->depth > 0 && (json->is_object[level / 64] >> (level % 64) & 1) != 0;
}

static bool push(struct json_reader *json, bool object, struct error *error)
{
    if (json->depth == JSON_DEPTH_LIMIT)
        return json_reader_fail(json, error, "the JSON is nested too deeply");
    size_t level = json->depth++;
    uint64_t bit = (uint64_t)1 << (level % 64);
    if (object)
        json->is_object[level / 64] |= bit;
    else
        json->is_object[level / 64] &= ~bit;
    return true;
}

static bool read_hex4(struct json_reader *json, uint32_t *code, struct error *error)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int byte = peek_byte(json, error);
        if (byte == END_OF_INPUT)
            return fail_at_end(json, error);
        int letter = (byte | 0x20) - 'a';
        int digit = byte >= '0' && byte <= '9' ? byte - '0' : letter >= 0 && letter <= 5 ? letter + 10 : -1;
        if (digit < 0)
            return json_reader_fail(json, error, "\\u without four hexadecimal digits");
        *code = *code << 4 | (uint32_t)digit;
        json->at++;
    }
    return true;
}

/* A high surrogate whose low one does not follow. */
static void give_up_surrogate(struct json_reader *json)
{
    if (json->high_surrogate != 0)
        utf8_add_code_point(&json->unescaped, 0xfffd);
    json->high_surrogate = 0;
}

static bool read_code_point(struct json_reader *json, struct error *error)
{
    uint32_t code;
    if (!read_hex4(json, &code, error))
        return false;
    if (json->high_surrogate != 0 && code >= 0xdc00 && code <= 0xdfff) {
        code = 0x10000 + ((json->high_surrogate - 0xd800) << 10) + (code - 0xdc00);
        json->high_surrogate = 0;
    }
    give_up_surrogate(json);
    if (code >= 0xd800 && code <= 0xdbff)
        json->high_surrogate = code;
    else
        utf8_add_code_point(&json->unescaped, code);
    return true;
}

static bool read_escape(struct json_reader *json, struct error *error)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    json->at++;
    int byte = peek_byte(json, error);
    if (byte == END_OF_INPUT)
        return fail_at_end(json, error);
    const char *letter = byte == 0 ? NULL : strchr(letters, byte);
    if (letter == NULL && byte != 'u')
        return json_reader_fail(json, error, "unknown escape in a string");
    json->at++;
    if (letter == NULL)
        return read_code_point(json, error);
    give_up_surrogate(json);
    text_builder_add_byte(&json->unescaped, meanings[letter - letters]);
    return true;
}

/* The string has escapes, or goes on beyond the bytes at hand. */
static bool read_long_string(struct json_reader *json, struct error *error)
{
    text_builder_clear(&json->unescaped);
    json->high_surrogate = 0;
    for (;;) {
        const char *special = json_scan_string(json->at, json->end);
        if (special > json->at)
            give_up_surrogate(json);
        text_builder_add(&json->unescaped, (struct text_view){json->at, (size_t)(special - json->at)});
        json->at = special;
        int byte = peek_byte(json, error);
        if (byte == END_OF_INPUT)
            return fail_at_end(json, error);
        if (byte == '"')
            break;
        if (byte == '\\' && !read_escape(json, error))
            return false;
    }
    if (json->unescaped.failed)
        return json_reader_fail(json, error, "a string is too long");
    json->at++;
    give_up_surrogate(json);
    json->text = text_builder_view(&json->unescaped);
    return true;
}

static bool read_string(struct json_reader *json, struct error *error)
{
    json->at++;
    const char *special = json_scan_string(json->at, json->end);
    if (special == json->end || *special == '\\')
        return read_long_string(json, error);
    json->text = (struct text_view){json->at, (size_t)(special - json->at)};
    json->at = special + 1;
    return true;
}

static bool is_number_byte(int byte)
{
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || (byte | 0x20) == 'e';
}

/* A word of letters, digits and signs, such as a number or "true", at most NUMBER_BYTES. */
static size_t read_word(struct json_reader *json, char word[NUMBER_BYTES], struct error *error)
{
    size_t size = 0;
    for (;;) {
        int byte = peek_byte(json, error);
        bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        if (byte == END_OF_INPUT || (!letter && !is_number_byte(byte)))
            return size;
        if (size == NUMBER_BYTES)
            return 0;
        word[size++] = (char)byte;
        json->at++;
    }
}

/* JSON's rule up to the point: an optional minus, a digit, no needless zero; and nothing that strtod() alone knows. */
static bool is_json_number(struct text_view word)
{
    size_t at = word.size > 0 && word.data[0] == '-';
    size_t digits = at;
    while (at < word.size && word.data[at] >= '0' && word.data[at] <= '9')
        at++;
    bool good = at > digits && (at == digits + 1 || word.data[digits] != '0');
    while (at < word.size && is_number_byte((unsigned char)word.data[at]))
        at++;
    return good && at == word.size;
}

static bool read_special_number(struct json_reader *json, struct text_view word)
{
    bool negative = word.data[0] == '-';
    struct text_view bare = text_from(word, negative);
    if (text_equal(bare, TEXT("NaN")))
        json->number = NAN;
    else if (text_equal(bare, TEXT("Infinity")))
        json->number = negative ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static enum json_token read_literal(struct json_reader *json, struct error *error)
{
    char word_bytes[NUMBER_BYTES];
    struct text_view word = {word_bytes, read_word(json, word_bytes, error)};
    if (text_equal(word, TEXT("true")))
        return JSON_TRUE;
    if (text_equal(word, TEXT("false")))
        return JSON_FALSE;
    if (text_equal(word, TEXT("null")))
        return JSON_NULL;
    json->is_integer = text_to_i64(word, &json->integer);
    if (json->is_integer)
        json->number = (double)json->integer;
    bool good =
        word.size > 0 && (is_json_number(word) ? json->is_integer || text_to_double(word, &json->number)
                                               : read_special_number(json, word));
    if (good)
        return JSON_NUMBER;
    json_reader_fail(json, error, "neither a value nor a number within range");
    return JSON_FAILED;
}

/* Small whole numbers, which make up most of a file. False when it is something else; then nothing is read. */
static bool read_small_number(struct json_reader *json)
{
    const char *at = json->at;
    int64_t value = 0;
    while (at < json->end && at - json->at < 18 && *at >= '0' && *at <= '9')
        value = value * 10 + (*at++ - '0');
    bool whole = at > json->at && at < json->end && (*at == ',' || *at == ']' || *at == '}');
    if (!whole || (*json->at == '0' && at > json->at + 1))
        return false;
    json->at = at;
    json->integer = value;
    json->number = (double)value;
    json->is_integer = true;
    return true;
}

static enum json_token read_value(struct json_reader *json, int byte, struct error *error)
{
    json->state = STATE_AFTER_VALUE;
    if (byte == '"')
        return read_string(json, error) ? JSON_TEXT : JSON_FAILED;
    if (byte == '{' || byte == '[') {
        if (!push(json, byte == '{', error))
            return JSON_FAILED;
        json->at++;
        json->state = byte == '{' ? STATE_FIRST_KEY : STATE_FIRST_ITEM;
        return byte == '{' ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
    }
    return read_small_number(json) ? JSON_NUMBER : read_literal(json, error);
}

static enum json_token leave_level(struct json_reader *json)
{
    bool object = in_object(json);
    json->depth--;
    json->state = STATE_AFTER_VALUE;
    return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static enum json_token close_level(struct json_reader *json)
{
    json->at++;
    return leave_level(json);
}

static enum json_token read_key(struct json_reader *json, int byte, struct error *error)
{
    if (byte != '"') {
        json_reader_fail(json, error, "no name of a member where one must stand");
        return JSON_FAILED;
    }
    json->state = STATE_COLON;
    return read_string(json, error) ? JSON_KEY : JSON_FAILED;
}

static bool is_closing(const struct json_reader *json, int byte)
{
    return json->depth > 0 && byte == (in_object(json) ? '}' : ']');
}

/* Between two members or items. */
static enum json_token read_after_value(struct json_reader *json, int byte, struct error *error)
{
    if (json->depth == 0)
        return read_value(json, byte, error);
    if (is_closing(json, byte))
        return close_level(json);
    if (byte != ',') {
        json_reader_fail(json, error,
                         in_object(json) ? "neither , nor } after a value" : "neither , nor ] after a value");
        return JSON_FAILED;
    }
    json->at++;
    byte = peek_past_blanks(json, error);
    if (byte == END_OF_INPUT) {
        fail_at_end(json, error);
        return JSON_FAILED;
    }
    return in_object(json) ? read_key(json, byte, error) : read_value(json, byte, error);
}

static enum json_token read_member_value(struct json_reader *json, int byte, struct error *error)
{
    if (byte != ':') {
        json_reader_fail(json, error, "no colon after the name of a member");
        return JSON_FAILED;
    }
    json->at++;
    byte = peek_past_blanks(json, error);
    if (byte != END_OF_INPUT)
        return read_value(json, byte, error);
    fail_at_end(json, error);
    return JSON_FAILED;
}

enum json_token json_reader_next(struct json_reader *json, struct error *error)
{
    if (json->state == STATE_FAILED)
        return JSON_FAILED;
    int byte = peek_past_blanks(json, error);
    if (byte == END_OF_INPUT) {
        if (json->depth == 0 && (json->source == NULL || !byte_source_failed(json->source)))
            return JSON_END;
        fail_at_end(json, error);
        return JSON_FAILED;
    }
    switch ((enum json_state)json->state) {
    case STATE_COLON:
        return read_member_value(json, byte, error);
    case STATE_FIRST_ITEM:
        return is_closing(json, byte) ? close_level(json) : read_value(json, byte, error);
    case STATE_FIRST_KEY:
        return is_closing(json, byte) ? close_level(json) : read_key(json, byte, error);
    case STATE_AFTER_VALUE:
        return read_after_value(json, byte, error);
    default:
        return read_value(json, byte, error);
    }
}

bool json_reader_skip(struct json_reader *json, enum json_token first, struct error *error)
{
    if (first != JSON_OBJECT_BEGIN && first != JSON_ARRAY_BEGIN)
        return first != JSON_FAILED;
    const char *behind = json_scan_nested(json->at - 1, json->end);
    if (behind != NULL) {
        json->at = behind;
        (void)leave_level(json);
        return true;
    }
    size_t outside = json->depth - 1;
    while (json->depth > outside)
        if (json_reader_next(json, error) == JSON_FAILED)
            return false;
    return true;
}

bool json_reader_skip_next(struct json_reader *json, struct error *error)
{
    return json_reader_skip(json, json_reader_next(json, error), error);
}

/* Short texts of equal size; cheaper than a call of memcmp(). */
static bool are_same(const char *left, const char *right, size_t size)
{
    uint64_t words[2];
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        memcpy(&words[0], left + at, sizeof(uint64_t));
        memcpy(&words[1], right + at, sizeof(uint64_t));
        if (words[0] != words[1])
            return false;
    }
    for (; at < size; at++)
        if (left[at] != right[at])
            return false;
    return true;
}

bool json_reader_take_key(struct json_reader *json, struct text_view key)
{
    const char *at = json->at;
    bool has_comma = json->state == STATE_AFTER_VALUE;
    if ((size_t)(json->end - at) < key.size + has_comma + 3 || (has_comma && *at++ != ','))
        return false;
    if (at[0] != '"' || at[key.size + 1] != '"' || at[key.size + 2] != ':' ||
        !are_same(at + 1, key.data, key.size))
        return false;
    json->at = at + key.size + 3;
    json->state = STATE_VALUE;
    return true;
}

bool json_reader_take_integer(struct json_reader *json, int64_t *integer)
{
    if (json->state != STATE_VALUE || !read_small_number(json))
        return false;
    *integer = json->integer;
    json->state = STATE_AFTER_VALUE;
    return true;
}

bool json_reader_expect(struct json_reader *json, enum json_token token, const char *what,
                        struct error *error)
{
    enum json_token got = json_reader_next(json, error);
    if (got == token || got == JSON_FAILED)
        return got == token;
    char text[128];
    snprintf(text, sizeof(text), "expected %s", what);
    return json_reader_fail(json, error, text);
}
