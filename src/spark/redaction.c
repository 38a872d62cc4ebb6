#include "spark/redaction.h"

#include <string.h>
#include <strings.h>

/* Names longer than this are no names. */
#define KEY_LIMIT_BYTES 200

/* Names of secrets, by their first letter; compared in any case. */
static const struct {
    const char *word;
    size_t size;
} words[] = {
#define WORD(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }
    WORD("password"),   WORD("passwd"),     WORD("secret"),    WORD("token"),
    WORD("credential"), WORD("access.key"), WORD("accesskey"), WORD("access_key"),
#undef WORD
};

static bool begins_word(struct text_view text)
{
    char first = (char)(text.data[0] | 0x20);
    if (first != 'p' && first != 's' && first != 't' && first != 'c' && first != 'a')
        return false;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (words[i].word[0] == first && words[i].size <= text.size &&
            strncasecmp(text.data, words[i].word, words[i].size) == 0)
            return true;
    return false;
}

bool redaction_hides(struct text_view key)
{
    for (; key.size >= sizeof("token") - 1; key = text_from(key, 1))
        if (begins_word(key))
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
        if (byte != ':' && byte != '=' && byte != '-')
            continue;
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
