/* Names: nested, local, templates and their arguments, substitutions. */
#include "symbols/demangle_cpp.h"

#include <string.h>

static struct cpp_node *name_of(struct cpp_parser *parser, const char *text, size_t length)
{
    static const char anonymous[] = "_GLOBAL__N_";
    struct cpp_node *node = cpp_node(parser, CPP_NAME, NULL, NULL);
    if (node == NULL)
        return NULL;
    node->text = text;
    node->length = (uint32_t)length;
    if (length > sizeof(anonymous) - 2 && strncmp(text, "_GLOBAL_", 8) == 0 && text[9] == 'N') {
        node->text = "(anonymous namespace)";
        node->length = (uint32_t)strlen(node->text);
    }
    return node;
}

struct cpp_node *cpp_source_name(struct cpp_parser *parser)
{
    uint64_t length;
    if (!cpp_number(parser, &length) || length == 0 || length > (uint64_t)(parser->end - parser->at))
        return NULL;
    struct cpp_node *node = name_of(parser, parser->at, length);
    parser->at += length;
    return node;
}

static struct cpp_node *lambda(struct cpp_parser *parser)
{
    struct cpp_node *parameters = NULL;
    uint64_t number;
    parser->lambda_depth++;
    bool good = cpp_parameters(parser, &parameters) && cpp_take(parser, "E");
    parser->lambda_depth--;
    if (!good || !cpp_sequence_number(parser, 10, &number))
        return NULL;
    struct cpp_node *node = cpp_node(parser, CPP_LAMBDA, NULL, parameters);
    if (node != NULL)
        node->number = number + 1;
    return node;
}

static struct cpp_node *unnamed_type(struct cpp_parser *parser)
{
    uint64_t number;
    if (!cpp_sequence_number(parser, 10, &number))
        return NULL;
    struct cpp_node *node = cpp_node(parser, CPP_UNNAMED, NULL, NULL);
    if (node != NULL)
        node->number = number + 1;
    return node;
}

static struct cpp_node *constructor_or_destructor(struct cpp_parser *parser, struct cpp_node *scope)
{
    bool constructs = cpp_peek(parser, 0) == 'C';
    bool inherits = cpp_peek(parser, 1) == 'I';
    char variant = cpp_peek(parser, inherits ? 2 : 1);
    if (scope == NULL || variant < '0' || variant > '9')
        return NULL;
    parser->at += inherits ? 3 : 2;
    if (inherits && cpp_type(parser) == NULL)
        return NULL;
    return cpp_node(parser, constructs ? CPP_CONSTRUCTOR : CPP_DESTRUCTOR, scope, NULL);
}

static struct cpp_node *add_abi_tags(struct cpp_parser *parser, struct cpp_node *node)
{
    while (node != NULL && cpp_take(parser, "B")) {
        struct cpp_node *tag = cpp_source_name(parser);
        if (tag == NULL)
            return NULL;
        tag->kind = CPP_ABI_TAG;
        tag->left = node;
        node = tag;
    }
    return node;
}

struct cpp_node *cpp_unqualified_name(struct cpp_parser *parser, struct cpp_node *scope)
{
    char next = cpp_peek(parser, 0);
    struct cpp_node *node = NULL;
    if (next == 'L' || next == 'W') { /* internal linkage */
        parser->at++;
        next = cpp_peek(parser, 0);
    }
    if (next >= '0' && next <= '9')
        node = cpp_source_name(parser);
    else if (cpp_take(parser, "Ul"))
        node = lambda(parser);
    else if (cpp_take(parser, "Ut"))
        node = unnamed_type(parser);
    else if (next == 'C' || next == 'D')
        node = constructor_or_destructor(parser, scope);
    else if (next >= 'a' && next <= 'z')
        node = cpp_operator_name(parser);
    return add_abi_tags(parser, node);
}

static struct cpp_node *template_argument(struct cpp_parser *parser);

static struct cpp_node *argument_pack(struct cpp_parser *parser)
{
    struct cpp_node *first = NULL, *last = NULL;
    while (!cpp_take(parser, "E"))
        if (!cpp_append(parser, &first, &last, template_argument(parser)))
            return NULL;
    return cpp_node(parser, CPP_PACK, first, NULL);
}

static struct cpp_node *template_argument(struct cpp_parser *parser)
{
    if (!cpp_enter(parser))
        return NULL;
    struct cpp_node *node;
    if (cpp_take(parser, "X")) {
        node = cpp_expression(parser);
        if (node != NULL && !cpp_take(parser, "E"))
            node = NULL;
    } else if (cpp_take(parser, "J")) {
        node = argument_pack(parser);
    } else if (cpp_peek(parser, 0) == 'L') {
        node = cpp_literal(parser);
    } else {
        node = cpp_type(parser);
    }
    parser->depth--;
    return node;
}

/* An empty list is a CPP_LIST without item, so that it differs from failure. */
struct cpp_node *cpp_template_arguments(struct cpp_parser *parser, bool of_encoding)
{
    struct cpp_node *first = NULL, *last = NULL;
    if (!cpp_take(parser, "I"))
        return NULL;
    struct cpp_node *outer = parser->template_arguments;
    while (!cpp_take(parser, "E"))
        if (!cpp_append(parser, &first, &last, template_argument(parser)))
            return NULL;
    if (first == NULL)
        first = cpp_node(parser, CPP_LIST, NULL, NULL);
    parser->template_arguments = of_encoding ? first : outer;
    return first;
}

static struct cpp_node *auto_parameter(struct cpp_parser *parser, uint64_t index)
{
    struct cpp_node *node = cpp_text_node(parser, CPP_TEMPLATE_PARAMETER, "auto:", NULL);
    if (node != NULL)
        node->number = index + 1;
    return node;
}

struct cpp_node *cpp_template_parameter(struct cpp_parser *parser)
{
    uint64_t index, level;
    if (!cpp_take(parser, "T"))
        return NULL;
    if (cpp_take(parser, "L") && !cpp_sequence_number(parser, 10, &level))
        return NULL;
    if (!cpp_sequence_number(parser, 10, &index))
        return NULL;
    if (parser->lambda_depth > 0)
        return auto_parameter(parser, index);
    struct cpp_node *cell = parser->in_conversion ? NULL : parser->template_arguments;
    for (uint64_t i = 0; cell != NULL && i < index; i++)
        cell = cell->right;
    if (cell != NULL && cell->left != NULL)
        return cell->left->kind == CPP_PACK ? cpp_node(parser, CPP_PACK_REFERENCE, cell->left, NULL)
                                            : cell->left;
    struct cpp_node *node = cpp_node(parser, CPP_TEMPLATE_PARAMETER, NULL, NULL);
    if (node != NULL)
        node->number = index;
    return node;
}

/* What Sa, Ss … stand for; as the scope of a constructor or destructor in full, as c++filt has it. */
static struct cpp_node *standard_substitution(struct cpp_parser *parser, bool is_scope)
{
    static const struct {
        char code;
        const char *brief, *full, *last;
    } table[] = {
        {'a', "std::allocator", "std::allocator", "allocator"},
        {'b', "std::basic_string", "std::basic_string", "basic_string"},
        {'s', "std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
         "basic_string"},
        {'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"},
        {'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"},
        {'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >", "basic_iostream"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (cpp_peek(parser, 0) != table[i].code)
            continue;
        parser->at++;
        bool full = is_scope && (cpp_peek(parser, 0) == 'C' || cpp_peek(parser, 0) == 'D');
        struct cpp_node *last = cpp_text_node(parser, CPP_NAME, table[i].last, NULL);
        return cpp_text_node(parser, CPP_NAME, full ? table[i].full : table[i].brief, last);
    }
    return NULL;
}

struct cpp_node *cpp_substitution(struct cpp_parser *parser, bool is_scope)
{
    uint64_t index;
    if (!cpp_take(parser, "S"))
        return NULL;
    char next = cpp_peek(parser, 0);
    if (next >= 'a' && next <= 'z') {
        struct cpp_node *node = standard_substitution(parser, is_scope);
        struct cpp_node *tagged = add_abi_tags(parser, node);
        return tagged == node || cpp_remember(parser, tagged) ? tagged : NULL;
    }
    if (!cpp_sequence_number(parser, 36, &index) || index >= parser->substitution_count)
        return NULL;
    return parser->substitutions[index];
}

/* One step of a nested name; *known says that it is no new substitution. */
static struct cpp_node *nested_part(struct cpp_parser *parser, struct cpp_node *scope, bool of_encoding,
                                    bool *known)
{
    char next = cpp_peek(parser, 0), after = cpp_peek(parser, 1);
    *known = false;
    if (next == 'S') {
        *known = true;
        if (scope != NULL)
            return NULL;
        return cpp_take(parser, "St") ? cpp_text_node(parser, CPP_NAME, "std", NULL)
                                      : cpp_substitution(parser, true);
    }
    if (next == 'T' && scope == NULL)
        return cpp_template_parameter(parser);
    if (next == 'D' && (after == 't' || after == 'T') && scope == NULL)
        return cpp_decltype(parser);
    if (next == 'I') {
        struct cpp_node *arguments = scope == NULL ? NULL : cpp_template_arguments(parser, of_encoding);
        return arguments == NULL ? NULL : cpp_node(parser, CPP_TEMPLATE, scope, arguments);
    }
    struct cpp_node *name = cpp_unqualified_name(parser, scope);
    if (name == NULL || scope == NULL)
        return name;
    return cpp_node(parser, CPP_NESTED, scope, name);
}

static const char *member_qualifiers(struct cpp_parser *parser)
{
    static const char *const texts[] = {"",    " const",    " volatile",    " const volatile",
                                        " &",  " const &",  " volatile &",  " const volatile &",
                                        " &&", " const &&", " volatile &&", " const volatile &&"};
    unsigned index = 0;
    cpp_take(parser, "r");
    index += cpp_take(parser, "V") ? 2 : 0;
    index += cpp_take(parser, "K") ? 1 : 0;
    index += cpp_take(parser, "R") ? 4 : 0;
    index += index < 4 && cpp_take(parser, "O") ? 8 : 0;
    return texts[index];
}

static struct cpp_node *nested_name(struct cpp_parser *parser, bool of_encoding)
{
    const char *qualifiers = member_qualifiers(parser);
    struct cpp_node *scope = NULL;
    bool known = true;
    while (!cpp_take(parser, "E")) {
        if (scope != NULL && cpp_take(parser, "M")) /* a lambda in a member's initializer */
            continue;
        scope = nested_part(parser, scope, of_encoding, &known);
        if (scope == NULL || (!known && !cpp_remember(parser, scope)))
            return NULL;
    }
    if (scope == NULL || known)
        return NULL;
    parser->substitution_count--; /* the whole is remembered by the rule above, if it is a type */
    if (of_encoding)
        parser->function_qualifiers = qualifiers;
    return scope;
}

static bool skip_discriminator(struct cpp_parser *parser)
{
    uint64_t number;
    if (cpp_take(parser, "__"))
        return cpp_number(parser, &number) && cpp_take(parser, "_");
    if (cpp_peek(parser, 0) == '_' && cpp_peek(parser, 1) >= '0' && cpp_peek(parser, 1) <= '9')
        parser->at += 2;
    return true;
}

static struct cpp_node *local_entity(struct cpp_parser *parser, bool of_encoding)
{
    uint64_t number;
    if (cpp_take(parser, "s"))
        return cpp_text_node(parser, CPP_NAME, "string literal", NULL);
    if (cpp_take(parser, "d")) {
        if (cpp_peek(parser, 0) != '_' && !cpp_number(parser, &number))
            return NULL;
        return cpp_take(parser, "_") ? cpp_name(parser, of_encoding) : NULL;
    }
    return cpp_name(parser, of_encoding);
}

static struct cpp_node *local_name(struct cpp_parser *parser, bool of_encoding)
{
    struct cpp_node *outer = parser->template_arguments;
    struct cpp_node *function = cpp_encoding(parser);
    if (function == NULL || !cpp_take(parser, "E"))
        return NULL;
    parser->function_qualifiers = "";
    if (!of_encoding)
        parser->template_arguments = outer;
    struct cpp_node *entity = local_entity(parser, of_encoding);
    if (entity == NULL || !skip_discriminator(parser))
        return NULL;
    return cpp_node(parser, CPP_LOCAL, function, entity);
}

static struct cpp_node *unscoped_name(struct cpp_parser *parser)
{
    if (!cpp_take(parser, "St"))
        return cpp_unqualified_name(parser, NULL);
    struct cpp_node *standard = cpp_text_node(parser, CPP_NAME, "std", NULL);
    struct cpp_node *name = standard == NULL ? NULL : cpp_unqualified_name(parser, standard);
    return name == NULL ? NULL : cpp_node(parser, CPP_NESTED, standard, name);
}

static struct cpp_node *plain_name(struct cpp_parser *parser, bool of_encoding)
{
    if (cpp_take(parser, "N"))
        return nested_name(parser, of_encoding);
    if (cpp_take(parser, "Z"))
        return local_name(parser, of_encoding);
    if (of_encoding)
        parser->function_qualifiers = "";
    bool known = cpp_peek(parser, 0) == 'S' && cpp_peek(parser, 1) != 't';
    struct cpp_node *name = known ? cpp_substitution(parser, false) : unscoped_name(parser);
    if (name == NULL || (cpp_peek(parser, 0) != 'I' && !known))
        return name;
    if (!known && !cpp_remember(parser, name))
        return NULL;
    struct cpp_node *arguments = cpp_template_arguments(parser, of_encoding);
    return arguments == NULL ? NULL : cpp_node(parser, CPP_TEMPLATE, name, arguments);
}

struct cpp_node *cpp_name(struct cpp_parser *parser, bool of_encoding)
{
    if (!cpp_enter(parser))
        return NULL;
    struct cpp_node *node = plain_name(parser, of_encoding);
    parser->depth--;
    return node;
}
