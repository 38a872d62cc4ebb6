/*
 * demangle_cpp.h - the tree of one mangled C++ name; shared by the parser's files and the printer.
 *
 * Owns: its nodes, inside the struct (put it on the stack).
 * Threads: one at a time.
 * Limit: CPP_NODE_LIMIT nodes, CPP_SUBSTITUTION_LIMIT substitutions, CPP_DEPTH_LIMIT nested rules.
 */
#ifndef SYMBOLS_DEMANGLE_CPP_H
#define SYMBOLS_DEMANGLE_CPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/demangle_output.h"

enum { CPP_NODE_LIMIT = 2000, CPP_SUBSTITUTION_LIMIT = 400, CPP_DEPTH_LIMIT = 160 };

enum cpp_kind {
    CPP_NAME,               /* text */
    CPP_NESTED,             /* left :: right */
    CPP_LOCAL,              /* left is the enclosing function, right the thing in it */
    CPP_TEMPLATE,           /* left < right > */
    CPP_LIST,               /* left, then right (CPP_LIST or NULL) */
    CPP_PACK,               /* left is a CPP_LIST or NULL */
    CPP_PACK_REFERENCE,     /* left is the CPP_PACK that a template parameter stands for */
    CPP_PACK_EXPANSION,     /* left ... */
    CPP_TEMPLATE_PARAMETER, /* number; printed as the argument it stands for */
    CPP_SUFFIX,             /* type left with text behind: *, &, &&, const */
    CPP_POINTER_TO_MEMBER,  /* left is the class, right the member's type */
    CPP_FUNCTION,           /* left returns (or NULL), right parameters, text qualifiers behind them */
    CPP_ARRAY,              /* left element, right dimension (or NULL) */
    CPP_ENCODING,           /* left name, right CPP_FUNCTION */
    CPP_PREFIX,             /* text before left: "vtable for " */
    CPP_PREFIX_PAIR,        /* text before left, "-in-" right */
    CPP_CONSTRUCTOR,        /* left is the class's name */
    CPP_DESTRUCTOR,
    CPP_OPERATOR,           /* text */
    CPP_CONVERSION,         /* left is a type */
    CPP_ABI_TAG,            /* left [abi:text] */
    CPP_LITERAL,            /* left type, text digits */
    CPP_LAMBDA,             /* right parameters, number */
    CPP_UNNAMED,            /* number */
    CPP_UNARY,              /* text (left) */
    CPP_POSTFIX,            /* (left) text */
    CPP_BINARY,             /* (left) text (right) */
    CPP_TERNARY,            /* left ? right.left : right.right */
    CPP_CALL,               /* left ( right ) */
    CPP_CAST,               /* ( left ) ( right ) */
    CPP_NAMED_CAST,         /* text < left > ( right ) */
    CPP_MEMBER,             /* left text right */
    CPP_WRAPPED,            /* text ( left ) */
    CPP_BRACED,             /* left (or NULL) { right } */
    CPP_FOLD,               /* left operand, right operand (or NULL), text operator, number 'l' or 'r' */
    CPP_FUNCTION_PARAMETER, /* number */
};

struct cpp_node {
    enum cpp_kind kind;
    uint32_t length; /* of text */
    const char *text;
    struct cpp_node *left, *right;
    uint64_t number;
};

struct cpp_parser {
    const char *at;
    const char *end;
    unsigned depth;
    unsigned node_count;
    unsigned substitution_count;
    unsigned lambda_depth;               /* in whose parameters T_ means auto */
    bool in_conversion;                  /* a template parameter may come before its arguments */
    const char *function_qualifiers;     /* " const &" of the member function whose name was read last */
    struct cpp_node *template_arguments; /* CPP_LIST the parameters T_ T0_ stand for */
    struct cpp_node *substitutions[CPP_SUBSTITUTION_LIMIT];
    struct cpp_node nodes[CPP_NODE_LIMIT];
};

/* Every parse function returns NULL when the text is not understood. */
struct cpp_node *cpp_node(struct cpp_parser *parser, enum cpp_kind kind, struct cpp_node *left,
                          struct cpp_node *right);
struct cpp_node *cpp_text_node(struct cpp_parser *parser, enum cpp_kind kind, const char *text,
                               struct cpp_node *left);
bool cpp_take(struct cpp_parser *parser, const char *text);
char cpp_peek(const struct cpp_parser *parser, size_t ahead);
bool cpp_number(struct cpp_parser *parser, uint64_t *number);
/* [number] _ : 0 for "_", n + 1 for "n_", digits of the given base. */
bool cpp_sequence_number(struct cpp_parser *parser, unsigned base, uint64_t *number);
bool cpp_enter(struct cpp_parser *parser);
bool cpp_remember(struct cpp_parser *parser, struct cpp_node *node);
bool cpp_append(struct cpp_parser *parser, struct cpp_node **first, struct cpp_node **last,
                struct cpp_node *item);

struct cpp_node *cpp_encoding(struct cpp_parser *parser);
struct cpp_node *cpp_name(struct cpp_parser *parser, bool of_encoding);
struct cpp_node *cpp_source_name(struct cpp_parser *parser);
struct cpp_node *cpp_unqualified_name(struct cpp_parser *parser, struct cpp_node *scope);
struct cpp_node *cpp_template_arguments(struct cpp_parser *parser, bool of_encoding);
struct cpp_node *cpp_template_parameter(struct cpp_parser *parser);
/* is_scope: another name follows in it. */
struct cpp_node *cpp_substitution(struct cpp_parser *parser, bool is_scope);
struct cpp_node *cpp_type(struct cpp_parser *parser);
struct cpp_node *cpp_decltype(struct cpp_parser *parser);
/* Types up to an 'E', an end or a '.'; a single void gives an empty list. */
bool cpp_parameters(struct cpp_parser *parser, struct cpp_node **list);
struct cpp_node *cpp_expression(struct cpp_parser *parser);
struct cpp_node *cpp_literal(struct cpp_parser *parser);
struct cpp_node *cpp_operator_name(struct cpp_parser *parser);
/* The operator of a two-letter code and how many operands it takes; NULL for none. */
const char *cpp_operator(const char *code, unsigned *operands);

/* Prints the tree; false when it is too deep or refers to template arguments that are not there. */
bool cpp_print(const struct cpp_node *node, const struct cpp_node *template_arguments, bool name_only,
               struct demangle_output *output);

#endif
