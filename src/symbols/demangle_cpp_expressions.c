/* Operators, literals and the expressions in template arguments and decltype. */
#include "symbols/demangle_cpp.h"

#include <string.h>

struct operator_entry {
    char code[3];
    unsigned char operands;
    const char *text;
};

static const struct operator_entry operators[] = {
    {"aN", 2, "&="},  {"aS", 2, "="},      {"aa", 2, "&&"}, {"ad", 1, "&"},   {"an", 2, "&"},
    {"cl", 0, "()"},  {"cm", 2, ","},      {"co", 1, "~"},  {"dV", 2, "/="},  {"da", 1, "delete[]"},
    {"de", 1, "*"},   {"dl", 1, "delete"}, {"ds", 2, ".*"}, {"dv", 2, "/"},   {"eO", 2, "^="},
    {"eo", 2, "^"},   {"eq", 2, "=="},     {"ge", 2, ">="}, {"gt", 2, ">"},   {"ix", 2, "[]"},
    {"lS", 2, "<<="}, {"le", 2, "<="},     {"ls", 2, "<<"}, {"lt", 2, "<"},   {"mI", 2, "-="},
    {"mL", 2, "*="},  {"mi", 2, "-"},      {"ml", 2, "*"},  {"mm", 1, "--"},  {"na", 0, "new[]"},
    {"ne", 2, "!="},  {"ng", 1, "-"},      {"nt", 1, "!"},  {"nw", 0, "new"}, {"oR", 2, "|="},
    {"oo", 2, "||"},  {"or", 2, "|"},      {"pL", 2, "+="}, {"pl", 2, "+"},   {"pm", 2, "->*"},
    {"pp", 1, "++"},  {"ps", 1, "+"},      {"pt", 2, "->"}, {"qu", 3, "?"},   {"rM", 2, "%="},
    {"rS", 2, ">>="}, {"rm", 2, "%"},      {"rs", 2, ">>"}, {"ss", 2, "<=>"}, {"aw", 1, "co_await "},
};

const char *cpp_operator(const char *code, unsigned *operands)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (memcmp(operators[i].code, code, 2) == 0) {
            *operands = operators[i].operands;
            return operators[i].text;
        }
    }
    return NULL;
}

static const char *take_operator(struct cpp_parser *parser, unsigned *operands)
{
    if (parser->end - parser->at < 2)
        return NULL;
    const char *text = cpp_operator(parser->at, operands);
    if (text != NULL)
        parser->at += 2;
    return text;
}

static struct cpp_node *conversion(struct cpp_parser *parser)
{
    bool outer = parser->in_conversion;
    parser->in_conversion = true;
    struct cpp_node *type = cpp_type(parser);
    parser->in_conversion = outer;
    return type == NULL ? NULL : cpp_node(parser, CPP_CONVERSION, type, NULL);
}

struct cpp_node *cpp_operator_name(struct cpp_parser *parser)
{
    unsigned operands;
    if (cpp_take(parser, "cv"))
        return conversion(parser);
    if (cpp_take(parser, "li")) {
        struct cpp_node *name = cpp_source_name(parser);
        return name == NULL ? NULL : cpp_text_node(parser, CPP_PREFIX, "operator\"\" ", name);
    }
    const char *text = take_operator(parser, &operands);
    return text == NULL ? NULL : cpp_text_node(parser, CPP_OPERATOR, text, NULL);
}

struct cpp_node *cpp_literal(struct cpp_parser *parser)
{
    if (!cpp_take(parser, "L"))
        return NULL;
    if (cpp_take(parser, "_Z") || cpp_take(parser, "Z")) {
        struct cpp_node *arguments = parser->template_arguments;
        struct cpp_node *named = cpp_encoding(parser);
        parser->template_arguments = arguments;
        if (named == NULL || !cpp_take(parser, "E"))
            return NULL;
        return named->kind == CPP_ENCODING && named->left->kind == CPP_NESTED ? named->left : named;
    }
    struct cpp_node *type = cpp_type(parser);
    struct cpp_node *node = type == NULL ? NULL : cpp_node(parser, CPP_LITERAL, type, NULL);
    const char *end = node == NULL ? NULL : memchr(parser->at, 'E', (size_t)(parser->end - parser->at));
    if (end == NULL)
        return NULL;
    node->text = parser->at;
    node->length = (uint32_t)(end - parser->at);
    parser->at = end + 1;
    return node;
}

static bool expressions(struct cpp_parser *parser, const char *end, struct cpp_node **list)
{
    struct cpp_node *last = NULL;
    *list = NULL;
    while (!cpp_take(parser, end))
        if (!cpp_append(parser, list, &last, cpp_expression(parser)))
            return false;
    return true;
}

static struct cpp_node *call(struct cpp_parser *parser)
{
    struct cpp_node *arguments, *callee = cpp_expression(parser);
    if (callee == NULL || !expressions(parser, "E", &arguments))
        return NULL;
    return cpp_node(parser, CPP_CALL, callee, arguments);
}

static struct cpp_node *cast(struct cpp_parser *parser)
{
    struct cpp_node *type = cpp_type(parser), *values = NULL, *last = NULL;
    if (type == NULL)
        return NULL;
    if (cpp_take(parser, "_")) {
        if (!expressions(parser, "E", &values))
            return NULL;
    } else if (!cpp_append(parser, &values, &last, cpp_expression(parser))) {
        return NULL;
    }
    return cpp_node(parser, CPP_CAST, type, values);
}

static struct cpp_node *braced(struct cpp_parser *parser, bool typed)
{
    struct cpp_node *type = NULL, *values;
    if ((typed && (type = cpp_type(parser)) == NULL) || !expressions(parser, "E", &values))
        return NULL;
    return cpp_node(parser, CPP_BRACED, type, values);
}

static struct cpp_node *function_parameter(struct cpp_parser *parser)
{
    uint64_t number;
    if (cpp_take(parser, "fpT"))
        return cpp_text_node(parser, CPP_NAME, "this", NULL);
    if (cpp_take(parser, "fL")) {
        if (!cpp_number(parser, &number) || !cpp_take(parser, "p"))
            return NULL;
    } else if (!cpp_take(parser, "fp")) {
        return NULL;
    }
    while (cpp_take(parser, "r") || cpp_take(parser, "V") || cpp_take(parser, "K")) {
    }
    struct cpp_node *node = cpp_node(parser, CPP_FUNCTION_PARAMETER, NULL, NULL);
    if (node == NULL || !cpp_sequence_number(parser, 10, &number))
        return NULL;
    node->number = number + 1;
    return node;
}

/* fl op pack, fr op pack, fL op init pack, fR op pack init. */
static struct cpp_node *fold(struct cpp_parser *parser)
{
    unsigned operands;
    char code = cpp_peek(parser, 1);
    parser->at += 2;
    const char *text = take_operator(parser, &operands);
    struct cpp_node *first = text == NULL ? NULL : cpp_expression(parser), *second = NULL;
    if (first == NULL || ((code == 'L' || code == 'R') && (second = cpp_expression(parser)) == NULL))
        return NULL;
    struct cpp_node *node = cpp_text_node(parser, CPP_FOLD, text, first);
    if (node != NULL) {
        node->right = second;
        node->number = code == 'l' ? 'l' : code == 'r' ? 'r' : 'b';
    }
    return node;
}

static struct cpp_node *named_with_arguments(struct cpp_parser *parser, struct cpp_node *name)
{
    if (name == NULL || cpp_peek(parser, 0) != 'I')
        return name;
    struct cpp_node *arguments = cpp_template_arguments(parser, false);
    return arguments == NULL ? NULL : cpp_node(parser, CPP_TEMPLATE, name, arguments);
}

static struct cpp_node *base_unresolved_name(struct cpp_parser *parser)
{
    cpp_take(parser, "on");
    if (cpp_take(parser, "dn")) {
        struct cpp_node *type = cpp_type(parser);
        return type == NULL ? NULL : cpp_text_node(parser, CPP_PREFIX, "~", type);
    }
    return named_with_arguments(parser, cpp_unqualified_name(parser, NULL));
}

/* sr type name | srN type name+ E name | sr name+ E name */
static struct cpp_node *unresolved_name(struct cpp_parser *parser)
{
    bool plain = cpp_peek(parser, 0) >= '0' && cpp_peek(parser, 0) <= '9';
    bool more = cpp_take(parser, "N") || plain;
    struct cpp_node *scope = plain ? named_with_arguments(parser, cpp_source_name(parser)) : cpp_type(parser);
    while (scope != NULL && more && !cpp_take(parser, "E")) {
        struct cpp_node *part = named_with_arguments(parser, cpp_source_name(parser));
        scope = part == NULL ? NULL : cpp_node(parser, CPP_NESTED, scope, part);
    }
    struct cpp_node *name = scope == NULL ? NULL : base_unresolved_name(parser);
    return name == NULL ? NULL : cpp_node(parser, CPP_NESTED, scope, name);
}

static struct cpp_node *wrapped(struct cpp_parser *parser, const char *text, struct cpp_node *inner)
{
    return inner == NULL ? NULL : cpp_text_node(parser, CPP_WRAPPED, text, inner);
}

static struct cpp_node *named_cast(struct cpp_parser *parser, const char *text)
{
    struct cpp_node *type = cpp_type(parser);
    struct cpp_node *value = type == NULL ? NULL : cpp_expression(parser);
    struct cpp_node *node = value == NULL ? NULL : cpp_text_node(parser, CPP_NAMED_CAST, text, type);
    if (node != NULL)
        node->right = value;
    return node;
}

static struct cpp_node *member(struct cpp_parser *parser, const char *text)
{
    struct cpp_node *object = cpp_expression(parser);
    struct cpp_node *name = object == NULL           ? NULL
                            : cpp_take(parser, "sr") ? unresolved_name(parser)
                                                     : base_unresolved_name(parser);
    struct cpp_node *node = name == NULL ? NULL : cpp_text_node(parser, CPP_MEMBER, text, object);
    if (node != NULL)
        node->right = name;
    return node;
}

static struct cpp_node *operation(struct cpp_parser *parser)
{
    unsigned operands = 0;
    const char *text = take_operator(parser, &operands);
    if (text == NULL || operands == 0)
        return NULL;
    bool postfix = operands == 1 && (text[0] == text[1]) && !cpp_take(parser, "_");
    struct cpp_node *first = cpp_expression(parser);
    if (first == NULL)
        return NULL;
    if (operands == 1)
        return cpp_text_node(parser, postfix ? CPP_POSTFIX : CPP_UNARY, text, first);
    struct cpp_node *second = cpp_expression(parser);
    if (second == NULL)
        return NULL;
    if (operands == 3) {
        struct cpp_node *third = cpp_expression(parser);
        second = third == NULL ? NULL : cpp_node(parser, CPP_LIST, second, third);
        return second == NULL ? NULL : cpp_node(parser, CPP_TERNARY, first, second);
    }
    struct cpp_node *node = cpp_text_node(parser, CPP_BINARY, text, first);
    if (node != NULL)
        node->right = second;
    return node;
}

static struct cpp_node *keyword_expression(struct cpp_parser *parser, bool *matched)
{
    *matched = true;
    if (cpp_take(parser, "cl"))
        return call(parser);
    if (cpp_take(parser, "cv"))
        return cast(parser);
    if (cpp_take(parser, "tl"))
        return braced(parser, true);
    if (cpp_take(parser, "il"))
        return braced(parser, false);
    if (cpp_take(parser, "st"))
        return wrapped(parser, "sizeof ", cpp_type(parser));
    if (cpp_take(parser, "sz"))
        return wrapped(parser, "sizeof ", cpp_expression(parser));
    if (cpp_take(parser, "at"))
        return wrapped(parser, "alignof ", cpp_type(parser));
    if (cpp_take(parser, "az"))
        return wrapped(parser, "alignof ", cpp_expression(parser));
    if (cpp_take(parser, "sZ"))
        return wrapped(parser, "sizeof...", cpp_expression(parser));
    if (cpp_take(parser, "nx"))
        return wrapped(parser, "noexcept", cpp_expression(parser));
    if (cpp_take(parser, "sp")) {
        struct cpp_node *pattern = cpp_expression(parser);
        return pattern == NULL ? NULL : cpp_node(parser, CPP_PACK_EXPANSION, pattern, NULL);
    }
    if (cpp_take(parser, "sr"))
        return unresolved_name(parser);
    if (cpp_take(parser, "dt"))
        return member(parser, ".");
    if (cpp_take(parser, "pt"))
        return member(parser, "->");
    *matched = false;
    return NULL;
}

static struct cpp_node *any_expression(struct cpp_parser *parser)
{
    static const struct {
        char code[3];
        const char *text;
    } casts[] = {
        {"sc", "static_cast"}, {"dc", "dynamic_cast"}, {"cc", "const_cast"}, {"rc", "reinterpret_cast"}};
    char next = cpp_peek(parser, 0), after = cpp_peek(parser, 1);
    bool matched;
    if (next == 'L')
        return cpp_literal(parser);
    if (next == 'T')
        return cpp_template_parameter(parser);
    if (next == 'f' &&
        (after == 'p' || (after == 'L' && cpp_peek(parser, 2) >= '0' && cpp_peek(parser, 2) <= '9')))
        return function_parameter(parser);
    if (next == 'f' && (after == 'l' || after == 'r' || after == 'L' || after == 'R'))
        return fold(parser);
    if (next >= '0' && next <= '9')
        return named_with_arguments(parser, cpp_source_name(parser));
    cpp_take(parser, "gs");
    for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
        if (cpp_take(parser, casts[i].code))
            return named_cast(parser, casts[i].text);
    struct cpp_node *node = keyword_expression(parser, &matched);
    if (matched)
        return node;
    if (next == 'o' && after == 'n')
        return base_unresolved_name(parser);
    return operation(parser);
}

struct cpp_node *cpp_expression(struct cpp_parser *parser)
{
    if (!cpp_enter(parser))
        return NULL;
    struct cpp_node *node = any_expression(parser);
    parser->depth--;
    return node;
}
