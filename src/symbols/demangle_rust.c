/*
 * Rust's older names look like C++ ones: _ZN4core3fmt9Formatter3pad17h0123456789abcdefE. What C++ does not allow in
 * a name is written as $LT$ or "..". The newer ones begin with _R and have a file of their own.
 */
#include <string.h>

#include "symbols/demangle_output.h"
#include "symbols/demangle_rust.h"

enum { HASH_LENGTH = 17 }; /* h and 16 hexadecimal digits */

static bool is_hash(const char *text, size_t length)
{
    if (length != HASH_LENGTH || text[0] != 'h')
        return false;
    return strspn(text + 1, "0123456789abcdef") >= HASH_LENGTH - 1;
}

static bool read_length(const char **at, size_t *length)
{
    const char *start = *at;
    *length = 0;
    for (; **at >= '0' && **at <= '9' && *length < 100000; (*at)++)
        *length = *length * 10 + (size_t)(**at - '0');
    return *at > start && *length > 0 && *length < 100000;
}

/* Only names whose last part is a hash are Rust's. Returns the number of parts before it, 0 for others. */
static unsigned count_parts(const char *at)
{
    unsigned count = 0;
    size_t length;
    bool hash = false;
    while (*at != 'E') {
        if (!read_length(&at, &length) || strnlen(at, length) < length)
            return 0;
        hash = is_hash(at, length);
        at += length;
        count++;
    }
    bool ended = at[1] == '\0' || at[1] == '.';
    return hash && ended && count > 1 ? count - 1 : 0;
}

static size_t add_escape(const char *text, size_t length, struct demangle_output *output)
{
    static const struct {
        const char *code, *text;
    } table[] = {{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
                 {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t code_length = strlen(table[i].code);
        if (length >= code_length && memcmp(text, table[i].code, code_length) == 0) {
            demangle_output_add_text(output, table[i].text);
            return code_length;
        }
    }
    if (length < 4 || text[1] != 'u')
        return 0;
    uint32_t character = 0;
    size_t at = 2;
    for (; at < length && at < 8 && strchr("0123456789abcdef", text[at]) != NULL; at++)
        character = character * 16 + (uint32_t)(text[at] <= '9' ? text[at] - '0' : text[at] - 'a' + 10);
    if (at == 2 || at >= length || text[at] != '$')
        return 0;
    rust_add_character(output, character);
    return at + 1;
}

static void add_part(const char *text, size_t length, struct demangle_output *output)
{
    if (length > 1 && text[0] == '_' && text[1] == '$') {
        text++;
        length--;
    }
    while (length > 0) {
        size_t used = text[0] == '$' ? add_escape(text, length, output) : 0;
        if (used == 0 && length > 1 && text[0] == '.' && text[1] == '.') {
            demangle_output_add_text(output, "::");
            used = 2;
        } else if (used == 0) {
            demangle_output_add(output, text, 1);
            used = 1;
        }
        text += used;
        length -= used;
    }
}

static bool demangle_legacy(const char *name, struct demangle_output *output)
{
    unsigned parts = strncmp(name, "_ZN", 3) == 0 ? count_parts(name + 3) : 0;
    const char *at = name + 3;
    for (unsigned i = 0; i < parts; i++) {
        size_t length;
        if (!read_length(&at, &length))
            return false;
        if (i > 0)
            demangle_output_add_text(output, "::");
        add_part(at, length, output);
        at += length;
    }
    return parts > 0;
}

void rust_add_character(struct demangle_output *output, uint32_t character)
{
    char bytes[4];
    size_t size = 0;
    if (character < 0x80) {
        bytes[size++] = (char)(character < 0x20 ? '?' : character);
    } else if (character < 0x800) {
        bytes[size++] = (char)(0xc0 | (character >> 6));
        bytes[size++] = (char)(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        bytes[size++] = (char)(0xe0 | (character >> 12));
        bytes[size++] = (char)(0x80 | ((character >> 6) & 0x3f));
        bytes[size++] = (char)(0x80 | (character & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | ((character >> 18) & 7));
        bytes[size++] = (char)(0x80 | ((character >> 12) & 0x3f));
        bytes[size++] = (char)(0x80 | ((character >> 6) & 0x3f));
        bytes[size++] = (char)(0x80 | (character & 0x3f));
    }
    demangle_output_add(output, bytes, size);
}

bool demangle_rust(const char *name, bool name_only, struct demangle_output *output)
{
    (void)name_only; /* Rust's names carry no parameters */
    if (strncmp(name, "_R", 2) == 0)
        return demangle_rust_v0(name + 2, output);
    return demangle_legacy(name, output);
}
