#include "render/svg_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xml_text.h"
#include "render/palette.h"
#include "render/svg_script.h"

#define SIDE_PADDING 10
#define DEFAULT_WIDTH 1200
#define FRAME_GAP 1

struct svg_picture {
    const struct view *view;
    const struct svg_options *options;
    struct output *output;
    struct box_layout layout;
    double width;        /* pixels of the whole picture */
    double frames_width; /* pixels of the boxes */
    double top;          /* pixels above the boxes */
    double bottom;
    double height;
    double weight; /* that the full width stands for */
    double largest_change;
};

void svg_options_init(struct svg_options *options)
{
    *options = (struct svg_options){
        .count_name = "samples",
        .name_type = "Function:",
        .font_type = "Verdana, \"DejaVu Sans\", sans-serif",
        .font_size = 12,
        .font_width = 0.59,
        .frame_height = 16,
        .least_width = 0.01,
        .least_width_is_share = true,
        .factor = 1,
    };
}

/* ---- numbers ---- */

/* "1,234,567"; fractions keep two digits. */
static void write_count(struct output *output, double count)
{
    double whole = floor(count + 0.005);
    bool fractional = fabs(count - floor(count + 0.5)) >= 0.005;
    if (!fractional)
        whole = floor(count + 0.5);
    if (count < 0 || whole >= 1e18) {
        output_format(output, "%.6g", count);
        return;
    }
    char digits[20];
    size_t size = text_format_u64(digits, (uint64_t)whole);
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            output_byte(output, ',');
        output_byte(output, digits[i]);
    }
    if (fractional)
        output_format(output, ".%02d", (int)((count - whole) * 100 + 0.5));
}

/* Up to four digits after the point, without trailing zeros; printf is too slow for this many. */
static void write_decimal(struct output *output, double number)
{
    uint64_t scaled = number <= 0 ? 0 : (uint64_t)(number * 10000 + 0.5);
    output_u64(output, scaled / 10000);
    unsigned rest = (unsigned)(scaled % 10000);
    if (rest == 0)
        return;
    char digits[5] = {'.', (char)('0' + rest / 1000), (char)('0' + rest / 100 % 10),
                      (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    size_t size = 5;
    while (digits[size - 1] == '0')
        size--;
    output_write(output, digits, size);
}

/* Always two digits after the point. */
static void write_percent(struct output *output, double percent)
{
    double scaled = nearbyint(fabs(percent) * 100);
    if (!(scaled < 1e15)) {
        output_format(output, "%.2f%%", percent);
        return;
    }
    uint64_t hundredths = (uint64_t)scaled;
    char digits[4] = {'.', (char)('0' + hundredths / 10 % 10), (char)('0' + hundredths % 10), '%'};
    if (percent < 0)
        output_byte(output, '-');
    output_u64(output, hundredths / 100);
    output_write(output, digits, sizeof(digits));
}

static void write_weight(struct output *output, double weight)
{
    double whole = floor(weight + 0.5);
    if (fabs(weight - whole) < 1e-6 * (fabs(weight) + 1) && whole >= 0 && whole < 1e18)
        output_u64(output, (uint64_t)whole);
    else
        output_format(output, "%.10g", weight);
}

static void write_color(struct output *output, struct color color)
{
    output_c_string(output, "rgb(");
    output_u64(output, color.red);
    output_byte(output, ',');
    output_u64(output, color.green);
    output_byte(output, ',');
    output_u64(output, color.blue);
    output_byte(output, ')');
}

/* ---- one box ---- */

static struct text_view box_name(const struct svg_picture *picture, const struct box *box)
{
    return box->level == 0 ? TEXT("all") : view_name(picture->view, box->node);
}

/* What the user's files say of the box; NULL: nothing. */
static const struct svg_name *known_name(const struct svg_picture *picture, const struct box *box)
{
    struct svg_names *names = picture->options->names;
    return names == NULL ? NULL : svg_names_find(names, box_name(picture, box));
}

static void write_attribute(const struct svg_picture *picture, const char *key, uint32_t text)
{
    if (text == 0)
        return;
    struct output *output = picture->output;
    output_format(output, " %s=\"", key);
    xml_text_write(output, string_table_text(&picture->options->names->texts, text));
    output_byte(output, '"');
}

/* An attribute may stand once only: the first one does. */
static bool is_repeated(const struct svg_name *known, struct text_view extra, struct text_view key)
{
    struct text_view other, value;
    if ((known->id != 0 && text_equal(key, TEXT("id"))) ||
        (known->class_name != 0 && text_equal(key, TEXT("class"))) || text_equal(key, TEXT("target")))
        return true;
    while (svg_extra_next(&extra, &other, &value) && other.data != key.data)
        if (text_equal(other, key))
            return true;
    return false;
}

static void write_extra(const struct svg_picture *picture, const struct svg_name *known, uint32_t text)
{
    if (text == 0)
        return;
    struct text_view all = string_table_text(&picture->options->names->texts, text), rest = all, key, value;
    while (svg_extra_next(&rest, &key, &value)) {
        if (is_repeated(known, all, key))
            continue;
        output_format(picture->output, " %.*s=\"", TEXT_FORMAT(key));
        xml_text_write(picture->output, value);
        output_byte(picture->output, '"');
    }
}

static void write_difference(const struct svg_picture *picture, const struct box *box)
{
    struct output *output = picture->output;
    const struct view *view = picture->view;
    double before = view->totals[0][box->node], after = view->totals[1][box->node];
    double all_before = view->totals[0][STACK_ROOT], all_after = view->totals[1][STACK_ROOT];
    double change = (all_after > 0 ? after / all_after : 0) - (all_before > 0 ? before / all_before : 0);
    output_c_string(output, change < 0 ? "; " : "; +");
    write_percent(output, 100 * change);
    output_c_string(output, ", before ");
    write_count(output, before * picture->options->factor);
    output_c_string(output, ", after ");
    write_count(output, after * picture->options->factor);
    if (after <= 0 && before > 0)
        output_c_string(output, ", gone");
    else if (before <= 0 && after > 0)
        output_c_string(output, ", new");
}

static void write_title(const struct svg_picture *picture, const struct box *box,
                        const struct svg_name *known)
{
    struct output *output = picture->output;
    output_c_string(output, "<title>");
    if (known != NULL && known->title != 0) {
        xml_text_write(output, string_table_text(&picture->options->names->texts, known->title));
        output_c_string(output, "</title>");
        return;
    }
    xml_text_write(output, box_name(picture, box));
    output_c_string(output, " (");
    write_count(output, box->width * picture->options->factor);
    output_byte(output, ' ');
    xml_text_write(output, text_of(picture->options->count_name));
    double share = picture->weight > 0 ? 100 * box->width / picture->weight : 0;
    if (box->level == 0 && share > 99.995) {
        output_c_string(output, ", 100%");
    } else {
        output_c_string(output, ", ");
        write_percent(output, share);
    }
    if (picture->view->sides == 2)
        write_difference(picture, box);
    output_c_string(output, ")</title>");
}

static struct color box_color(const struct svg_picture *picture, const struct box *box)
{
    const struct view *view = picture->view;
    if (picture->view->sides == 2) {
        double change = view->totals[1][box->node] - view->totals[0][box->node];
        return palette_difference(picture->largest_change > 0 ? change / picture->largest_change : 0,
                                  picture->options->negate);
    }
    const struct svg_options *options = picture->options;
    struct text_view name = box_name(picture, box);
    const struct svg_name *known = box->level == 0 ? NULL : known_name(picture, box);
    if (known != NULL && known->has_color)
        return known->color;
    enum frame_kind kind = box->level == 0 ? FRAME_GROUP : view->frames[view->nodes[box->node].frame].kind;
    struct color color = palette_color(options->palette, options->color_seed, name, kind);
    if (options->keep_colors && box->level > 0)
        svg_names_keep_color(options->names, name, color);
    return color;
}

static double box_top(const struct svg_picture *picture, const struct box *box)
{
    double frame = (double)picture->options->frame_height;
    if (picture->options->inverted)
        return picture->top + box->level * frame;
    return picture->height - picture->bottom - (box->level + 1.0) * frame;
}

/* What fits, with ".." for the rest; the script does it anew for the real width. */
static void write_label(const struct svg_picture *picture, const struct box *box, double left)
{
    struct output *output = picture->output;
    const struct svg_options *options = picture->options;
    double pixels = box->width / picture->weight * picture->frames_width;
    size_t letters = pixels < 6 ? 0 : (size_t)((pixels - 6) / (options->font_size * options->font_width));
    output_c_string(output, "<text x=\"");
    write_decimal(output, left);
    output_c_string(output, "%\" y=\"");
    write_decimal(output,
                  box_top(picture, box) + (double)options->frame_height / 2 + options->font_size / 2 - 2.5);
    output_c_string(output, "\">");
    struct text_view name = box_name(picture, box);
    if (letters >= 3) {
        if (utf8_length(name) <= letters) {
            xml_text_write(output, name);
        } else {
            xml_text_write(output, utf8_prefix(name, letters - 2));
            output_c_string(output, "..");
        }
    }
    output_c_string(output, "</text>");
}

/* Without a target the link would open inside the picture, where that is part of a page. */
static void write_link(const struct svg_picture *picture, const struct svg_name *known)
{
    struct output *output = picture->output;
    output_c_string(output, "<a");
    write_attribute(picture, "href", known->href);
    if (known->target == 0)
        output_c_string(output, " target=\"_top\"");
    write_attribute(picture, "target", known->target);
    write_extra(picture, known, known->link_extra);
    output_byte(output, '>');
}

static void write_box(const struct svg_picture *picture, const struct box *box)
{
    struct output *output = picture->output;
    double left = 100 * box->x / picture->weight;
    const struct svg_name *known = known_name(picture, box);
    bool is_link = known != NULL && known->href != 0;
    output_c_string(output, "<g");
    if (known != NULL) {
        write_attribute(picture, "id", known->id);
        write_attribute(picture, "class", known->class_name);
        write_extra(picture, known, known->group_extra);
    }
    output_byte(output, '>');
    write_title(picture, box, known);
    if (is_link)
        write_link(picture, known);
    output_c_string(output, "<rect x=\"");
    write_decimal(output, left);
    output_c_string(output, "%\" y=\"");
    write_decimal(output, box_top(picture, box));
    output_c_string(output, "\" width=\"");
    write_decimal(output, 100 * box->width / picture->weight);
    output_c_string(output, "%\" height=\"");
    output_u64(output,
               picture->options->frame_height > FRAME_GAP ? picture->options->frame_height - FRAME_GAP : 1);
    output_c_string(output, "\" fill=\"");
    write_color(output, box_color(picture, box));
    output_c_string(output, "\" fg:x=\"");
    write_weight(output, box->x);
    output_c_string(output, "\" fg:w=\"");
    write_weight(output, box->width);
    output_c_string(output, "\"/>");
    write_label(picture, box, left);
    output_c_string(output, is_link ? "</a></g>\n" : "</g>\n");
}

/* ---- around the boxes ---- */

static const char *picture_title(const struct svg_picture *picture)
{
    const struct svg_options *options = picture->options;
    if (options->title != NULL)
        return options->title;
    if (picture->view->sides == 2)
        return "Difference";
    return options->chart ? "Flame Chart" : options->inverted ? "Icicle Graph" : "Flame Graph";
}

static void write_background(const struct svg_picture *picture)
{
    static const struct {
        const char *name;
        const char *top;
        const char *bottom;
    } named[] = {
        {"yellow", "#eeeeee", "#eeeeb0"},
        {"blue", "#eeeeee", "#e0e0ff"},
        {"green", "#eef2ee", "#e0ffe0"},
        {"grey", "#f8f8f8", "#e8e8e8"},
    };
    struct output *output = picture->output;
    const char *wanted = picture->options->background;
    struct color colors[2];
    palette_background(picture->options->palette, colors);
    char top[8], bottom[8];
    snprintf(top, sizeof(top), "#%02x%02x%02x", colors[0].red, colors[0].green, colors[0].blue);
    snprintf(bottom, sizeof(bottom), "#%02x%02x%02x", colors[1].red, colors[1].green, colors[1].blue);
    const char *first = top, *second = bottom;
    if (wanted != NULL)
        first = second = wanted;
    for (size_t i = 0; wanted != NULL && i < COUNT_OF(named); i++) {
        if (strcmp(wanted, named[i].name) == 0) {
            first = named[i].top;
            second = named[i].bottom;
        }
    }
    output_c_string(output,
                    "<defs><linearGradient id=\"sparkflame-background\" y1=\"0\" y2=\"1\" x1=\"0\" x2=\"0\">"
                    "<stop offset=\"5%\" stop-color=\"");
    xml_text_write(output, text_of(first));
    output_c_string(output, "\"/><stop offset=\"95%\" stop-color=\"");
    xml_text_write(output, text_of(second));
    output_c_string(output, "\"/></linearGradient></defs>\n"
                            "<rect width=\"100%\" height=\"100%\" fill=\"url(#sparkflame-background)\"/>\n");
}

static void write_text(const struct svg_picture *picture, const char *class_name, const char *x, double y,
                       const char *anchor, const char *text)
{
    struct output *output = picture->output;
    output_format(output, "<text class=\"%s\" x=\"%s\" y=\"%g\" text-anchor=\"%s\">", class_name, x, y,
                  anchor);
    xml_text_write(output, text_of(text));
    output_c_string(output, "</text>\n");
}

static void write_style(const struct svg_picture *picture)
{
    struct output *output = picture->output;
    output_c_string(output, "<style>\n.sparkflame text { font-family: ");
    xml_text_write(output, text_of(picture->options->font_type));
    output_format(output, "; font-size: %gpx; fill: #000; }\n", picture->options->font_size);
    output_format(output, ".sparkflame .title { font-size: %gpx; }\n", picture->options->font_size + 5);
    output_c_string(output,
                    ".sparkflame .subtitle { fill: #666; }\n"
                    ".sparkflame .reset, .sparkflame .search, .sparkflame .ignore-case { cursor: pointer; "
                    "opacity: 0.5; }\n"
                    ".sparkflame .reset:hover, .sparkflame .search:hover, .sparkflame .ignore-case:hover,\n"
                    ".sparkflame .on { opacity: 1; }\n"
                    ".sparkflame .hidden { display: none; }\n"
                    ".sparkflame .frames g { cursor: pointer; }\n"
                    ".sparkflame .frames text { pointer-events: none; }\n"
                    ".sparkflame .frames g:hover rect, .sparkflame .frames g.focus rect { stroke: #000; "
                    "stroke-width: 0.5; }\n"
                    ".sparkflame .frames g.caller { opacity: 0.5; }\n"
                    ".sparkflame .frames g.found rect { fill: rgb(230,0,230); }\n"
                    "</style>\n");
}

static void write_head(const struct svg_picture *picture)
{
    struct output *output = picture->output;
    const struct svg_options *options = picture->options;
    output_c_string(output, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
    output_format(
        output,
        "<svg version=\"1.1\" class=\"sparkflame\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
        "xmlns=\"http://www.w3.org/2000/svg\" xmlns:fg=\"http://github.com/jonhoo/inferno\" "
        "role=\"img\" aria-label=\"",
        picture->width, picture->height, picture->width, picture->height);
    xml_text_write(output, text_of(picture_title(picture)));
    output_c_string(output, "\">\n");
    if (options->notes != NULL) {
        output_c_string(output, "<desc>");
        xml_text_write(output, text_of(options->notes));
        output_c_string(output, "</desc>\n");
    }
    write_style(picture);
    write_background(picture);
    double line = options->font_size * 2;
    write_text(picture, "title", "50%", line, "middle", picture_title(picture));
    if (options->subtitle != NULL)
        write_text(picture, "subtitle", "50%", line * 2, "middle", options->subtitle);
    write_text(picture, "details", "10", picture->height - picture->bottom / 2, "start", " ");
    write_text(picture, "reset hidden", "10", line, "start", "Reset Zoom");
    output_format(
        output, "<text class=\"ignore-case\" x=\"100%%\" dx=\"-95\" y=\"%g\" text-anchor=\"end\">ic</text>\n",
        line);
    output_format(
        output, "<text class=\"search\" x=\"100%%\" dx=\"-10\" y=\"%g\" text-anchor=\"end\">Search</text>\n",
        line);
    output_format(output,
                  "<text class=\"matched\" x=\"100%%\" dx=\"-10\" y=\"%g\" text-anchor=\"end\"> </text>\n",
                  picture->height - picture->bottom / 2);
}

static void write_frames(const struct svg_picture *picture)
{
    struct output *output = picture->output;
    output_format(output,
                  "<svg class=\"frames\" x=\"%d\" width=\"%g\" height=\"%g\" overflow=\"hidden\" fg:total=\"",
                  SIDE_PADDING, picture->frames_width, picture->height);
    write_weight(output, picture->weight);
    output_c_string(output, "\" total_samples=\"");
    write_weight(output, picture->weight);
    output_c_string(output, "\">\n");
    for (size_t i = 0; i < picture->layout.size; i++)
        write_box(picture, &picture->layout.boxes[i]);
    output_c_string(output, "</svg>\n");
}

static void write_script(const struct svg_picture *picture)
{
    struct output *output = picture->output;
    const struct svg_options *options = picture->options;
    output_format(output,
                  "<script type=\"text/ecmascript\" data-fluid=\"%d\" data-font=\"%g\" data-inverted=\"%d\" "
                  "data-name=\"",
                  options->width == 0, options->font_size * options->font_width, options->inverted);
    xml_text_write(output, text_of(options->name_type));
    output_c_string(output, "\"><![CDATA[\n");
    output_text(output, (struct text_view){svg_script, svg_script_size});
    output_c_string(output, "]]></script>\n");
}

/* ---- sizes ---- */

static double find_largest_change(const struct view *view)
{
    double largest = 0;
    for (size_t i = 1; view->sides == 2 && i < view->size; i++) {
        double change = fabs(view->totals[1][i] - view->totals[0][i]);
        largest = change > largest ? change : largest;
    }
    return largest;
}

static bool lay_out(struct svg_picture *picture, struct error *error)
{
    const struct svg_options *options = picture->options;
    const struct view *view = picture->view;
    picture->width = options->width == 0 ? DEFAULT_WIDTH : (double)options->width;
    picture->frames_width = picture->width - 2 * SIDE_PADDING;
    if (picture->frames_width < 1)
        return error_set(error, ERROR_USAGE, "a width of %g pixels is too small", picture->width);
    double sum = view->totals[view->sides - 1][STACK_ROOT];
    double full = options->total > sum ? options->total : sum;
    struct box_options boxes = {.order = options->order, .both_sides = options->both_sides};
    boxes.least_width = options->least_width_is_share ? options->least_width / 100 * full
                                                      : options->least_width / picture->frames_width * full;
    if (!box_layout_init(&picture->layout, view, &boxes, error))
        return false;
    picture->weight = options->total > picture->layout.width ? options->total : picture->layout.width;
    if (picture->weight <= 0)
        return error_set(error, ERROR_BAD_INPUT, "no samples to draw");
    if (options->total > picture->layout.width && picture->layout.size > 0)
        picture->layout.boxes[0].width = options->total;
    picture->top = options->font_size * (options->subtitle == NULL ? 3 : 5);
    picture->bottom = options->font_size * 2 + 10;
    picture->height =
        picture->top + picture->bottom + (picture->layout.deepest + 1.0) * (double)options->frame_height;
    picture->largest_change = find_largest_change(view);
    return true;
}

bool svg_write(const struct view *view, const struct svg_options *options, struct output *output,
               struct error *error)
{
    struct svg_picture picture = {.view = view, .options = options, .output = output};
    if (!lay_out(&picture, error)) {
        box_layout_release(&picture.layout);
        return false;
    }
    write_head(&picture);
    write_frames(&picture);
    if (!options->without_script)
        write_script(&picture);
    output_c_string(output, "</svg>\n");
    box_layout_release(&picture.layout);
    return true;
}
