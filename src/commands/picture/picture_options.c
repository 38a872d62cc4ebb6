/*
 * picture_options.c - the option tables of pictures: flamegraph.pl's names where it has them.
 */
#include <stddef.h>

#include "commands/picture/picture_options.h"
#include "render/palette.h"

#define AT(field) offsetof(struct picture_options, field)

const struct option picture_file_options[] = {
    {"output", 'o', OPTION_TEXT, AT(output), "FILE",
     "Write to FILE; the extension selects the format, .gz after it compresses (default: standard output)"},
    {"format", 'f', OPTION_TEXT, AT(format), "NAME", "", .make_help = picture_format_help},
    {NULL, 0, 0, 0, NULL, NULL},
};

const struct option picture_table_options[] = {
    {"table", 0, OPTION_TEXT, AT(table), "NAME",
     "parquet: only this table, as a file: samples, stack_frames, frames, method_costs, applications or "
     "events"},
    {NULL, 0, 0, 0, NULL, NULL},
};

const struct option picture_look_options[] = {
    {"title", 0, OPTION_TEXT, AT(title), "TEXT", "Title of the picture"},
    {"subtitle", 0, OPTION_TEXT, AT(subtitle), "TEXT", "Second line"},
    {"notes", 0, OPTION_TEXT, AT(notes), "TEXT", "Longer text stored in the picture"},
    {"inverted", 'i', OPTION_FLAG, AT(inverted), NULL, "Root on top (icicle graph)"},
    {"flamechart", 0, OPTION_FLAG, AT(chart), NULL, "Flame chart: frames in order of time, not merged"},
    {"order", 0, OPTION_CHOICE, AT(order), "name|width", "Order of sibling boxes", "name width"},
    {"colors", 0, OPTION_CHOICE, AT(colors), "NAME",
     "SVG: hot, mem, io, wakeup, chain, java, js, perl, python, rust, red, green, blue, aqua, yellow, "
     "purple, "
     "orange, kind",
     PALETTE_NAMES},
    {"color", 0, OPTION_CHOICE, AT(colors), "NAME", NULL, PALETTE_NAMES},
    {"bgcolors", 0, OPTION_TEXT, AT(background), "NAME", "SVG: yellow, blue, green, grey or #rrggbb"},
    {"hash", 0, OPTION_FLAG, AT(hash), NULL, "SVG: colours by name (always on; accepted for compatibility)"},
    {"random", 0, OPTION_FLAG, AT(random), NULL, "SVG: random colours"},
    {"cp", 0, OPTION_FLAG, AT(keeps_palette), NULL,
     "SVG: read colours from palette.map, and add the colours of new functions to it"},
    {"nameattr", 0, OPTION_TEXT, AT(name_attributes), "FILE",
     "SVG: id, class, title, href, target, g_extra, a_extra of functions; lines of FUNCTION, tab, KEY=VALUE, "
     "tab, ..."},
    {"negate", 0, OPTION_FLAG, AT(negate), NULL, "SVG: swap red and blue of a difference"},
    {"width", 0, OPTION_COUNT, AT(width), "PIXELS", "SVG: fixed width (default: as wide as the window)"},
    {"height", 0, OPTION_COUNT, AT(height), "PIXELS", "SVG: height of a box (default: 16)"},
    {"minwidth", 0, OPTION_TEXT, AT(least_width), "WIDTH",
     "SVG: leave out narrower boxes: pixels, or percent as in 0.1% (default: 0.01%)"},
    {"fonttype", 0, OPTION_TEXT, AT(font_type), "FONT", "SVG: font family"},
    {"fontsize", 0, OPTION_NUMBER, AT(font_size), "PIXELS", "SVG: font size (default: 12)"},
    {"fontwidth", 0, OPTION_NUMBER, AT(font_width), "SHARE",
     "SVG: average character width as a fraction of the font size (default: 0.59)"},
    {"countname", 0, OPTION_TEXT, AT(count_name), "TEXT",
     "SVG: what is counted (default: samples, bytes or ns)"},
    {"nametype", 0, OPTION_TEXT, AT(name_type), "TEXT", "SVG: label of a box's name (default: Function:)"},
    {"total", 0, OPTION_NUMBER, AT(total), "NUMBER",
     "SVG: total that the full width represents, if larger than the sum"},
    {"factor", 0, OPTION_NUMBER, AT(factor), "NUMBER", "SVG: multiply shown counts"},
    {"encoding", 0, OPTION_TEXT, AT(encoding), "NAME", "SVG: only utf-8 is supported"},
    {"no-script", 0, OPTION_FLAG, AT(without_script), NULL, "SVG: omit the script"},
    {"view", 0, OPTION_TEXT, AT(view), "STATE", "HTML: initial state of the page, as after # in its address"},
    {NULL, 0, 0, 0, NULL, NULL},
};

void picture_options_init(struct picture_options *options)
{
    *options = (struct picture_options){.font_size = 12, .font_width = 0.59, .height = 16, .factor = 1};
}
