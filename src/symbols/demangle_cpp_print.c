/*
 * Prints the tree. A type has two halves, because C++ writes declarators inside out: "void (*" and ")(int)" with
 * the name between them.
 */
#include "symbols/demangle_cpp.h"

#include <string.h>

enum { PRINT_DEPTH_LIMIT = 256, PRINT_STEP_LIMIT = 100000 };

struct printer {
    struct demangle_output *output;
    const struct cpp_node *template_arguments;
    unsigned depth;
    unsigned steps;
    int pack_index; /* -1: print packs whole */
    bool name_only;
    bool failed;
};

static void print(struct printer *printer, const struct cpp_node *node);
static void print_left(struct printer *printer, const struct cpp_node *node);
static void print_right(struct printer *printer, const struct cpp_node *node);

static void add(struct printer *printer, const char *text)
{
    demangle_output_add_text(printer->output, text);
}

static void add_node_text(struct printer *printer, const struct cpp_node *node)
{
    demangle_output_add(printer->output, node->text, node->length);
}

static const struct cpp_node *argument(const struct printer *printer, uint64_t index)
{
    const struct cpp_node *cell = printer->template_arguments;
    for (uint64_t i = 0; cell != NULL && i < index; i++)
        cell = cell->right;
    return cell == NULL ? NULL : cell->left;
}

static const struct cpp_node *pack_item(const struct cpp_node *pack, int index)
{
    const struct cpp_node *cell = pack->left;
    for (int i = 0; cell != NULL && i < index; i++)
        cell = cell->right;
    return cell == NULL ? NULL : cell->left;
}

/* The node that really stands here: a parameter's argument, a pack's current item. NULL: nothing to print. */
static const struct cpp_node *resolve(struct printer *printer, const struct cpp_node *node)
{
    for (unsigned i = 0; node != NULL && i < 16; i++) {
        if (node->kind == CPP_TEMPLATE_PARAMETER && node->length == 0) {
            const struct cpp_node *stands_for = argument(printer, node->number);
            if (stands_for == NULL || stands_for == node) {
                printer->failed = true;
                return NULL;
            }
            bool one = stands_for->kind == CPP_PACK && printer->pack_index >= 0;
            node = one ? pack_item(stands_for, printer->pack_index) : stands_for;
        } else if (node->kind == CPP_PACK_REFERENCE) {
            node = printer->pack_index < 0 ? node->left : pack_item(node->left, printer->pack_index);
        } else {
            break;
        }
    }
    return node;
}

/* Items that print nothing (empty packs) take their comma with them. */
static void print_list(struct printer *printer, const struct cpp_node *list)
{
    bool first = true;
    for (; list != NULL && !printer->failed; list = list->right) {
        size_t before = printer->output->length;
        if (list->left == NULL)
            continue;
        if (!first)
            add(printer, ", ");
        size_t after = printer->output->length;
        print(printer, list->left);
        if (printer->output->length == after && !printer->output->full) {
            printer->output->length = before;
            printer->output->text[before] = '\0';
        } else {
            first = false;
        }
    }
}

static const struct cpp_node *find_pack(const struct printer *printer, const struct cpp_node *node,
                                        unsigned depth)
{
    if (node == NULL || depth > 64)
        return NULL;
    if (node->kind == CPP_PACK_REFERENCE)
        return node->left;
    if (node->kind == CPP_PACK_EXPANSION)
        return NULL;
    if (node->kind == CPP_TEMPLATE_PARAMETER && node->length == 0) {
        const struct cpp_node *stands_for = argument(printer, node->number);
        return stands_for != NULL && stands_for->kind == CPP_PACK ? stands_for : NULL;
    }
    const struct cpp_node *found = find_pack(printer, node->left, depth + 1);
    return found != NULL ? found : find_pack(printer, node->right, depth + 1);
}

static void print_expansion(struct printer *printer, const struct cpp_node *pattern)
{
    const struct cpp_node *pack = find_pack(printer, pattern, 0);
    if (pack == NULL) {
        print(printer, pattern);
        add(printer, "...");
        return;
    }
    int outer = printer->pack_index, index = 0;
    for (const struct cpp_node *cell = pack->left; cell != NULL && !printer->failed; cell = cell->right) {
        printer->pack_index = index;
        if (index++ > 0)
            add(printer, ", ");
        print(printer, pattern);
    }
    printer->pack_index = outer;
}

static void print_template(struct printer *printer, const struct cpp_node *node)
{
    print(printer, node->left);
    if (demangle_output_last(printer->output) == '<')
        add(printer, " ");
    add(printer, "<");
    print_list(printer, node->right);
    if (demangle_output_last(printer->output) == '>')
        add(printer, " ");
    add(printer, ">");
}

/* "basic_string" of std::basic_string<char>, for its constructor. */
static void print_last_name(struct printer *printer, const struct cpp_node *node)
{
    for (unsigned i = 0; node != NULL && i < PRINT_DEPTH_LIMIT; i++) {
        if (node->kind == CPP_NESTED || node->kind == CPP_LOCAL)
            node = node->right;
        else if (node->kind == CPP_TEMPLATE || node->kind == CPP_ABI_TAG)
            node = node->left;
        else if (node->kind == CPP_NAME && node->left != NULL)
            node = node->left;
        else
            break;
    }
    print(printer, node);
}

static const char *literal_suffix(const struct cpp_node *type)
{
    static const char *const names[] = {"int",           "unsigned int", "long",
                                        "unsigned long", "long long",    "unsigned long long"};
    static const char *const suffixes[] = {"", "u", "l", "ul", "ll", "ull"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && type->kind == CPP_NAME; i++)
        if (strlen(names[i]) == type->length && memcmp(names[i], type->text, type->length) == 0)
            return suffixes[i];
    return NULL;
}

static void print_digits(struct printer *printer, const struct cpp_node *node)
{
    bool negative = node->length > 0 && node->text[0] == 'n';
    if (negative)
        add(printer, "-");
    demangle_output_add(printer->output, node->text + negative, node->length - negative);
}

static void print_literal(struct printer *printer, const struct cpp_node *node)
{
    const struct cpp_node *type = node->left;
    const char *suffix = literal_suffix(type);
    bool is_bool = type->kind == CPP_NAME && type->length == 4 && memcmp(type->text, "bool", 4) == 0;
    if (is_bool && node->length == 1 && (node->text[0] == '0' || node->text[0] == '1')) {
        add(printer, node->text[0] == '1' ? "true" : "false");
    } else if (suffix != NULL) {
        print_digits(printer, node);
        add(printer, suffix);
    } else {
        add(printer, "(");
        print(printer, type);
        add(printer, ")");
        print_digits(printer, node);
    }
}

static void print_numbered(struct printer *printer, const char *text, uint64_t number)
{
    add(printer, text);
    demangle_output_add_number(printer->output, number, 10);
    add(printer, "}");
}

static void print_lambda(struct printer *printer, const struct cpp_node *node)
{
    add(printer, "{lambda(");
    print_list(printer, node->right);
    print_numbered(printer, ")#", node->number);
}

static void print_operator(struct printer *printer, const struct cpp_node *node)
{
    add(printer, node->text[0] >= 'a' && node->text[0] <= 'z' ? "operator " : "operator");
    add_node_text(printer, node);
}

/* Names and literals stand alone; everything else is put in parentheses. */
static void print_operand(struct printer *printer, const struct cpp_node *node)
{
    const struct cpp_node *real = resolve(printer, node);
    bool bare = real == NULL || real->kind == CPP_NAME || real->kind == CPP_NESTED ||
                real->kind == CPP_TEMPLATE || real->kind == CPP_FUNCTION_PARAMETER ||
                real->kind == CPP_BRACED;
    if (!bare)
        add(printer, "(");
    print(printer, node);
    if (!bare)
        add(printer, ")");
}

static void print_binary(struct printer *printer, const struct cpp_node *node)
{
    bool index = node->length == 2 && memcmp(node->text, "[]", 2) == 0;
    bool greater = node->length > 0 && node->text[0] == '>';
    if (greater)
        add(printer, "(");
    print_operand(printer, node->left);
    if (index) {
        add(printer, "[");
        print(printer, node->right);
        add(printer, "]");
    } else {
        add_node_text(printer, node);
        print_operand(printer, node->right);
    }
    if (greater)
        add(printer, ")");
}

static void print_fold(struct printer *printer, const struct cpp_node *node)
{
    add(printer, "(");
    if (node->number == 'l')
        add(printer, "...");
    else
        print_operand(printer, node->left);
    add_node_text(printer, node);
    if (node->number == 'r')
        add(printer, "...");
    else if (node->number == 'l')
        print_operand(printer, node->left);
    if (node->number == 'b') {
        add(printer, "...");
        add_node_text(printer, node);
        print_operand(printer, node->right);
    }
    add(printer, ")");
}

static void print_call(struct printer *printer, const struct cpp_node *node)
{
    if (node->length == 0)
        print_operand(printer, node->left);
    else
        print(printer, node->left);
    add_node_text(printer, node);
    add(printer, "(");
    print_list(printer, node->right);
    add(printer, ")");
}

static void print_around(struct printer *printer, const char *open, const struct cpp_node *node,
                         const char *close)
{
    add(printer, open);
    print(printer, node);
    add(printer, close);
}

static void print_expression(struct printer *printer, const struct cpp_node *node)
{
    switch (node->kind) {
    case CPP_UNARY:
        add_node_text(printer, node);
        print_operand(printer, node->left);
        break;
    case CPP_POSTFIX:
        print_operand(printer, node->left);
        add_node_text(printer, node);
        break;
    case CPP_BINARY:
        print_binary(printer, node);
        break;
    case CPP_TERNARY:
        print_operand(printer, node->left);
        add(printer, "?");
        print_operand(printer, node->right->left);
        add(printer, " : ");
        print_operand(printer, node->right->right);
        break;
    case CPP_CALL:
        print_call(printer, node);
        break;
    case CPP_CAST:
        print_around(printer, "(", node->left, ")(");
        print_list(printer, node->right);
        add(printer, ")");
        break;
    case CPP_NAMED_CAST:
        add_node_text(printer, node);
        print_around(printer, "<", node->left, ">(");
        print_around(printer, "", node->right, ")");
        break;
    case CPP_MEMBER:
        print(printer, node->left);
        add(printer, node->length == 0 ? " " : "");
        add_node_text(printer, node);
        print(printer, node->right);
        break;
    case CPP_WRAPPED:
        add_node_text(printer, node);
        print_around(printer, "(", node->left, ")");
        break;
    case CPP_BRACED:
        if (node->left != NULL)
            print(printer, node->left);
        add(printer, "{");
        print_list(printer, node->right);
        add(printer, "}");
        break;
    case CPP_FOLD:
        print_fold(printer, node);
        break;
    default:
        printer->failed = true;
    }
}

static bool is_function_or_array(const struct cpp_node *node, enum cpp_kind *kind)
{
    *kind = node == NULL ? CPP_NAME : node->kind;
    return *kind == CPP_FUNCTION || *kind == CPP_ARRAY;
}

static bool is_reference(const struct cpp_node *node, bool *rvalue)
{
    *rvalue = node->length == 2;
    return node->kind == CPP_SUFFIX && node->length > 0 && node->text[0] == '&';
}

/* References to references collapse: only && and && stays &&. */
static const struct cpp_node *collapse(struct printer *printer, const struct cpp_node *node,
                                       const char **text, size_t *length)
{
    const struct cpp_node *inner = resolve(printer, node->left);
    bool rvalue, inner_rvalue;
    *text = node->text;
    *length = node->length;
    if (!is_reference(node, &rvalue))
        return inner;
    for (unsigned i = 0; inner != NULL && i < 16 && is_reference(inner, &inner_rvalue); i++) {
        if (!inner_rvalue)
            *text = "&", *length = 1;
        inner = resolve(printer, inner->left);
    }
    return inner;
}

static bool needs_parentheses(const struct cpp_node *suffix, const struct cpp_node *inner,
                              enum cpp_kind *kind)
{
    return suffix->text[0] != ' ' && is_function_or_array(inner, kind);
}

static void print_suffix_left(struct printer *printer, const struct cpp_node *node)
{
    const char *text;
    size_t length;
    enum cpp_kind kind;
    const struct cpp_node *inner = collapse(printer, node, &text, &length);
    if (inner == NULL)
        return;
    print_left(printer, inner);
    if (needs_parentheses(node, inner, &kind))
        add(printer, kind == CPP_ARRAY ? " (" : "(");
    demangle_output_add(printer->output, text, length);
}

static void print_suffix_right(struct printer *printer, const struct cpp_node *node)
{
    const char *text;
    size_t length;
    enum cpp_kind kind;
    const struct cpp_node *inner = collapse(printer, node, &text, &length);
    if (inner == NULL)
        return;
    if (needs_parentheses(node, inner, &kind))
        add(printer, ")");
    print_right(printer, inner);
}

static void print_member_pointer_left(struct printer *printer, const struct cpp_node *node)
{
    enum cpp_kind kind;
    const struct cpp_node *member = resolve(printer, node->right);
    if (member == NULL)
        return;
    print_left(printer, member);
    add(printer, is_function_or_array(member, &kind) ? kind == CPP_ARRAY ? " (" : "(" : " ");
    print(printer, node->left);
    add(printer, "::*");
}

static void print_member_pointer_right(struct printer *printer, const struct cpp_node *node)
{
    enum cpp_kind kind;
    const struct cpp_node *member = resolve(printer, node->right);
    if (member == NULL)
        return;
    if (is_function_or_array(member, &kind))
        add(printer, ")");
    print_right(printer, member);
}

static void print_function_right(struct printer *printer, const struct cpp_node *node)
{
    add(printer, "(");
    print_list(printer, node->right);
    add(printer, ")");
    add_node_text(printer, node);
    if (node->left != NULL)
        print_right(printer, node->left);
}

/* The return type of an enclosing function is omitted. */
static void print_encoding(struct printer *printer, const struct cpp_node *node, bool inside)
{
    const struct cpp_node *function = node->right;
    if (printer->name_only) {
        print(printer, node->left);
        return;
    }
    if (function->left != NULL && !inside) {
        print_left(printer, function->left);
        add(printer, " ");
    }
    print(printer, node->left);
    add(printer, "(");
    print_list(printer, function->right);
    add(printer, ")");
    add_node_text(printer, function);
    if (function->left != NULL && !inside)
        print_right(printer, function->left);
}

static void print_name(struct printer *printer, const struct cpp_node *node)
{
    switch (node->kind) {
    case CPP_NAME:
    case CPP_TEMPLATE_PARAMETER: /* auto:1, _Float16 */
        add_node_text(printer, node);
        if (node->kind == CPP_TEMPLATE_PARAMETER)
            demangle_output_add_number(printer->output, node->number, 10);
        break;
    case CPP_NESTED:
        print_around(printer, "", node->left, "::");
        print(printer, node->right);
        break;
    case CPP_LOCAL:
        if (node->left->kind == CPP_ENCODING)
            print_encoding(printer, node->left, true);
        else
            print(printer, node->left);
        print_around(printer, "::", node->right, "");
        break;
    case CPP_TEMPLATE:
        print_template(printer, node);
        break;
    case CPP_CONSTRUCTOR:
    case CPP_DESTRUCTOR:
        add(printer, node->kind == CPP_DESTRUCTOR ? "~" : "");
        print_last_name(printer, node->left);
        break;
    case CPP_OPERATOR:
        print_operator(printer, node);
        break;
    case CPP_CONVERSION:
        print_around(printer, "operator ", node->left, "");
        break;
    case CPP_ABI_TAG:
        print_around(printer, "", node->left, "[abi:");
        add_node_text(printer, node);
        add(printer, "]");
        break;
    case CPP_LAMBDA:
        print_lambda(printer, node);
        break;
    case CPP_UNNAMED:
        print_numbered(printer, "{unnamed type#", node->number);
        break;
    case CPP_PREFIX:
    case CPP_PREFIX_PAIR:
        add_node_text(printer, node);
        print(printer, node->left);
        if (node->kind == CPP_PREFIX_PAIR)
            print_around(printer, "-in-", node->right, "");
        break;
    default:
        print_expression(printer, node);
    }
}

static bool enter(struct printer *printer)
{
    if (++printer->depth > PRINT_DEPTH_LIMIT || ++printer->steps > PRINT_STEP_LIMIT)
        printer->failed = true;
    return !printer->failed && !printer->output->full;
}

static void print_left_of(struct printer *printer, const struct cpp_node *node)
{
    switch (node->kind) {
    case CPP_SUFFIX:
        print_suffix_left(printer, node);
        break;
    case CPP_POINTER_TO_MEMBER:
        print_member_pointer_left(printer, node);
        break;
    case CPP_FUNCTION:
        if (node->left != NULL) {
            print_left(printer, node->left);
            add(printer, " ");
        }
        break;
    case CPP_ARRAY:
        print_left(printer, node->left);
        break;
    case CPP_ENCODING:
        print_encoding(printer, node, false);
        break;
    case CPP_LIST:
        print_list(printer, node);
        break;
    case CPP_PACK:
        print_list(printer, node->left);
        break;
    case CPP_PACK_EXPANSION:
        print_expansion(printer, node->left);
        break;
    case CPP_LITERAL:
        print_literal(printer, node);
        break;
    case CPP_FUNCTION_PARAMETER:
        print_numbered(printer, "{parm#", node->number);
        break;
    default:
        print_name(printer, node);
    }
}

static void print_left(struct printer *printer, const struct cpp_node *node)
{
    if (enter(printer)) {
        node = resolve(printer, node);
        if (node != NULL)
            print_left_of(printer, node);
    }
    printer->depth--;
}

static void print_array_right(struct printer *printer, const struct cpp_node *node)
{
    add(printer, demangle_output_last(printer->output) == ']' ? "[" : " [");
    if (node->right != NULL)
        print(printer, node->right);
    add(printer, "]");
    print_right(printer, node->left);
}

static void print_right(struct printer *printer, const struct cpp_node *node)
{
    if (enter(printer) && (node = resolve(printer, node)) != NULL) {
        if (node->kind == CPP_SUFFIX)
            print_suffix_right(printer, node);
        else if (node->kind == CPP_POINTER_TO_MEMBER)
            print_member_pointer_right(printer, node);
        else if (node->kind == CPP_FUNCTION)
            print_function_right(printer, node);
        else if (node->kind == CPP_ARRAY)
            print_array_right(printer, node);
    }
    printer->depth--;
}

static void print(struct printer *printer, const struct cpp_node *node)
{
    print_left(printer, node);
    print_right(printer, node);
}

bool cpp_print(const struct cpp_node *node, const struct cpp_node *template_arguments, bool name_only,
               struct demangle_output *output)
{
    struct printer printer = {
        .output = output, .template_arguments = template_arguments, .pack_index = -1, .name_only = name_only};
    print(&printer, node);
    return !printer.failed;
}
