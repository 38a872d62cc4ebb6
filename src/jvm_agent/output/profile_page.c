#include "jvm_agent/output/profile_page.h"

#include <stdlib.h>
#include <string.h>

#include "jvm_agent/frame.h"
#include "jvm_agent/output/flame_tree.h"

#define SHARED_LIMIT_BYTES 95

extern const char flame_page[]; /* flame_page.html */
extern const size_t flame_page_size;

struct page {
    const struct profile_view *view;
    struct flame_tree tree;
    uint32_t *order; /* index of each name in the page's list */
    uint64_t least;  /* narrower boxes are left out */
    struct output *output;
    /* The last box that was written. */
    uint32_t level;
    uint64_t left, width;
    bool any;
};

static struct flame_tree *sorted_tree; /* for the comparison below, one output at a time */

static int by_name(const void *left, const void *right)
{
    uint32_t first = *(const uint32_t *)left, second = *(const uint32_t *)right;
    return text_compare(string_table_text(&sorted_tree->names, first),
                        string_table_text(&sorted_tree->names, second));
}

/* ASCII only: the page counts in UTF-16 units, not in bytes. */
static size_t shared_bytes(struct text_view last, struct text_view name)
{
    size_t shared = 0;
    while (shared < last.size && shared < name.size && shared < SHARED_LIMIT_BYTES &&
           last.data[shared] == name.data[shared] && (unsigned char)name.data[shared] < 0x80)
        shared++;
    return shared;
}

/* Inside single quotes in a script: the text must not end either. */
static void put_quoted(struct output *output, struct text_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.data[i];
        bool may_end_script =
            byte == '<' && i + 1 < text.size && (text.data[i + 1] == '/' || text.data[i + 1] == '!');
        if (byte == '\'' || byte == '\\')
            output_byte(output, '\\');
        if (may_end_script)
            output_c_string(output, "<\\");
        else
            output_byte(output, (unsigned char)byte < 0x20 ? ' ' : byte);
    }
}

static void put_html(struct output *output, struct text_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '<')
            output_c_string(output, "&lt;");
        else if (text.data[i] == '&')
            output_c_string(output, "&amp;");
        else
            output_byte(output, (unsigned char)text.data[i] < 0x20 ? ' ' : text.data[i]);
    }
}

static bool put_names(struct page *page, struct error *error)
{
    size_t count = page->tree.names.size;
    uint32_t *numbers = calloc(count, sizeof(*numbers));
    page->order = calloc(count, sizeof(*page->order));
    if (numbers == NULL || page->order == NULL) {
        free(numbers);
        return error_set_memory(error);
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    sorted_tree = &page->tree;
    qsort(numbers + 1, count - 1, sizeof(*numbers), by_name); /* the root's name stays first */
    output_c_string(page->output, "'all'");
    struct text_view last = TEXT("");
    for (uint32_t i = 1; i < count; i++) {
        struct text_view name = string_table_text(&page->tree.names, numbers[i]);
        size_t shared = i == 1 ? 0 : shared_bytes(last, name);
        char lead = (char)(' ' + shared);
        output_c_string(page->output, ",\n'");
        put_quoted(page->output, (struct text_view){&lead, 1});
        put_quoted(page->output, text_from(name, shared));
        output_byte(page->output, '\'');
        page->order[numbers[i]] = i;
        last = name;
    }
    output_byte(page->output, '\n');
    free(numbers);
    return true;
}

static void put_number(struct output *output, uint64_t number)
{
    output_byte(output, ',');
    output_u64(output, number);
}

static void put_box(const struct flame_box *box, uint32_t level, uint64_t left, void *context)
{
    struct page *page = context;
    struct output *output = page->output;
    bool above = page->any && level == page->level + 1 && left == page->left;
    bool beside = page->any && level == page->level && left == page->left + page->width;
    bool mixed = (box->inlined | box->c1 | box->interpreted) != 0 && box->inlined < box->total &&
                 box->interpreted < box->total;
    uint8_t type = box->type;
    if (box->inlined == box->total && box->inlined > 0)
        type = AGENT_FRAME_INLINED;
    else if (box->interpreted == box->total && box->interpreted > 0)
        type = AGENT_FRAME_INTERPRETED;
    else if (box->c1 * 2 >= box->total && box->c1 > 0)
        type = AGENT_FRAME_C1_COMPILED;
    output_byte(output, above ? 'u' : beside ? 'n' : 'f');
    output_byte(output, '(');
    output_u64(output, (uint64_t)page->order[box->name] << 3 | type);
    if (!above && !beside) {
        put_number(output, level);
        put_number(output, left - page->left);
    }
    if (!page->any || box->total != page->width || mixed)
        put_number(output, box->total);
    if (mixed) {
        put_number(output, box->inlined);
        put_number(output, box->c1);
        put_number(output, box->interpreted);
    }
    output_c_string(output, ")\n");
    page->level = level;
    page->left = left;
    page->width = box->total;
    page->any = true;
}

static bool put_part(struct page *page, struct text_view name, struct error *error)
{
    const struct arguments *arguments = page->view->arguments;
    struct output *output = page->output;
    if (text_equal(name, TEXT("title")))
        put_html(output, text_of(arguments->title == NULL ? "Flame Graph" : arguments->title));
    else if (text_equal(name, TEXT("units")))
        output_c_string(output, arguments->total ? page->view->unit : "samples");
    else if (text_equal(name, TEXT("inverted")))
        output_c_string(output, arguments->inverted != arguments->reverse ? "true" : "false");
    else if (text_equal(name, TEXT("depth")))
        output_u64(output, flame_tree_depth(&page->tree, page->least));
    else if (text_equal(name, TEXT("names")))
        return put_names(page, error);
    else if (text_equal(name, TEXT("boxes")))
        flame_tree_each(&page->tree, page->least, put_box, page);
    return true;
}

static bool is_part(struct text_view name)
{
    static const char *const parts[] = {"title", "units", "inverted", "depth", "names", "boxes"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (text_equal(name, text_of(parts[i])))
            return true;
    return false;
}

/* The page with "{name}" filled in. */
static bool put_template(struct page *page, struct error *error)
{
    struct text_view rest = {flame_page, flame_page_size};
    while (rest.size > 0) {
        size_t open = text_find_byte(rest, '{');
        if (open == TEXT_NOT_FOUND)
            break;
        struct text_view name = text_from(rest, open + 1);
        size_t close = text_find_byte(name, '}');
        if (close != TEXT_NOT_FOUND && is_part(text_part(name, 0, close))) {
            output_text(page->output, text_part(rest, 0, open));
            if (!put_part(page, text_part(name, 0, close), error))
                return false;
            rest = text_from(name, close + 1);
        } else {
            output_text(page->output, text_part(rest, 0, open + 1));
            rest = name;
        }
    }
    output_text(page->output, rest);
    return true;
}

bool profile_page_write(const struct profile_view *view, const struct stack_lines *lines,
                        struct output *output, struct error *error)
{
    const struct arguments *arguments = view->arguments;
    struct page page = {.view = view, .output = output};
    if (!flame_tree_build(&page.tree, lines, arguments->total, arguments->reverse, error))
        return false;
    page.least = (uint64_t)((double)page.tree.boxes[0].total * arguments->least_width_percent / 100);
    bool done = flame_tree_sort(&page.tree, error) && put_template(&page, error);
    flame_tree_release(&page.tree);
    free(page.order);
    return done;
}
