#include "spark/plan_hash.h"

#include "base/hash.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_hex(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f');
}

static size_t skip_digits(struct text_view text, size_t at)
{
    while (at < text.size && is_digit(text.data[at]))
        at++;
    return at;
}

/* "#12", "#12L" */
static size_t skip_expression_id(struct text_view text, size_t at)
{
    size_t end = skip_digits(text, at + 1);
    if (end == at + 1)
        return at;
    return end < text.size && text.data[end] == 'L' ? end + 1 : end;
}

/* "@1a2b3c" */
static size_t skip_object_id(struct text_view text, size_t at)
{
    size_t end = at + 1;
    while (end < text.size && is_hex(text.data[end]))
        end++;
    return end - at > 3 ? end : at;
}

/* "$Lambda$1234/0x00007f01@3b" */
static size_t skip_lambda(struct text_view text, size_t at)
{
    static const struct text_view start = {"$Lambda", 7};
    if (!text_starts_with(text_from(text, at), start))
        return at;
    for (at += start.size; at < text.size; at++)
        if (!is_hex(text.data[at]) && text_find_byte(TEXT("$/x@"), text.data[at]) == TEXT_NOT_FOUND)
            break;
    return at;
}

/* "plan_id=12" */
static size_t skip_plan_id(struct text_view text, size_t at)
{
    static const struct text_view start = {"plan_id=", 8};
    return text_starts_with(text_from(text, at), start) ? skip_digits(text, at + start.size) : at;
}

/* ":/tmp/data]" of "file:/tmp/data]", up to what can follow a path in a plan; long lists of paths are cut anywhere. */
static size_t skip_path(struct text_view text, size_t at)
{
    bool has_scheme =
        at > 0 && is_letter(text.data[at - 1]) && at + 1 < text.size && text.data[at + 1] == '/';
    while (has_scheme && at < text.size && text_find_byte(TEXT(" ,)"), text.data[at]) == TEXT_NOT_FOUND)
        at++;
    return at;
}

/* Where what differs from run to run ends; `at` if nothing of that kind begins there. */
static size_t skip(struct text_view text, size_t at)
{
    switch (text.data[at]) {
    case '#':
        return skip_expression_id(text, at);
    case '@':
        return skip_object_id(text, at);
    case '$':
        return skip_lambda(text, at);
    case 'p':
        return skip_plan_id(text, at);
    case ':':
        return skip_path(text, at);
    default:
        return at;
    }
}

uint64_t plan_hash_text(struct text_view text, bool is_loose)
{
    uint64_t hash = FNV_START;
    for (size_t at = 0; at < text.size;) {
        char byte = text.data[at];
        size_t end = skip(text, at);
        if (end == at && is_loose)
            end = skip_digits(text, at);
        if (end > at)
            byte = '#';
        at = end > at ? end : at + 1;
        hash = (hash ^ (unsigned char)byte) * FNV_PRIME;
    }
    return hash_u64(hash);
}

static uint64_t add(uint64_t state, uint64_t hash)
{
    return hash_mix(state ^ HASH_SEED, hash ^ HASH_MULTIPLIER);
}

struct plan_hashes plan_hash_nodes(const struct sql_plans *plans, const struct string_table *strings,
                                   uint32_t first, uint32_t count)
{
    struct plan_hashes hashes = {0, 0};
    for (uint32_t i = first; i < first + count; i++) {
        const struct plan_node *node = &plans->nodes[i];
        struct text_view name = string_table_text(strings, node->name);
        struct text_view detail = string_table_text(strings, node->detail);
        hashes.exact = add(hashes.exact, node->depth);
        hashes.exact = add(hashes.exact, plan_hash_text(name, false));
        hashes.exact = add(hashes.exact, plan_hash_text(detail, false));
        hashes.loose = add(hashes.loose, node->depth);
        hashes.loose = add(hashes.loose, plan_hash_text(name, true));
        hashes.loose = add(hashes.loose, plan_hash_text(detail, true));
    }
    return hashes;
}
