/* Types, from int to pointers to member functions. */
#include "symbols/demangle_cpp.h"

#include <string.h>

static struct cpp_node *builtin(struct cpp_parser *parser)
{
    static const char codes[] = "vwbcahstijlmxynofdegz";
    static const char *const names[] = {"void",        "wchar_t",
                                        "bool",        "char",
                                        "signed char", "unsigned char",
                                        "short",       "unsigned short",
                                        "int",         "unsigned int",
                                        "long",        "unsigned long",
                                        "long long",   "unsigned long long",
                                        "__int128",    "unsigned __int128",
                                        "float",       "double",
                                        "long double", "__float128",
                                        "..."};
    char next = cpp_peek(parser, 0);
    const char *found = next == '\0' ? NULL : strchr(codes, next);
    if (found == NULL)
        return NULL;
    parser->at++;
    return cpp_text_node(parser, CPP_NAME, names[found - codes], NULL);
}

static struct cpp_node *builtin_of_two(struct cpp_parser *parser)
{
    static const char codes[] = "acnisudefh";
    static const char *const names[] = {
        "auto",    "decltype(auto)", "decltype(nullptr)", "char32_t",  "char16_t",
        "char8_t", "decimal64",      "decimal128",        "decimal32", "half"};
    char next = cpp_peek(parser, 1);
    const char *found = next == '\0' ? NULL : strchr(codes, next);
    if (found == NULL)
        return NULL;
    parser->at += 2;
    return cpp_text_node(parser, CPP_NAME, names[found - codes], NULL);
}

static struct cpp_node *sized_float(struct cpp_parser *parser)
{
    uint64_t bits;
    if (!cpp_number(parser, &bits))
        return NULL;
    if (cpp_take(parser, "b"))
        return cpp_text_node(parser, CPP_NAME, "std::bfloat16_t", NULL);
    bool extended = cpp_take(parser, "x");
    if (!extended && !cpp_take(parser, "_"))
        return NULL;
    struct cpp_node *node = cpp_text_node(parser, CPP_TEMPLATE_PARAMETER, "_Float", NULL);
    if (node != NULL)
        node->number = bits;
    return node;
}

bool cpp_parameters(struct cpp_parser *parser, struct cpp_node **list)
{
    struct cpp_node *last = NULL;
    *list = NULL;
    char after = cpp_peek(parser, 1);
    if (cpp_peek(parser, 0) == 'v' &&
        (after == 'E' || after == '\0' || after == '.' || after == 'R' || after == 'O')) {
        parser->at++;
        return true;
    }
    for (char next; (next = cpp_peek(parser, 0)) != '\0' && next != 'E' && next != '.';) {
        if ((next == 'R' || next == 'O') && cpp_peek(parser, 1) == 'E')
            return true; /* the function's own ref-qualifier */
        if (!cpp_append(parser, list, &last, cpp_type(parser)))
            return false;
    }
    return true;
}

static struct cpp_node *function_type(struct cpp_parser *parser, const char *qualifiers)
{
    struct cpp_node *parameters;
    if (!cpp_take(parser, "F"))
        return NULL;
    cpp_take(parser, "Y");
    struct cpp_node *returns = cpp_type(parser);
    if (returns == NULL || !cpp_parameters(parser, &parameters))
        return NULL;
    if (cpp_take(parser, "R"))
        qualifiers = strcmp(qualifiers, " const") == 0 ? " const &" : " &";
    else if (cpp_take(parser, "O"))
        qualifiers = strcmp(qualifiers, " const") == 0 ? " const &&" : " &&";
    if (!cpp_take(parser, "E"))
        return NULL;
    struct cpp_node *node = cpp_text_node(parser, CPP_FUNCTION, qualifiers, returns);
    if (node != NULL)
        node->right = parameters;
    return node;
}

static struct cpp_node *array_type(struct cpp_parser *parser)
{
    struct cpp_node *dimension = NULL;
    parser->at++;
    if (cpp_peek(parser, 0) >= '0' && cpp_peek(parser, 0) <= '9') {
        uint64_t length;
        const char *start = parser->at;
        if (!cpp_number(parser, &length) || (dimension = cpp_node(parser, CPP_NAME, NULL, NULL)) == NULL)
            return NULL;
        dimension->text = start;
        dimension->length = (uint32_t)(parser->at - start);
    } else if (cpp_peek(parser, 0) != '_' && (dimension = cpp_expression(parser)) == NULL) {
        return NULL;
    }
    struct cpp_node *element = cpp_take(parser, "_") ? cpp_type(parser) : NULL;
    return element == NULL ? NULL : cpp_node(parser, CPP_ARRAY, element, dimension);
}

static struct cpp_node *vector_type(struct cpp_parser *parser)
{
    uint64_t length;
    struct cpp_node *dimension = cpp_node(parser, CPP_NAME, NULL, NULL);
    const char *start = parser->at;
    if (dimension == NULL || !cpp_number(parser, &length))
        return NULL;
    dimension->text = start;
    dimension->length = (uint32_t)(parser->at - start);
    struct cpp_node *element = cpp_take(parser, "_") ? cpp_type(parser) : NULL;
    if (element == NULL)
        return NULL;
    struct cpp_node *node = cpp_text_node(parser, CPP_CALL, " __vector", element);
    if (node != NULL)
        node->right = cpp_node(parser, CPP_LIST, dimension, NULL);
    return node;
}

static struct cpp_node *qualified_type(struct cpp_parser *parser)
{
    static const char *const texts[] = {
        "",          " const",          " volatile",          " const volatile",
        " restrict", " const restrict", " volatile restrict", " const volatile restrict"};
    unsigned index = 0;
    index += cpp_take(parser, "r") ? 4 : 0;
    index += cpp_take(parser, "V") ? 2 : 0;
    index += cpp_take(parser, "K") ? 1 : 0;
    if (cpp_peek(parser, 0) == 'F') {
        struct cpp_node *plain = function_type(parser, "");
        struct cpp_node *node =
            cpp_remember(parser, plain) ? cpp_node(parser, CPP_FUNCTION, NULL, NULL) : NULL;
        if (node == NULL)
            return NULL;
        *node = *plain;
        node->text = texts[index];
        node->length = (uint32_t)strlen(texts[index]);
        return node;
    }
    struct cpp_node *type = cpp_type(parser);
    return type == NULL ? NULL : cpp_text_node(parser, CPP_SUFFIX, texts[index], type);
}

static struct cpp_node *suffixed(struct cpp_parser *parser, const char *text)
{
    parser->at++;
    struct cpp_node *type = cpp_type(parser);
    return type == NULL ? NULL : cpp_text_node(parser, CPP_SUFFIX, text, type);
}

static struct cpp_node *pointer_to_member(struct cpp_parser *parser)
{
    parser->at++;
    struct cpp_node *class_type = cpp_type(parser);
    struct cpp_node *member = class_type == NULL ? NULL : cpp_type(parser);
    return member == NULL ? NULL : cpp_node(parser, CPP_POINTER_TO_MEMBER, class_type, member);
}

static struct cpp_node *vendor_qualified(struct cpp_parser *parser)
{
    parser->at++;
    struct cpp_node *name = cpp_source_name(parser);
    if (name != NULL && cpp_peek(parser, 0) == 'I') {
        struct cpp_node *arguments = cpp_template_arguments(parser, false);
        name = arguments == NULL ? NULL : cpp_node(parser, CPP_TEMPLATE, name, arguments);
    }
    struct cpp_node *type = name == NULL ? NULL : cpp_type(parser);
    return type == NULL ? NULL : cpp_node(parser, CPP_MEMBER, type, name);
}

struct cpp_node *cpp_decltype(struct cpp_parser *parser)
{
    if (!cpp_take(parser, "Dt") && !cpp_take(parser, "DT"))
        return NULL;
    struct cpp_node *expression = cpp_expression(parser);
    if (expression == NULL || !cpp_take(parser, "E"))
        return NULL;
    return cpp_text_node(parser, CPP_WRAPPED, "decltype ", expression);
}

static struct cpp_node *noexcept_function(struct cpp_parser *parser)
{
    if (cpp_take(parser, "DO")) {
        if (cpp_expression(parser) == NULL || !cpp_take(parser, "E"))
            return NULL;
    } else if (!cpp_take(parser, "Do")) {
        return NULL;
    }
    return function_type(parser, " noexcept");
}

/* Types that begin with D; *known says that it is no new substitution. */
static struct cpp_node *d_type(struct cpp_parser *parser, bool *known)
{
    char next = cpp_peek(parser, 1);
    if (next == 't' || next == 'T')
        return cpp_decltype(parser);
    if (next == 'o' || next == 'O')
        return noexcept_function(parser);
    if (cpp_take(parser, "Dp")) {
        struct cpp_node *pattern = cpp_type(parser);
        return pattern == NULL ? NULL : cpp_node(parser, CPP_PACK_EXPANSION, pattern, NULL);
    }
    if (cpp_take(parser, "Dv"))
        return vector_type(parser);
    *known = true;
    if (cpp_take(parser, "DF"))
        return sized_float(parser);
    return builtin_of_two(parser);
}

/* A template template parameter or a substitution may get arguments of its own. */
static struct cpp_node *with_arguments(struct cpp_parser *parser, struct cpp_node *name, bool known)
{
    if (name == NULL || cpp_peek(parser, 0) != 'I')
        return name;
    if (!known && !cpp_remember(parser, name))
        return NULL;
    struct cpp_node *arguments = cpp_template_arguments(parser, false);
    return arguments == NULL ? NULL : cpp_node(parser, CPP_TEMPLATE, name, arguments);
}

/* "cv T_ I…E" is a conversion to T_ by a template, unless T_ takes the arguments: then a second I follows. */
static struct cpp_node *parameter_type(struct cpp_parser *parser)
{
    char next = cpp_peek(parser, 1);
    if (next == 's' || next == 'u' || next == 'e') {
        parser->at += 2;
        return cpp_name(parser, false);
    }
    struct cpp_node *parameter = cpp_template_parameter(parser);
    return parser->in_conversion ? parameter : with_arguments(parser, parameter, false);
}

static struct cpp_node *s_type(struct cpp_parser *parser, bool *known)
{
    if (cpp_peek(parser, 1) == 't')
        return cpp_name(parser, false);
    struct cpp_node *name = cpp_substitution(parser, false);
    *known = cpp_peek(parser, 0) != 'I';
    return *known ? name : with_arguments(parser, name, true);
}

static struct cpp_node *new_type(struct cpp_parser *parser, bool *known)
{
    switch (cpp_peek(parser, 0)) {
    case 'r':
    case 'V':
    case 'K':
        return qualified_type(parser);
    case 'P':
        return suffixed(parser, "*");
    case 'R':
        return suffixed(parser, "&");
    case 'O':
        return suffixed(parser, "&&");
    case 'C':
        return suffixed(parser, " _Complex");
    case 'G':
        return suffixed(parser, " _Imaginary");
    case 'F':
        return function_type(parser, "");
    case 'A':
        return array_type(parser);
    case 'M':
        return pointer_to_member(parser);
    case 'T':
        return parameter_type(parser);
    case 'D':
        return d_type(parser, known);
    case 'S':
        return s_type(parser, known);
    case 'U':
        return vendor_qualified(parser);
    case 'u':
        parser->at++;
        return cpp_source_name(parser);
    case 'N':
    case 'Z':
        return cpp_name(parser, false);
    default:
        if (cpp_peek(parser, 0) >= '0' && cpp_peek(parser, 0) <= '9')
            return cpp_name(parser, false);
        *known = true;
        return builtin(parser);
    }
}

struct cpp_node *cpp_type(struct cpp_parser *parser)
{
    bool known = false;
    if (!cpp_enter(parser))
        return NULL;
    struct cpp_node *node = new_type(parser, &known);
    parser->depth--;
    return node == NULL || known || cpp_remember(parser, node) ? node : NULL;
}
