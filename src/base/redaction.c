#include "base/redaction.h"

#include <string.h>

/* Names longer than this are no names. */
#define KEY_LIMIT_BYTES 200

/* Parts of names of secrets, case-insensitive; '.' matches '.', '_', '-' or nothing. */
static const char *const words[] = {
    "password",   "passwd",      "passphrase",  "secret",  "token",     "credential",
    "access.key", "account.key", "private.key", "api.key", "azure.sas",
};

/* Complete names, in JDBC and signed URLs. */
static const char *const whole_names[] = {"pwd", "sig", "X-Amz-Signature", "X-Goog-Signature"};

static bool begins_with(struct text_view text, const char *word)
{
    size_t at = 0;
    for (; *word != '\0'; word++) {
        if (*word == '.') {
            at += at < text.size && strchr("._-", text.data[at]) != NULL && text.data[at] != '\0';
            continue;
        }
        if (at == text.size || (text.data[at] | 0x20) != *word)
            return false;
        at++;
    }
    return true;
}

static bool begins_word(struct text_view text)
{
    char first = (char)(text.data[0] | 0x20);
    if (first != 'p' && first != 's' && first != 't' && first != 'c' && first != 'a')
        return false;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (words[i][0] == first && begins_with(text, words[i]))
            return true;
    return false;
}

bool redaction_hides(struct text_view key)
{
    for (size_t i = 0; i < COUNT_OF(whole_names); i++)
        if (text_equal(key, text_of(whole_names[i])))
            return true;
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

/* The name that ends right before `at`, skipping quotes and blanks. */
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

struct secret_span {
    size_t begin, end;
};

/* The value from `at` on: a quoted text, or up to a blank or separator. */
static struct secret_span value_at(struct text_view text, size_t at)
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
    return (struct secret_span){begin, end};
}

/* `user:password@` after "://"; `user/password@` of Oracle's drivers. The password may hold an '@' itself. */
static struct secret_span password_of_address(struct text_view text, size_t at, char separator)
{
    size_t begin = 0, last = 0;
    for (size_t end = at; end < text.size; end++) {
        char byte = text.data[end];
        if (byte == separator && begin == 0)
            begin = end + 1;
        else if (byte == '@')
            last = end;
        else if (strchr(" \t\r\n/?#\"'", byte) != NULL)
            break;
    }
    return begin == 0 || last < begin ? (struct secret_span){0, 0} : (struct secret_span){begin, last};
}

/* "thin:user/password@host", "oci:user/password@host". */
static struct secret_span password_of_oracle(struct text_view text, size_t at)
{
    size_t colon = text_find_byte(text_from(text, at), ':');
    return colon == TEXT_NOT_FOUND || colon > 8 ? (struct secret_span){0, 0}
                                                : password_of_address(text, at + colon + 1, '/');
}

/* "--password x": `at` is right behind the two dashes. */
static struct secret_span value_of_argument(struct text_view text, size_t at)
{
    size_t end = at;
    while (end < text.size && is_key_byte(text.data[end]))
        end++;
    if (end == text.size || text.data[end] != ' ' || !redaction_hides(text_part(text, at, end - at)))
        return (struct secret_span){0, 0};
    return value_at(text, end);
}

/* The next secret from `at` on; an empty span: none. */
static struct secret_span find_secret(struct text_view text, size_t at)
{
    for (; at < text.size; at++) {
        char byte = text.data[at];
        if (byte != ':' && byte != '=' && byte != '-')
            continue;
        struct secret_span span = {0, 0};
        if (byte == ':' && text_starts_with(text_from(text, at), TEXT("://")))
            span = password_of_address(text, at + 3, ':');
        else if (byte == ':' && text_ends_with(text_part(text, 0, at), TEXT("jdbc:oracle")))
            span = password_of_oracle(text, at + 1);
        else if ((byte == '=' || byte == ':') && redaction_hides(key_before(text, at)))
            span = value_at(text, at + 1);
        else if (byte == '-' && at + 1 < text.size && text.data[at + 1] == '-')
            span = value_of_argument(text, at + 2);
        if (span.end > span.begin && !text_starts_with(text_from(text, span.begin), TEXT("****")))
            return span;
    }
    return (struct secret_span){0, 0};
}

bool redaction_apply(struct text_view text, struct text_builder *redacted)
{
    struct secret_span span = find_secret(text, 0);
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
