#include "spark/redaction.h"

#include <string.h>
#include <strings.h>

/* Names longer than this are no names. */
#define KEY_LIMIT_BYTES 200

static bool contains(struct text_view text, const char *word)
{
    size_t size = strlen(word);
    for (size_t at = 0; at + size <= text.size; at++)
        if (strncasecmp(text.data + at, word, size) == 0)
            return true;
    return false;
}

bool redaction_hides(struct text_view key)
{
    static const char *const words[] = {"password",   "passwd",     "secret",    "token",
                                        "credential", "access.key", "accesskey", "access_key"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (contains(key, words[i]))
            return true;
    return false;
}

static bool is_key_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '_' || byte == '-';
}

/* The name that ends right before `at`, quotes and blanks between passed over. */
static struct text_view key_before(struct text_view text, size_t at)
{
    while (at > 0 && (text.data[at - 1] == '"' || text.data[at - 1] == '\'' || text.data[at - 1] == ' ' ||
                      text.data[at - 1] == '\\'))
        at--;
    size_t begin = at;
    while (begin > 0 && at - begin < KEY_LIMIT_BYTES && is_key_byte(text.data[begin - 1]))
        begin--;
    return text_part(text, begin, at - begin);
}

struct span {
    size_t begin, end;
};

/* The value from `at` on: what is in quotes, or up to a blank or a mark that separates. */
static struct span value_at(struct text_view text, size_t at)
{
    while (at < text.size && text.data[at] == ' ')
        at++;
    if (at < text.size && text.data[at] == '\\')
        at++;
    char quote = at < text.size && (text.data[at] == '"' || text.data[at] == '\'') ? text.data[at] : '\0';
    size_t begin = at + (quote != '\0'), end = begin;
    while (end < text.size && (quote != '\0' ? text.data[end] != quote && text.data[end] != '\n'
                                             : strchr(" \t\r\n,;&)]}\"'", text.data[end]) == NULL))
        end++;
    if (quote != '\0' && end > begin && text.data[end - 1] == '\\')
        end--;
    return (struct span){begin, end};
}

/* `user:password@` after "://". */
static struct span password_of_address(struct text_view text, size_t at)
{
    size_t begin = 0, end = at;
    while (end < text.size && text.data[end] != '@') {
        if (strchr(" \t\r\n/?#\"'", text.data[end]) != NULL)
            return (struct span){0, 0};
        if (text.data[end] == ':' && begin == 0)
            begin = end + 1;
        end++;
    }
    return end == text.size || begin == 0 ? (struct span){0, 0} : (struct span){begin, end};
}

/* "--password x": `at` is right behind the two dashes. */
static struct span value_of_argument(struct text_view text, size_t at)
{
    size_t end = at;
    while (end < text.size && is_key_byte(text.data[end]))
        end++;
    if (end == text.size || text.data[end] != ' ' || !redaction_hides(text_part(text, at, end - at)))
        return (struct span){0, 0};
    return value_at(text, end);
}

/* The next secret from `at` on; an empty span: none. */
static struct span find_secret(struct text_view text, size_t at)
{
    for (; at < text.size; at++) {
        char byte = text.data[at];
        struct span span = {0, 0};
        if (byte == ':' && text_starts_with(text_from(text, at), TEXT("://")))
            span = password_of_address(text, at + 3);
        else if ((byte == '=' || byte == ':') && redaction_hides(key_before(text, at)))
            span = value_at(text, at + 1);
        else if (byte == '-' && at + 1 < text.size && text.data[at + 1] == '-')
            span = value_of_argument(text, at + 2);
        if (span.end > span.begin && !text_starts_with(text_from(text, span.begin), TEXT("****")))
            return span;
    }
    return (struct span){0, 0};
}

bool redaction_apply(struct text_view text, struct text_builder *redacted)
{
    struct span span = find_secret(text, 0);
    if (span.end == 0)
        return false;
    size_t done = 0;
    text_builder_clear(redacted);
    while (span.end > 0) {
        text_builder_add(redacted, text_part(text, done, span.begin - done));
        text_builder_add(redacted, REDACTED);
        done = span.end;
        span = find_secret(text, done);
    }
    text_builder_add(redacted, text_from(text, done));
    return true;
}
