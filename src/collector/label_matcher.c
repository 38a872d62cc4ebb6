#include "collector/label_matcher.h"

#include <string.h>

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte == '.';
}

/* ---- reading ---- */

static struct text_view cut_name(struct text_view *rest)
{
    size_t size = 0;
    while (size < rest->size && is_name_byte(rest->data[size]))
        size++;
    struct text_view name = text_part(*rest, 0, size);
    *rest = text_trim(text_from(*rest, size));
    return name;
}

static bool cut_operator(struct text_view *rest, struct label_matcher *matcher)
{
    static const struct {
        const char *text;
        bool is_negative, is_pattern;
    } operators[] = {{"=~", false, true}, {"!~", true, true}, {"!=", true, false}, {"=", false, false}};
    for (size_t i = 0; i < COUNT_OF(operators); i++) {
        if (!text_starts_with(*rest, text_of(operators[i].text)))
            continue;
        matcher->is_negative = operators[i].is_negative;
        matcher->is_pattern = operators[i].is_pattern;
        *rest = text_trim(text_from(*rest, strlen(operators[i].text)));
        return true;
    }
    return false;
}

/* A text in quotes, with the escapes of Go that name labels need. */
static bool cut_value(struct text_view *rest, struct text_view *value, struct arena *arena)
{
    char quote = rest->size > 0 ? rest->data[0] : '\0';
    if (quote != '"' && quote != '\'' && quote != '`')
        return false;
    char *text = arena_allocate(arena, rest->size);
    size_t size = 0, at = 1;
    if (text == NULL)
        return false;
    for (; at < rest->size && rest->data[at] != quote; at++) {
        if (rest->data[at] == '\\' && quote != '`' && ++at < rest->size) {
            char byte = rest->data[at];
            text[size++] = byte == 'n' ? '\n' : byte == 't' ? '\t' : byte == 'r' ? '\r' : byte;
        } else if (at < rest->size) {
            text[size++] = rest->data[at];
        }
    }
    if (at >= rest->size || size > MATCHER_TEXT_BYTES)
        return false;
    *value = (struct text_view){text, size};
    *rest = text_trim(text_from(*rest, at + 1));
    return true;
}

/* What other regular expressions have is refused rather than taken for text. */
static bool is_taken_pattern(struct text_view pattern)
{
    bool after_dot = false; /* one that stands for any byte */
    for (size_t i = 0; i < pattern.size; i++) {
        char byte = pattern.data[i];
        bool repeats = after_dot && (byte == '*' || byte == '+');
        after_dot = byte == '.';
        if (byte == '\\') {
            if (++i == pattern.size || (is_name_byte(pattern.data[i]) && pattern.data[i] != '.'))
                return false;
        } else if (!repeats && strchr("*+?()[]{}^$", byte) != NULL) {
            return false;
        }
    }
    return true;
}

/* A group around the whole, and anchors, mean nothing here. */
static struct text_view bare_pattern(struct text_view pattern)
{
    if (text_starts_with(pattern, TEXT("^")))
        pattern = text_from(pattern, 1);
    if (text_ends_with(pattern, TEXT("$")) && !text_ends_with(pattern, TEXT("\\$")))
        pattern.size--;
    if (text_starts_with(pattern, TEXT("(")) && text_ends_with(pattern, TEXT(")")) &&
        !text_ends_with(pattern, TEXT("\\)"))) {
        pattern = text_part(pattern, 1, pattern.size - 2);
        if (text_starts_with(pattern, TEXT("?:")))
            pattern = text_from(pattern, 2);
    }
    return pattern;
}

static bool add_matcher(struct label_matchers *matchers, struct text_view *rest, struct arena *arena,
                        struct error *error)
{
    struct label_matcher matcher = {.is_negative = false};
    if (matchers->count == MATCHER_LIMIT)
        return error_set(error, ERROR_BAD_INPUT, "more than %d matchers", MATCHER_LIMIT);
    matcher.name = cut_name(rest);
    if (matcher.name.size == 0 || !cut_operator(rest, &matcher) || !cut_value(rest, &matcher.value, arena))
        return error_set(error, ERROR_BAD_INPUT, "the selector is not of the form {name=\"value\"}");
    if (matcher.is_pattern) {
        matcher.value = bare_pattern(matcher.value);
        if (!is_taken_pattern(matcher.value))
            return error_set(error, ERROR_BAD_INPUT,
                             "a regular expression may have alternatives, '.', '.*' and '.+' beside text");
    }
    matchers->items[matchers->count++] = matcher;
    return true;
}

bool label_matchers_add(struct label_matchers *matchers, struct text_view selector, struct arena *arena,
                        struct error *error)
{
    struct text_view rest = text_trim(selector);
    if (text_starts_with(rest, TEXT("{"))) {
        if (!text_ends_with(rest, TEXT("}")))
            return error_set(error, ERROR_BAD_INPUT, "the selector has no end");
        rest = text_trim(text_part(rest, 1, rest.size - 2));
    }
    while (rest.size > 0) {
        if (!add_matcher(matchers, &rest, arena, error))
            return false;
        if (rest.size > 0 && rest.data[0] != ',')
            return error_set(error, ERROR_BAD_INPUT, "there is no comma between two matchers");
        rest = text_trim(text_from(rest, 1));
    }
    return true;
}

/* ---- matching ---- */

/* One step of an alternative: a byte, or any, once or repeatedly. */
struct pattern_step {
    char byte;
    bool is_any, repeats, may_be_empty;
    size_t size; /* in the pattern */
};

static struct pattern_step step_at(struct text_view pattern)
{
    struct pattern_step step = {.byte = pattern.data[0], .size = 1};
    if (step.byte == '\\' && pattern.size > 1) {
        step.byte = pattern.data[1];
        step.size = 2;
    } else if (step.byte == '.') {
        step.is_any = true;
        step.repeats = pattern.size > 1 && (pattern.data[1] == '*' || pattern.data[1] == '+');
        step.may_be_empty = step.repeats && pattern.data[1] == '*';
        step.size += step.repeats;
    }
    return step;
}

/* As for file names: only the last repetition has to be tried again. */
static bool matches_alternative(struct text_view pattern, struct text_view value)
{
    struct text_view again_pattern = {NULL, 0}, again_value = {NULL, 0};
    for (;;) {
        struct pattern_step step = {.size = 0};
        if (pattern.size > 0)
            step = step_at(pattern);
        if (step.repeats && (step.may_be_empty || value.size > 0)) {
            value = text_from(value, step.may_be_empty ? 0 : 1);
            pattern = text_from(pattern, step.size);
            again_pattern = pattern;
            again_value = value;
        } else if (!step.repeats && step.size > 0 && value.size > 0 &&
                   (step.is_any || step.byte == value.data[0])) {
            pattern = text_from(pattern, step.size);
            value = text_from(value, 1);
        } else if (pattern.size == 0 && value.size == 0) {
            return true;
        } else if (again_pattern.data != NULL && again_value.size > 0) {
            again_value = text_from(again_value, 1);
            pattern = again_pattern;
            value = again_value;
        } else {
            return false;
        }
    }
}

static struct text_view cut_alternative(struct text_view *rest)
{
    size_t size = 0;
    while (size < rest->size && rest->data[size] != '|')
        size += rest->data[size] == '\\' ? 2 : 1;
    struct text_view alternative = text_part(*rest, 0, size);
    *rest = text_from(*rest, size + 1);
    return alternative;
}

static bool matches_pattern(struct text_view pattern, struct text_view value)
{
    bool has_more = true;
    while (has_more) {
        size_t before = pattern.size;
        struct text_view alternative = cut_alternative(&pattern);
        if (matches_alternative(alternative, value))
            return true;
        /* After a last '|' there is an empty one. */
        has_more = alternative.size < before;
    }
    return false;
}

bool label_matcher_matches(const struct label_matcher *matcher, struct text_view value)
{
    bool matches =
        matcher->is_pattern ? matches_pattern(matcher->value, value) : text_equal(matcher->value, value);
    return matches != matcher->is_negative;
}
