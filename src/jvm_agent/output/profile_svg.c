#include "jvm_agent/output/profile_svg.h"

#include "base/xml_text.h"
#include "jvm_agent/output/flame_tree.h"

#define WIDTH 1200.0
#define ROW_HEIGHT 16
#define TITLE_HEIGHT 30
#define LETTER_WIDTH 7.0
#define LEAST_WIDTH 0.1

struct picture {
    const struct profile_view *view;
    struct output *output;
    struct flame_tree tree;
    uint64_t least;
    double per_value; /* pixels */
    uint32_t rows;
    bool down; /* the root is on top */
};

/* By enum agent_frame_kind; 4 is C++. */
static const char *const colours[] = {"#b2e1b2", "#50e150", "#50cccc", "#e15a5a",
                                      "#c8c83c", "#e17d00", "#cce880"};

/* As many characters as fit, never a part of one. */
static struct text_view shortened(struct text_view name, double width)
{
    size_t letters = (size_t)((width - 6) / LETTER_WIDTH);
    if (name.size <= letters)
        return name;
    while (letters > 0 && ((unsigned char)name.data[letters] & 0xc0) == 0x80)
        letters--;
    return text_part(name, 0, letters);
}

static void put_box(const struct flame_box *box, uint32_t row, uint64_t left, void *context)
{
    const struct picture *picture = context;
    struct output *output = picture->output;
    struct text_view name = box->name == 0 ? TEXT("all") : string_table_text(&picture->tree.names, box->name);
    double width = (double)box->total * picture->per_value, x = (double)left * picture->per_value;
    uint32_t y = TITLE_HEIGHT + (picture->down ? row : picture->rows - 1 - row) * ROW_HEIGHT;
    output_c_string(output, "<g><title>");
    xml_text_write(output, name);
    output_format(output, " (%llu %s, %.2f%%)</title>", (unsigned long long)box->total,
                  picture->view->arguments->total ? picture->view->unit : "samples",
                  100.0 * (double)box->total / (double)picture->tree.boxes[0].total);
    output_format(output, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x, y, width,
                  ROW_HEIGHT - 1, colours[box->type < COUNT_OF(colours) ? box->type : 3]);
    if (width > 3 * LETTER_WIDTH) {
        output_format(output, "<text x=\"%.1f\" y=\"%u\">", x + 3, y + ROW_HEIGHT - 4);
        xml_text_write(output, shortened(name, width));
        output_c_string(output, "</text>");
    }
    output_c_string(output, "</g>\n");
}

static void put_picture(struct picture *picture)
{
    struct output *output = picture->output;
    const char *title = picture->view->arguments->title;
    unsigned height = TITLE_HEIGHT + picture->rows * ROW_HEIGHT;
    output_format(output,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "width=\"%.0f\" height=\"%u\" viewBox=\"0 0 %.0f %u\" font-family=\"monospace\" "
                  "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                  "<text x=\"%.0f\" y=\"20\" text-anchor=\"middle\">",
                  WIDTH, height, WIDTH, height, WIDTH / 2);
    xml_text_write(output, text_of(title == NULL ? "Flame Graph" : title));
    output_c_string(output, "</text>\n");
    if (picture->tree.boxes[0].total > 0)
        flame_tree_each(&picture->tree, picture->least, put_box, picture);
    output_c_string(output, "</svg>\n");
}

bool profile_svg_write(const struct profile_view *view, const struct stack_lines *lines,
                       struct output *output, struct error *error)
{
    const struct arguments *arguments = view->arguments;
    struct picture picture = {.view = view, .output = output};
    if (!flame_tree_build(&picture.tree, lines, arguments->total, arguments->reverse, error))
        return false;
    bool good = flame_tree_sort(&picture.tree, error);
    double total = (double)picture.tree.boxes[0].total, share = arguments->least_width_percent / 100;
    if (share < LEAST_WIDTH / WIDTH)
        share = LEAST_WIDTH / WIDTH;
    picture.least = (uint64_t)(total * share);
    picture.per_value = total > 0 ? WIDTH / total : 0;
    picture.rows = flame_tree_depth(&picture.tree, picture.least);
    picture.down = arguments->inverted != arguments->reverse;
    if (good)
        put_picture(&picture);
    flame_tree_release(&picture.tree);
    return good;
}
