#include <string.h>

#include "symbols/demangle_rust.h"

enum { DEPTH_LIMIT = 128, STEP_LIMIT = 50000, PUNYCODE_LIMIT = 128 };

struct rust_parser {
    const char *start; /* back references count from here */
    const char *at;
    struct demangle_output *output;
    unsigned depth;
    unsigned steps;
    uint64_t bound_lifetimes;
    bool silent; /* parse, but print nothing */
    bool failed;
};

struct rust_identifier {
    const char *text;
    size_t length;
    bool punycode;
    uint64_t disambiguator;
};

static void path(struct rust_parser *parser, bool in_value);
static void type(struct rust_parser *parser);
static void constant(struct rust_parser *parser);

static void add(struct rust_parser *parser, const char *text)
{
    if (!parser->silent)
        demangle_output_add_text(parser->output, text);
}

static void add_number(struct rust_parser *parser, uint64_t number)
{
    if (!parser->silent)
        demangle_output_add_number(parser->output, number, 10);
}

static bool take(struct rust_parser *parser, char byte)
{
    if (parser->failed || *parser->at != byte)
        return false;
    parser->at++;
    return true;
}

static char next(struct rust_parser *parser)
{
    if (*parser->at == '\0')
        parser->failed = true;
    return parser->failed ? '\0' : *parser->at++;
}

static bool enter(struct rust_parser *parser)
{
    if (++parser->depth > DEPTH_LIMIT || ++parser->steps > STEP_LIMIT || parser->output->full)
        parser->failed = true;
    return !parser->failed;
}

/* Digits of base 62 and '_': "_" is 0, "0_" is 1. */
static uint64_t base_62(struct rust_parser *parser)
{
    uint64_t value = 0;
    if (take(parser, '_'))
        return 0;
    while (!parser->failed && *parser->at != '_') {
        char byte = next(parser);
        uint64_t digit = byte >= '0' && byte <= '9'   ? (uint64_t)(byte - '0')
                         : byte >= 'a' && byte <= 'z' ? (uint64_t)(byte - 'a') + 10
                         : byte >= 'A' && byte <= 'Z' ? (uint64_t)(byte - 'A') + 36
                                                      : UINT64_MAX;
        if (digit == UINT64_MAX || __builtin_mul_overflow(value, 62, &value) ||
            __builtin_add_overflow(value, digit, &value))
            parser->failed = true;
    }
    return next(parser) == '_' ? value + 1 : 0;
}

static uint64_t optional_base_62(struct rust_parser *parser, char tag)
{
    return take(parser, tag) ? base_62(parser) + 1 : 0;
}

static size_t decimal(struct rust_parser *parser)
{
    size_t value = 0;
    if (*parser->at < '0' || *parser->at > '9')
        parser->failed = true;
    if (take(parser, '0'))
        return 0;
    for (; *parser->at >= '0' && *parser->at <= '9' && !parser->failed; parser->at++) {
        value = value * 10 + (size_t)(*parser->at - '0');
        if (value > 100000)
            parser->failed = true;
    }
    return value;
}

static struct rust_identifier identifier(struct rust_parser *parser)
{
    struct rust_identifier result = {.text = ""};
    result.disambiguator = optional_base_62(parser, 's');
    result.punycode = take(parser, 'u');
    size_t length = decimal(parser);
    take(parser, '_');
    if (parser->failed || strnlen(parser->at, length) < length) {
        parser->failed = true;
        return result;
    }
    result.text = parser->at;
    result.length = length;
    parser->at += length;
    return result;
}

static uint32_t adapt_bias(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    for (delta += delta / count; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* RFC 3492, with '_' for '-'. Returns the number of characters, 0 on failure. */
static size_t decode_punycode(struct rust_identifier name, uint32_t characters[PUNYCODE_LIMIT])
{
    size_t count = 0, basic = name.length;
    while (basic > 0 && name.text[basic - 1] != '_')
        basic--;
    for (; basic > 0 && count + 1 < basic && count < PUNYCODE_LIMIT; count++)
        characters[count] = (unsigned char)name.text[count];
    uint32_t code = 128, at = 0, bias = 72;
    for (size_t i = basic; i < name.length;) {
        uint32_t before = at, weight = 1;
        for (uint32_t k = 36;; k += 36) {
            if (i == name.length)
                return 0;
            char byte = name.text[i++];
            uint32_t digit = byte >= 'a' && byte <= 'z'   ? (uint32_t)(byte - 'a')
                             : byte >= '0' && byte <= '9' ? (uint32_t)(byte - '0') + 26
                                                          : 99;
            uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
            if (digit > 35 || weight > 0xffffff || digit * weight > 0xffffff)
                return 0;
            at += digit * weight;
            if (digit < threshold)
                break;
            weight *= 36 - threshold;
        }
        if (count == PUNYCODE_LIMIT)
            return 0;
        bias = adapt_bias(at - before, (uint32_t)count + 1, before == 0);
        code += at / ((uint32_t)count + 1);
        at %= (uint32_t)count + 1;
        memmove(characters + at + 1, characters + at, (count - at) * sizeof(characters[0]));
        characters[at++] = code;
        count++;
    }
    return count;
}

static void add_identifier(struct rust_parser *parser, struct rust_identifier name)
{
    uint32_t characters[PUNYCODE_LIMIT];
    if (parser->silent || parser->failed)
        return;
    size_t count = name.punycode ? decode_punycode(name, characters) : 0;
    if (count == 0)
        demangle_output_add(parser->output, name.text, name.length);
    for (size_t i = 0; i < count; i++)
        rust_add_character(parser->output, characters[i]);
}

/* Runs the rule at an earlier place of the name. */
static void back_reference(struct rust_parser *parser, void (*rule)(struct rust_parser *))
{
    const char *tag = parser->at - 1;
    uint64_t offset = base_62(parser);
    if (parser->failed || offset >= (uint64_t)(tag - parser->start)) {
        parser->failed = true;
        return;
    }
    if (parser->silent)
        return;
    const char *resume = parser->at;
    parser->at = parser->start + offset;
    rule(parser);
    parser->at = resume;
}

static void path_in_type(struct rust_parser *parser)
{
    path(parser, false);
}

static void path_in_value(struct rust_parser *parser)
{
    path(parser, true);
}

static void add_lifetime(struct rust_parser *parser, uint64_t index)
{
    if (index == 0 || index > parser->bound_lifetimes) {
        add(parser, "'_");
        return;
    }
    char name[3] = {'\'', (char)('a' + (parser->bound_lifetimes - index) % 26), '\0'};
    add(parser, name);
}

static void generic_argument(struct rust_parser *parser)
{
    if (take(parser, 'L'))
        add_lifetime(parser, base_62(parser));
    else if (take(parser, 'K'))
        constant(parser);
    else
        type(parser);
}

static void list(struct rust_parser *parser, void (*rule)(struct rust_parser *), const char *separator)
{
    for (unsigned i = 0; !parser->failed && !take(parser, 'E'); i++) {
        if (i > 0)
            add(parser, separator);
        rule(parser);
    }
}

static void nested_path(struct rust_parser *parser, bool in_value)
{
    char space = next(parser);
    path(parser, in_value);
    struct rust_identifier name = identifier(parser);
    if (space >= 'A' && space <= 'Z') {
        add(parser, "::{");
        add(parser, space == 'C' ? "closure" : space == 'S' ? "shim" : (char[]){space, '\0'});
        if (name.length > 0)
            add(parser, ":");
        add_identifier(parser, name);
        add(parser, "#");
        add_number(parser, name.disambiguator);
        add(parser, "}");
    } else if (name.length > 0) {
        add(parser, "::");
        add_identifier(parser, name);
    }
}

/* <type as trait>, or <type>; the path to the impl block itself is not shown. */
static void impl_path(struct rust_parser *parser, char tag)
{
    if (tag != 'Y') {
        bool silent = parser->silent;
        optional_base_62(parser, 's');
        parser->silent = true;
        path(parser, false);
        parser->silent = silent;
    }
    add(parser, "<");
    type(parser);
    if (tag != 'M') {
        add(parser, " as ");
        path(parser, false);
    }
    add(parser, ">");
}

static void path_of(struct rust_parser *parser, char tag, bool in_value)
{
    switch (tag) {
    case 'C':
        add_identifier(parser, identifier(parser));
        break;
    case 'N':
        nested_path(parser, in_value);
        break;
    case 'M':
    case 'X':
    case 'Y':
        impl_path(parser, tag);
        break;
    case 'I':
        path(parser, in_value);
        add(parser, in_value ? "::<" : "<");
        list(parser, generic_argument, ", ");
        add(parser, ">");
        break;
    case 'B':
        back_reference(parser, in_value ? path_in_value : path_in_type);
        break;
    default:
        parser->failed = true;
    }
}

static void path(struct rust_parser *parser, bool in_value)
{
    if (enter(parser))
        path_of(parser, next(parser), in_value);
    parser->depth--;
}

static const char *basic_type(char tag)
{
    static const char tags[] = "bcdeafhijlmnostuvxyzp";
    static const char *const names[] = {"bool",  "char",  "f64", "str", "i8",   "f32",  "u8",
                                        "isize", "usize", "i32", "u32", "i128", "u128", "i16",
                                        "u16",   "()",    "...", "i64", "u64",  "!",    "_"};
    const char *found = tag == '\0' ? NULL : strchr(tags, tag);
    return found == NULL ? NULL : names[found - tags];
}

/* for<'a, 'b>; returns how many were bound before. */
static uint64_t binder(struct rust_parser *parser)
{
    uint64_t before = parser->bound_lifetimes;
    uint64_t count = optional_base_62(parser, 'G');
    if (count == 0 || count > 100)
        return before;
    add(parser, "for<");
    for (uint64_t i = 0; i < count; i++) {
        parser->bound_lifetimes++;
        if (i > 0)
            add(parser, ", ");
        add_lifetime(parser, 1);
    }
    add(parser, "> ");
    return before;
}

static void function_type(struct rust_parser *parser)
{
    uint64_t before = binder(parser);
    if (take(parser, 'U'))
        add(parser, "unsafe ");
    if (take(parser, 'K')) {
        add(parser, "extern \"");
        if (take(parser, 'C'))
            add(parser, "C");
        else
            add_identifier(parser, identifier(parser));
        add(parser, "\" ");
    }
    add(parser, "fn(");
    list(parser, type, ", ");
    add(parser, ")");
    if (!take(parser, 'u')) {
        add(parser, " -> ");
        type(parser);
    }
    parser->bound_lifetimes = before;
}

/* A trait's path whose "<" stays open for the associated types that follow. */
static bool open_trait_path(struct rust_parser *parser)
{
    if (take(parser, 'I')) {
        path(parser, false);
        add(parser, "<");
        list(parser, generic_argument, ", ");
        return true;
    }
    path(parser, false);
    return false;
}

static void dyn_trait(struct rust_parser *parser)
{
    bool open = open_trait_path(parser);
    while (take(parser, 'p')) {
        add(parser, open ? ", " : "<");
        open = true;
        add_identifier(parser, identifier(parser));
        add(parser, " = ");
        type(parser);
    }
    if (open)
        add(parser, ">");
}

static void dyn_type(struct rust_parser *parser)
{
    add(parser, "dyn ");
    uint64_t before = binder(parser);
    list(parser, dyn_trait, " + ");
    parser->bound_lifetimes = before;
    if (!take(parser, 'L'))
        parser->failed = true;
    uint64_t lifetime = base_62(parser);
    if (lifetime > 0) {
        add(parser, " + ");
        add_lifetime(parser, lifetime);
    }
}

static void reference_type(struct rust_parser *parser, bool is_mutable)
{
    add(parser, "&");
    if (take(parser, 'L')) {
        uint64_t lifetime = base_62(parser);
        if (lifetime > 0) {
            add_lifetime(parser, lifetime);
            add(parser, " ");
        }
    }
    add(parser, is_mutable ? "mut " : "");
    type(parser);
}

static void tuple_type(struct rust_parser *parser)
{
    unsigned count = 0;
    add(parser, "(");
    for (; !parser->failed && !take(parser, 'E'); count++) {
        add(parser, count > 0 ? ", " : "");
        type(parser);
    }
    add(parser, count == 1 ? ",)" : ")");
}

static void type_of(struct rust_parser *parser, char tag)
{
    switch (tag) {
    case 'A':
    case 'S':
        add(parser, "[");
        type(parser);
        if (tag == 'A') {
            add(parser, "; ");
            constant(parser);
        }
        add(parser, "]");
        break;
    case 'T':
        tuple_type(parser);
        break;
    case 'R':
    case 'Q':
        reference_type(parser, tag == 'Q');
        break;
    case 'P':
    case 'O':
        add(parser, tag == 'P' ? "*const " : "*mut ");
        type(parser);
        break;
    case 'F':
        function_type(parser);
        break;
    case 'D':
        dyn_type(parser);
        break;
    case 'B':
        back_reference(parser, type);
        break;
    default:
        parser->at--;
        path(parser, false);
    }
}

static void type(struct rust_parser *parser)
{
    if (enter(parser)) {
        char tag = next(parser);
        const char *name = basic_type(tag);
        if (name != NULL)
            add(parser, name);
        else if (!parser->failed)
            type_of(parser, tag);
    }
    parser->depth--;
}

static void integer_constant(struct rust_parser *parser)
{
    uint64_t value = 0;
    if (take(parser, 'n'))
        add(parser, "-");
    const char *digits = parser->at;
    size_t length = strspn(digits, "0123456789abcdef");
    for (size_t i = 0; i < length && i < 16; i++)
        value = value * 16 + (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
    parser->at += length;
    if (!take(parser, '_')) {
        parser->failed = true;
    } else if (length > 16) {
        add(parser, "0x");
        if (!parser->silent)
            demangle_output_add(parser->output, digits, length);
    } else {
        add_number(parser, value);
    }
}

static void bool_or_char_constant(struct rust_parser *parser, bool is_bool)
{
    uint32_t value = 0;
    while (!parser->failed && *parser->at != '_') {
        char byte = next(parser);
        if (strchr("0123456789abcdef", byte) == NULL || value > 0xfffff)
            parser->failed = true;
        else
            value = value * 16 + (uint32_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
    }
    take(parser, '_');
    add(parser, is_bool ? value == 0 ? "false" : "true" : "'");
    if (!is_bool && !parser->silent) {
        rust_add_character(parser->output, value);
        add(parser, "'");
    }
}

static void constant(struct rust_parser *parser)
{
    if (enter(parser)) {
        char tag = next(parser);
        if (tag == 'B')
            back_reference(parser, constant);
        else if (tag == 'p')
            add(parser, "_");
        else if (tag == 'b' || tag == 'c')
            bool_or_char_constant(parser, tag == 'b');
        else if (tag != '\0' && strchr("ahijlmnostxy", tag) != NULL)
            integer_constant(parser);
        else
            parser->failed = true;
    }
    parser->depth--;
}

bool demangle_rust_v0(const char *name, struct demangle_output *output)
{
    struct rust_parser parser = {.start = name, .at = name, .output = output};
    path(&parser, true);
    if (!parser.failed && *parser.at >= 'A' && *parser.at <= 'Z') { /* the crate that instantiated it */
        parser.silent = true;
        path(&parser, false);
    }
    return !parser.failed && (*parser.at == '\0' || *parser.at == '.' || *parser.at == '$');
}
