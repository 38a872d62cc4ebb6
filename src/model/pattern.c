#include "model/pattern.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
};

#define MATCH_LIMIT 1000000

static pcre2_code *compile(const char *expression, bool ignore_case, struct error *error)
{
    int number;
    PCRE2_SIZE offset;
    uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | (ignore_case ? PCRE2_CASELESS : 0);
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, options, &number, &offset, NULL);
    if (code == NULL) {
        char text[160];
        pcre2_get_error_message(number, (PCRE2_UCHAR *)text, sizeof(text));
        error_set(error, ERROR_USAGE, "bad regular expression \"%s\": %s at character %zu", expression, text,
                  (size_t)offset + 1);
        return NULL;
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    return code;
}

struct pattern *pattern_new(const char *expression, bool ignore_case, struct error *error)
{
    struct pattern *pattern = calloc(1, sizeof(*pattern));
    if (pattern == NULL) {
        error_set_memory(error);
        return NULL;
    }
    pattern->code = compile(expression, ignore_case, error);
    if (pattern->code == NULL) {
        pattern_free(pattern);
        return NULL;
    }
    pattern->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    pattern->context = pcre2_match_context_create(NULL);
    if (pattern->match == NULL || pattern->context == NULL) {
        pattern_free(pattern);
        error_set_memory(error);
        return NULL;
    }
    pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
    return pattern;
}

void pattern_free(struct pattern *pattern)
{
    if (pattern == NULL)
        return;
    pcre2_match_context_free(pattern->context);
    pcre2_match_data_free(pattern->match);
    pcre2_code_free(pattern->code);
    free(pattern);
}

bool pattern_matches(struct pattern *pattern, struct text_view text)
{
    PCRE2_SPTR bytes = (PCRE2_SPTR)(text.data == NULL ? "" : text.data);
    return pcre2_match(pattern->code, bytes, text.size, 0, 0, pattern->match, pattern->context) >= 0;
}
