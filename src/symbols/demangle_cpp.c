/* Parts shared by all rules, encodings and compiler-generated names. */
#include "symbols/demangle_cpp.h"

#include <string.h>

struct cpp_node *cpp_node(struct cpp_parser *parser, enum cpp_kind kind, struct cpp_node *left,
                          struct cpp_node *right)
{
    if (parser->node_count == CPP_NODE_LIMIT)
        return NULL;
    struct cpp_node *node = &parser->nodes[parser->node_count++];
    *node = (struct cpp_node){.kind = kind, .text = "", .left = left, .right = right};
    return node;
}

struct cpp_node *cpp_text_node(struct cpp_parser *parser, enum cpp_kind kind, const char *text,
                               struct cpp_node *left)
{
    struct cpp_node *node = cpp_node(parser, kind, left, NULL);
    if (node != NULL) {
        node->text = text;
        node->length = (uint32_t)strlen(text);
    }
    return node;
}

char cpp_peek(const struct cpp_parser *parser, size_t ahead)
{
    return (size_t)(parser->end - parser->at) > ahead ? parser->at[ahead] : '\0';
}

bool cpp_take(struct cpp_parser *parser, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, text, length) != 0)
        return false;
    parser->at += length;
    return true;
}

bool cpp_number(struct cpp_parser *parser, uint64_t *number)
{
    const char *start = parser->at;
    *number = 0;
    for (; cpp_peek(parser, 0) >= '0' && cpp_peek(parser, 0) <= '9'; parser->at++) {
        if (*number > UINT32_MAX)
            return false;
        *number = *number * 10 + (uint64_t)(*parser->at - '0');
    }
    return parser->at > start;
}

static int digit_value(char digit, unsigned base)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return base == 36 && digit >= 'A' && digit <= 'Z' ? digit - 'A' + 10 : -1;
}

bool cpp_sequence_number(struct cpp_parser *parser, unsigned base, uint64_t *number)
{
    *number = 0;
    if (cpp_take(parser, "_"))
        return true;
    for (int digit; (digit = digit_value(cpp_peek(parser, 0), base)) >= 0; parser->at++) {
        if (*number > UINT16_MAX)
            return false;
        *number = *number * base + (unsigned)digit;
    }
    *number += 1;
    return cpp_take(parser, "_");
}

bool cpp_enter(struct cpp_parser *parser)
{
    return ++parser->depth < CPP_DEPTH_LIMIT;
}

bool cpp_remember(struct cpp_parser *parser, struct cpp_node *node)
{
    if (node == NULL || parser->substitution_count == CPP_SUBSTITUTION_LIMIT)
        return false;
    parser->substitutions[parser->substitution_count++] = node;
    return true;
}

bool cpp_append(struct cpp_parser *parser, struct cpp_node **first, struct cpp_node **last,
                struct cpp_node *item)
{
    struct cpp_node *cell = item == NULL ? NULL : cpp_node(parser, CPP_LIST, item, NULL);
    if (cell == NULL)
        return false;
    if (*first == NULL)
        *first = cell;
    else
        (*last)->right = cell;
    *last = cell;
    return true;
}

/* The distance a thunk moves "this" by: [n] digits _. */
static bool skip_offset(struct cpp_parser *parser)
{
    uint64_t number;
    cpp_take(parser, "n");
    return cpp_number(parser, &number) && cpp_take(parser, "_");
}

static bool skip_call_offset(struct cpp_parser *parser)
{
    if (cpp_take(parser, "h"))
        return skip_offset(parser);
    return cpp_take(parser, "v") && skip_offset(parser) && skip_offset(parser);
}

static struct cpp_node *prefixed(struct cpp_parser *parser, const char *text, struct cpp_node *of)
{
    return of == NULL ? NULL : cpp_text_node(parser, CPP_PREFIX, text, of);
}

static struct cpp_node *thunk(struct cpp_parser *parser)
{
    const char *text = "covariant return thunk to ";
    if (cpp_take(parser, "c")) {
        if (!skip_call_offset(parser) || !skip_call_offset(parser))
            return NULL;
        return prefixed(parser, text, cpp_encoding(parser));
    }
    text = cpp_peek(parser, 0) == 'h' ? "non-virtual thunk to " : "virtual thunk to ";
    return skip_call_offset(parser) ? prefixed(parser, text, cpp_encoding(parser)) : NULL;
}

static struct cpp_node *construction_vtable(struct cpp_parser *parser)
{
    uint64_t number;
    struct cpp_node *derived = cpp_type(parser);
    if (derived == NULL || !cpp_number(parser, &number) || !cpp_take(parser, "_"))
        return NULL;
    struct cpp_node *base = cpp_type(parser);
    struct cpp_node *node = base == NULL ? NULL : prefixed(parser, "construction vtable for ", base);
    if (node != NULL) {
        node->kind = CPP_PREFIX_PAIR;
        node->right = derived;
    }
    return node;
}

static struct cpp_node *reference_temporary(struct cpp_parser *parser)
{
    uint64_t number;
    struct cpp_node *name = cpp_name(parser, false);
    if (name == NULL)
        return NULL;
    cpp_sequence_number(parser, 36, &number);
    return prefixed(parser, "reference temporary for ", name);
}

static struct cpp_node *special_name(struct cpp_parser *parser)
{
    static const struct {
        char code[4];
        const char *text;
    } of_types[] = {
        {"TV", "vtable for "}, {"TT", "VTT for "}, {"TI", "typeinfo for "}, {"TS", "typeinfo name for "}};
    for (size_t i = 0; i < sizeof(of_types) / sizeof(of_types[0]); i++)
        if (cpp_take(parser, of_types[i].code))
            return prefixed(parser, of_types[i].text, cpp_type(parser));
    if (cpp_take(parser, "TC"))
        return construction_vtable(parser);
    if (cpp_take(parser, "TW"))
        return prefixed(parser, "TLS wrapper function for ", cpp_name(parser, false));
    if (cpp_take(parser, "TH"))
        return prefixed(parser, "TLS init function for ", cpp_name(parser, false));
    if (cpp_take(parser, "GV"))
        return prefixed(parser, "guard variable for ", cpp_name(parser, false));
    if (cpp_take(parser, "GR"))
        return reference_temporary(parser);
    if (cpp_take(parser, "GTt"))
        return prefixed(parser, "transaction clone for ", cpp_encoding(parser));
    return cpp_take(parser, "T") ? thunk(parser) : NULL;
}

static bool ends_here(const struct cpp_parser *parser)
{
    char next = cpp_peek(parser, 0);
    return next == '\0' || next == 'E' || next == '.';
}

/* Only templates carry their return type, and of those not what constructs, destroys or converts. */
static bool has_return_type(const struct cpp_node *name)
{
    while (name->kind == CPP_LOCAL || name->kind == CPP_ABI_TAG)
        name = name->kind == CPP_LOCAL ? name->right : name->left;
    if (name->kind != CPP_TEMPLATE)
        return false;
    const struct cpp_node *base = name->left;
    while (base->kind == CPP_NESTED || base->kind == CPP_ABI_TAG)
        base = base->kind == CPP_NESTED ? base->right : base->left;
    return base->kind != CPP_CONSTRUCTOR && base->kind != CPP_DESTRUCTOR && base->kind != CPP_CONVERSION;
}

static struct cpp_node *function_encoding(struct cpp_parser *parser, struct cpp_node *name,
                                          const char *qualifiers)
{
    struct cpp_node *returns = NULL, *parameters = NULL;
    if (has_return_type(name) && (returns = cpp_type(parser)) == NULL)
        return NULL;
    if (!cpp_parameters(parser, &parameters))
        return NULL;
    struct cpp_node *function = cpp_text_node(parser, CPP_FUNCTION, qualifiers, returns);
    if (function == NULL)
        return NULL;
    function->right = parameters;
    return cpp_node(parser, CPP_ENCODING, name, function);
}

struct cpp_node *cpp_encoding(struct cpp_parser *parser)
{
    if (!cpp_enter(parser))
        return NULL;
    struct cpp_node *node;
    if (cpp_peek(parser, 0) == 'T' || (cpp_peek(parser, 0) == 'G' && cpp_peek(parser, 1) != '\0')) {
        node = special_name(parser);
    } else {
        parser->function_qualifiers = "";
        node = cpp_name(parser, true);
        const char *qualifiers = parser->function_qualifiers;
        if (node != NULL && !ends_here(parser))
            node = function_encoding(parser, node, qualifiers);
    }
    parser->depth--;
    return node;
}

static bool is_clone_suffix(const char *text)
{
    for (; *text != '\0'; text++) {
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter && *text != '.' && *text != '_' && !(*text >= '0' && *text <= '9'))
            return false;
    }
    return true;
}

static bool suffix_part_is_number(const char *text)
{
    return text[0] == '.' && text[1] >= '0' && text[1] <= '9';
}

/* ".constprop.0.cold" is two clones: ".constprop.0" and ".cold". */
static void add_clone_suffix(const char *suffix, struct demangle_output *output)
{
    while (*suffix == '.') {
        size_t length = 1 + strcspn(suffix + 1, ".");
        while (suffix_part_is_number(suffix + length))
            length += 1 + strcspn(suffix + length + 1, ".");
        demangle_output_add_text(output, " [clone ");
        demangle_output_add(output, suffix, length);
        demangle_output_add_text(output, "]");
        suffix += length;
    }
}

bool demangle_cpp(const char *name, bool name_only, struct demangle_output *output)
{
    struct cpp_parser parser; /* large: only what is read before it is written gets a value */
    parser.at = name;
    parser.end = name + strlen(name);
    parser.depth = parser.node_count = parser.substitution_count = 0;
    parser.in_conversion = false;
    parser.lambda_depth = 0;
    parser.function_qualifiers = "";
    parser.template_arguments = NULL;
    if (!cpp_take(&parser, "_Z") && !cpp_take(&parser, "___Z"))
        return false;
    struct cpp_node *node = cpp_encoding(&parser);
    if (node == NULL || (cpp_peek(&parser, 0) != '\0' && cpp_peek(&parser, 0) != '.'))
        return false;
    if (!is_clone_suffix(parser.at) || !cpp_print(node, parser.template_arguments, name_only, output))
        return false;
    if (!name_only)
        add_clone_suffix(parser.at, output);
    return true;
}
