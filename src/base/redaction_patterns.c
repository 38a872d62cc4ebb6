#include "base/redaction_patterns.h"

#include <stdlib.h>
#include <string.h>

#include "base/redaction.h"

/*
 * glibc copies what is repeated, and a copy within a copy: without a limit, nested repetitions use gigabytes. Each byte
 * of a pattern is counted as at most one state.
 */
enum { PATTERN_LIMIT_BYTES = 2048, REPEAT_LIMIT = 255, COPIED_STATES_LIMIT = 1024, GROUP_LIMIT = 64 };

/* Translates from `at` on. */
struct pattern_translation {
    const char *at;
    struct text_builder *posix;
    bool in_brackets;
    unsigned states[GROUP_LIMIT]; /* of each open group so far */
    unsigned depth;               /* of groups */
    unsigned last;                /* states of the last item, which a repetition copies */
    unsigned copied;
};

static bool translate_escape(const char **at, bool in_brackets, struct text_builder *posix)
{
    char letter = *++*at;
    switch (letter) {
    case 'd':
        text_builder_add_c_string(posix, in_brackets ? "0-9" : "[0-9]");
        return true;
    case 'w':
        text_builder_add_c_string(posix, in_brackets ? "A-Za-z0-9_" : "[A-Za-z0-9_]");
        return true;
    case 's':
        text_builder_add_c_string(posix, in_brackets ? "[:space:]" : "[[:space:]]");
        return true;
    case 'b':
        text_builder_add_c_string(posix, "\\b");
        return !in_brackets;
    default:
        if (letter == '\0' || strchr(".*+?()[]{}|^$\\/-_:=\"'@, ", letter) == NULL)
            return false;
        if (!in_brackets && strchr(".*+?()[]{}|^$\\", letter) != NULL)
            text_builder_add_byte(posix, '\\');
        text_builder_add_byte(posix, letter);
        /* Inside brackets POSIX has no escapes, and these characters are special by position. */
        return !in_brackets || strchr("]^-[\\", letter) == NULL;
    }
}

static void add_item(struct pattern_translation *state, unsigned states)
{
    state->last = states;
    state->states[state->depth] += states;
}

static bool translate_repeat(struct pattern_translation *state)
{
    char *end;
    unsigned long most = strtoul(state->at + 1, &end, 10);
    if (*end == ',' && end[1] != '}')
        most = strtoul(end + 1, &end, 10);
    else if (*end == ',')
        end++;
    if (*end != '}' || most > REPEAT_LIMIT)
        return false;
    unsigned copies = most == 0 ? 0 : (unsigned)(most - 1) * state->last; /* at most 255 * (2048 + 1024) */
    state->copied += copies;
    if (state->copied > COPIED_STATES_LIMIT)
        return false;
    state->states[state->depth] += copies;
    state->last += copies;
    text_builder_add(state->posix, (struct text_view){state->at, (size_t)(end - state->at) + 1});
    state->at = end;
    return true;
}

/* "(?:" is a group; look-ahead and the like have no counterpart. */
static bool open_group(struct pattern_translation *state)
{
    if (state->at[1] == '?') {
        if (state->at[2] != ':')
            return false;
        state->at += 2;
    }
    if (++state->depth == GROUP_LIMIT)
        return false;
    state->states[state->depth] = 1;
    text_builder_add_byte(state->posix, '(');
    return true;
}

static bool close_group(struct pattern_translation *state)
{
    if (state->depth == 0)
        return false;
    unsigned states = state->states[state->depth--];
    add_item(state, states);
    text_builder_add_byte(state->posix, ')');
    return true;
}

static bool translate_in_brackets(struct pattern_translation *state)
{
    const char *at = state->at;
    if (*at == '\\')
        return translate_escape(&state->at, true, state->posix);
    if (*at == '[' || (*at == '&' && at[1] == '&'))
        return false;
    state->in_brackets = *at != ']';
    text_builder_add_byte(state->posix, *at);
    return true;
}

static bool translate_one(struct pattern_translation *state)
{
    switch (*state->at) {
    case '\\':
        add_item(state, 1);
        return translate_escape(&state->at, false, state->posix);
    case '(':
        return open_group(state);
    case ')':
        return close_group(state);
    case '{':
        return translate_repeat(state);
    case '[':
        state->in_brackets = true;
        add_item(state, 1);
        text_builder_add_byte(state->posix, '[');
        if (state->at[1] == '^')
            text_builder_add_byte(state->posix, *++state->at);
        return state->at[1] != ']'; /* there it has no special meaning in POSIX */
    default:
        if (strchr("*+?", *state->at) == NULL)
            add_item(state, 1);
        text_builder_add_byte(state->posix, *state->at);
        return true;
    }
}

/* "(?i)" is taken off before. */
static bool translate(const char *java, struct text_builder *posix)
{
    struct pattern_translation state = {.at = java, .posix = posix};
    bool repeated = false;
    for (; *state.at != '\0'; state.at++) {
        bool repeats = !state.in_brackets && strchr("*+?{", *state.at) != NULL;
        if (repeated && (*state.at == '?' || *state.at == '+')) {
            repeated = false; /* laziness does not change whether there is a match */
            continue;
        }
        if (!(state.in_brackets ? translate_in_brackets(&state) : translate_one(&state)))
            return false;
        repeated = repeats;
    }
    return !state.in_brackets && state.depth == 0;
}

static bool compile(regex_t *pattern, const char *java)
{
    struct text_builder posix;
    int flags = REG_EXTENDED;
    if (strncmp(java, "(?i)", 4) == 0) {
        flags |= REG_ICASE;
        java += 4;
    }
    if (*java == '\0' || strlen(java) > PATTERN_LIMIT_BYTES)
        return false;
    text_builder_init(&posix, 8 * PATTERN_LIMIT_BYTES);
    bool good = translate(java, &posix) && !posix.failed &&
                regcomp(pattern, text_builder_c_string(&posix), flags) == 0;
    text_builder_release(&posix);
    return good;
}

/* Of this process, besides those of redaction_patterns_init(). */
static char *declared[2];
static bool declaration_failed;

static void declare_one(char **place, const char *pattern)
{
    if (pattern == NULL)
        return;
    free(*place);
    *place = strdup(pattern);
    declaration_failed = declaration_failed || *place == NULL;
}

void redaction_patterns_declare(const char *keys, const char *texts)
{
    declare_one(&declared[0], keys);
    declare_one(&declared[1], texts);
}

static void add_pattern(struct redaction_patterns *patterns, struct redaction_pattern_set *set,
                        const char *java)
{
    if (java == NULL)
        return;
    if (compile(&set->all[set->count], java))
        set->count++;
    else
        patterns->hides_all = true;
}

void redaction_patterns_init(struct redaction_patterns *patterns, const char *keys, const char *texts)
{
    *patterns = (struct redaction_patterns){.hides_all = declaration_failed};
    add_pattern(patterns, &patterns->keys, keys);
    add_pattern(patterns, &patterns->keys, declared[0]);
    add_pattern(patterns, &patterns->texts, texts);
    add_pattern(patterns, &patterns->texts, declared[1]);
}

static void release_set(struct redaction_pattern_set *set)
{
    while (set->count > 0)
        regfree(&set->all[--set->count]);
}

void redaction_patterns_release(struct redaction_patterns *patterns)
{
    release_set(&patterns->keys);
    release_set(&patterns->texts);
}

/* Their values are numbers, versions and names that Java, the system or Spark chooses. */
static bool is_harmless(const char *key)
{
    static const char *const names[] = {
        "java.version",
        "java.version.date",
        "java.vendor",
        "java.vendor.version",
        "java.class.version",
        "java.runtime.name",
        "java.runtime.version",
        "java.specification.name",
        "java.specification.version",
        "java.vm.name",
        "java.vm.vendor",
        "java.vm.version",
        "java.vm.info",
        "java.vm.specification.version",
        "os.name",
        "os.arch",
        "os.version",
        "user.timezone",
        "user.language",
        "user.country",
        "file.encoding",
        "native.encoding",
        "sun.jnu.encoding",
        "file.separator",
        "path.separator",
        "line.separator",
        "sun.arch.data.model",
        "spark.app.id",
        "spark.executor.id",
        "spark.submit.deployMode",
        "spark.driver.memory",
        "spark.driver.cores",
        "spark.executor.cores",
        "spark.executor.instances",
        "spark.executor.memory",
        "spark.executor.memoryOverhead",
        "spark.memory.fraction",
        "spark.task.cpus",
        "spark.default.parallelism",
        "spark.sql.shuffle.partitions",
    };
    if (strncmp(key, "-D", 2) == 0)
        key += 2;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

static bool matches(const struct redaction_pattern_set *set, const char *text)
{
    for (size_t i = 0; i < set->count; i++)
        if (regexec(&set->all[i], text, 0, NULL, 0) != REG_NOMATCH) /* or out of memory */
            return true;
    return false;
}

bool redaction_patterns_hide(const struct redaction_patterns *patterns, const char *key, const char *value)
{
    if (patterns->hides_all && !is_harmless(key))
        return true;
    return matches(&patterns->keys, key) || matches(&patterns->keys, value);
}

static void replace_matches(const regex_t *pattern, const char *text, struct text_builder *redacted)
{
    regmatch_t match;
    int flags = 0, result;
    while ((result = regexec(pattern, text, 1, &match, flags)) == 0) {
        bool is_empty = match.rm_eo == match.rm_so, at_end = text[match.rm_eo] == '\0';
        size_t kept = (size_t)match.rm_so + (is_empty && !at_end);
        text_builder_add(redacted, (struct text_view){text, kept});
        if (!is_empty)
            text_builder_add(redacted, REDACTED);
        text += is_empty ? kept : (size_t)match.rm_eo;
        if (at_end)
            return;
        flags = REG_NOTBOL;
    }
    redacted->failed = redacted->failed || result != REG_NOMATCH;
    text_builder_add_c_string(redacted, text);
}

void redaction_patterns_apply(const struct redaction_patterns *patterns, const char *text,
                              struct text_builder *redacted)
{
    const struct redaction_pattern_set *set = &patterns->texts;
    struct text_builder first;
    if (set->count == 0) {
        text_builder_add_c_string(redacted, text);
    } else if (set->count == 1) {
        replace_matches(&set->all[0], text, redacted);
    } else {
        text_builder_init(&first, redacted->limit_bytes);
        replace_matches(&set->all[0], text, &first);
        const char *rest = text_builder_c_string(&first);
        if (first.failed)
            redacted->failed = true;
        else
            replace_matches(&set->all[1], rest, redacted);
        text_builder_release(&first);
    }
}
