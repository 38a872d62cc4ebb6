#include "commands/picture/picture_output.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "commands/picture/picture_names.h"
#include "commands/picture/picture_tables.h"
#include "model/chart.h"
#include "model/view.h"
#include "render/page_writer.h"

/* ---- what to write ---- */

static bool by_name(struct picture_target *target, const char *name)
{
    target->writer = NULL;
    target->kind = PICTURE_FILE;
    if (strcmp(name, "svg") == 0)
        target->kind = PICTURE_SVG;
    else if (strcmp(name, "html") == 0)
        target->kind = PICTURE_HTML;
    else
        target->writer = writer_by_name(text_of(name));
    return target->kind != PICTURE_FILE || target->writer != NULL;
}

static bool by_path(struct picture_target *target, const char *path)
{
    struct text_view text = text_of(path);
    if (text_ends_with(text, TEXT(".gz")))
        text.size -= 3;
    if (text_ends_with(text, TEXT(".svg")))
        return by_name(target, "svg");
    if (text_ends_with(text, TEXT(".html")) || text_ends_with(text, TEXT(".htm")))
        return by_name(target, "html");
    target->kind = PICTURE_FILE;
    target->writer = writer_by_path(path);
    return target->writer != NULL;
}

static void list_formats(char *names, size_t size, const char *before_last)
{
    size_t used = (size_t)snprintf(names, size, "svg, html");
    for (size_t i = 0; writers[i] != NULL && used < size; i++)
        used += (size_t)snprintf(names + used, size - used, "%s%s",
                                 writers[i + 1] == NULL ? before_last : ", ", writers[i]->name);
}

const char *picture_format_help(void)
{
    static char names[300];
    list_formats(names, sizeof(names), " or ");
    return names;
}

bool picture_target_choose(struct picture_target *target, const struct command *command,
                           const struct picture_options *options, const char *fallback)
{
    char names[300];
    list_formats(names, sizeof(names), ", ");
    *target = (struct picture_target){.path = options->output == NULL ? "-" : options->output};
    if (options->format != NULL) {
        if (by_name(target, options->format))
            return true;
        command_usage_error(command, "--format: no format \"%s\"; there are: %s", options->format, names);
        return false;
    }
    if (strcmp(target->path, "-") != 0) {
        if (by_path(target, target->path) || strncmp(target->path, "/dev/", 5) == 0)
            return target->writer != NULL || target->kind != PICTURE_FILE || by_name(target, fallback);
        command_usage_error(command, "%s: unknown file extension; choose a format with --format: %s",
                            target->path, names);
        return false;
    }
    bool known = by_name(target, fallback);
    if (!isatty(STDOUT_FILENO) || (target->writer != NULL && target->writer->is_text))
        return known;
    command_usage_error(command, "no output file; use -o FILE.html, -o FILE.svg or -o -");
    return false;
}

int picture_target_prepare(struct picture_target *target, const struct command *command,
                           const struct picture_options *options, const char *fallback)
{
    struct error error = {0};
    if (!picture_target_choose(target, command, options, fallback))
        return EXIT_USAGE;
    if (picture_tables_prepare(target->writer, target->path, options->table, &error))
        return EXIT_GOOD;
    command_complain(command, "%s", error.message);
    return error.code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

struct profile_needs picture_needs(const struct picture_target *target, const struct picture_options *options)
{
    struct profile_needs needs = {.kinds = true, .one_event = true};
    if (target->kind == PICTURE_HTML)
        needs = (struct profile_needs){.times = true, .contexts = true, .lines = true, .kinds = true};
    if (target->kind == PICTURE_SVG)
        needs.times = options->chart;
    if (target->kind == PICTURE_FILE) {
        const struct writer *writer = target->writer;
        needs = (struct profile_needs){.times = writer->holds_times,
                                       .contexts = writer->holds_labels,
                                       .lines = writer->holds_lines,
                                       .kinds = writer->holds_kinds,
                                       .one_event = writer->one_event};
    }
    needs.order = options->chart;
    return needs;
}

/* ---- pictures ---- */

static bool set_least_width(struct svg_options *svg, const char *text, struct error *error)
{
    if (text == NULL)
        return true;
    struct text_view number = text_of(text);
    svg->least_width_is_share = text_ends_with(number, TEXT("%"));
    if (svg->least_width_is_share)
        number.size--;
    if (text_to_double(number, &svg->least_width) && svg->least_width >= 0)
        return true;
    return error_set(error, ERROR_USAGE,
                     "--minwidth: \"%s\" is not a width: use pixels (0.1) or percent (0.1%%)", text);
}

static bool is_background(const char *name)
{
    static const char *const known[] = {"yellow", "blue", "green", "grey"};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    size_t digits = strspn(name + (name[0] == '#'), "0123456789abcdefABCDEF");
    return name[0] == '#' && name[digits + 1] == '\0' && (digits == 3 || digits == 6);
}

static bool check_look(const struct picture_options *options, struct error *error)
{
    if (options->background != NULL && !is_background(options->background))
        return error_set(error, ERROR_USAGE,
                         "--bgcolors: \"%s\" is not one of yellow, blue, green, grey, #rrggbb",
                         options->background);
    if (options->encoding != NULL && strcasecmp(options->encoding, "utf-8") != 0)
        return error_set(error, ERROR_USAGE, "--encoding: pictures are written in utf-8, not in %s",
                         options->encoding);
    if (!(options->font_size > 0 && options->font_size < 1000 && options->font_width > 0 &&
          options->font_width < 10))
        return error_set(error, ERROR_USAGE, "the font size or width is out of range");
    if (options->height < 2 || options->height > 1000 || options->width > 100000)
        return error_set(error, ERROR_USAGE, "the width or height is out of range");
    if (!(options->factor > 0) || options->total < 0)
        return error_set(error, ERROR_USAGE, "--factor must be above 0, --total not below");
    return true;
}

static bool make_svg_options(struct svg_options *svg, const struct picture_options *options, const char *unit,
                             struct error *error)
{
    svg_options_init(svg);
    if (!check_look(options, error))
        return false;
    svg->title = options->title;
    svg->subtitle = options->subtitle;
    svg->notes = options->notes;
    svg->count_name = options->count_name != NULL ? options->count_name : unit;
    if (options->name_type != NULL)
        svg->name_type = options->name_type;
    if (options->font_type != NULL)
        svg->font_type = options->font_type;
    svg->font_size = options->font_size;
    svg->font_width = options->font_width;
    svg->width = options->width;
    svg->frame_height = options->height;
    svg->factor = options->factor;
    svg->total = options->total;
    svg->palette = options->colors;
    svg->color_seed = options->random ? picture_names_seed() : 0;
    svg->background = options->background;
    svg->order = options->chart ? ORDER_NODE : (enum box_order)options->order;
    svg->inverted = options->inverted;
    svg->chart = options->chart;
    svg->negate = options->negate;
    svg->without_script = options->without_script;
    return set_least_width(svg, options->least_width, error);
}

static struct view_options make_view_options(const struct profile_input *input, bool keep_kinds_apart)
{
    return (struct view_options){
        .names = input->names, .weight = input->weight, .sides = 1, .keep_kinds_apart = keep_kinds_apart};
}

/* "Difference: before → after", by the last parts of their paths. */
static void name_difference(char *title, size_t size, const char *const names[2])
{
    const char *parts[2];
    for (size_t side = 0; side < 2; side++) {
        const char *slash = strrchr(names[side], '/');
        parts[side] = slash == NULL ? names[side] : slash + 1;
    }
    bool same = strcmp(parts[0], parts[1]) == 0;
    snprintf(title, size, "Difference: %s → %s", same ? names[0] : parts[0], same ? names[1] : parts[1]);
}

/* Attributes and colours are the user's files: read before, and written back after. */
static bool write_view(const struct view *view, struct svg_options *svg,
                       const struct picture_options *options, struct output *output, struct error *error)
{
    struct svg_names names;
    if (!picture_names_read(&names, options, error))
        return false;
    svg->names = &names;
    svg->keep_colors = options->keeps_palette;
    bool good = svg_write(view, svg, output, error) && picture_names_write(&names, options, error);
    svg_names_release(&names);
    return good;
}

static bool write_svg(const struct picture_options *options, struct profile_input *input,
                      const char *const names[2], struct output *output, struct error *error)
{
    struct svg_options svg;
    struct view view;
    char title[600], events[600];
    struct profile chart = {.samples = NULL};
    const struct profile *profile = &input->profile;
    struct view_options view_options = make_view_options(input, true);
    if (profile_input_is_difference(input, view_options.events))
        view_options.sides = 2;
    else
        view_options.events[0] = profile_input_main_event(input);
    if (!make_svg_options(&svg, options, profile_input_unit(input, view_options.events[0]), error))
        return false;
    if (view_options.sides == 1 && svg.subtitle == NULL && input->other_events[0] != '\0') {
        snprintf(events, sizeof(events), "Event: %.*s (also recorded: %s)",
                 TEXT_FORMAT(profile_text(profile, profile->events[view_options.events[0]].name)),
                 input->other_events);
        svg.subtitle = events;
    }
    svg.both_sides = names != NULL;
    if (svg.title == NULL && names != NULL) {
        name_difference(title, sizeof(title), names);
        svg.title = title;
    }
    if (options->chart) {
        if (!chart_make(&input->profile, view_options.events[0], &chart, error)) {
            profile_release(&chart);
            return false;
        }
        profile = &chart;
    }
    bool good = view_init(&view, profile, &view_options, error);
    if (good) {
        good = write_view(&view, &svg, options, output, error);
        view_release(&view);
    }
    profile_release(&chart);
    return good;
}

static bool write_html(const struct picture_options *options, struct profile_input *input,
                       struct profile_input *before, const char *const names[2], struct output *output,
                       struct error *error)
{
    char view[4000];
    int size = snprintf(view, sizeof(view), "%s%s%s%s", options->inverted ? "icicle=1&" : "",
                        options->order == 1 ? "order=width&" : "", options->chart ? "tab=chart&" : "",
                        options->view == NULL ? "" : options->view);
    if ((size_t)size >= sizeof(view))
        return error_set(error, ERROR_USAGE, "--view is longer than %zu bytes", sizeof(view) - 40);
    struct page_input page = {
        .profile = &input->profile,
        .before = before == NULL ? NULL : &before->profile,
        .title = options->title,
        .subtitle = options->subtitle,
        .notes = options->notes,
        .hosts = options->hosts,
        .before_name = names == NULL ? NULL : names[0],
        .profile_name = names == NULL ? NULL : names[1],
        .names = input->names,
        .weight = input->weight,
        .view = view,
        .fine_times = options->chart,
        .times_are_places = options->chart && chart_set_places(&input->profile),
    };
    return page_write(&page, output, error);
}

/* All tables of a format that has some. */
static bool wants_folder(const struct picture_target *target, const struct picture_options *options)
{
    return target->writer != NULL && target->writer->tables != NULL && options->table == NULL;
}

/* Of Python, whose names say little without it: "<module>". Other names stay as they are without a look at each. */
static bool has_python_files(const struct profile *profile)
{
    for (size_t i = 0; i < profile->frames.size; i++)
        if (frame_is_of_python_file(profile, &profile->frames.frames[i]))
            return true;
    return false;
}

static bool write_any(const struct picture_target *target, const struct picture_options *options,
                      struct profile_input *input, struct profile_input *before, const char *const names[2],
                      struct output *output, struct error *error)
{
    if (target->kind == PICTURE_SVG)
        return write_svg(options, input, names, output, error);
    if (target->kind == PICTURE_HTML)
        return write_html(options, input, before, names, output, error);
    struct write_options write = {.names = input->names,
                                  .weight = input->weight,
                                  .table = options->table,
                                  .max_nodes = options->max_nodes};
    uint32_t sides[2];
    /* Formats with lines have a place for the file, too. */
    write.names.files =
        !target->writer->holds_lines && !input->options->bare_names && has_python_files(&input->profile);
    if (target->writer->tables != NULL &&
        !picture_tables_order(&input->profile, input->options->resolution, error))
        return false;
    if (wants_folder(target, options))
        return picture_tables_write(target->writer, target->path, &input->profile, &write, error);
    if (picture_needs(target, options).one_event && !profile_input_is_difference(input, sides))
        write.event = profile_input_main_event(input);
    return target->writer->write(&input->profile, &write, output, error);
}

bool picture_open(const struct picture_target *target, struct packed_output *packed, struct error *error)
{
    return packed_output_open(packed, target->path, target->writer != NULL && target->writer->is_packed,
                              error);
}

int picture_write(const struct picture_target *target, const struct picture_options *options,
                  struct profile_input *input, struct profile_input *before, const char *const names[2])
{
    struct error error = {0};
    struct packed_output packed;
    bool is_folder = wants_folder(target, options);
    bool good = is_folder ? write_any(target, options, input, before, names, NULL, &error)
                          : picture_open(target, &packed, &error);
    if (good && !is_folder) {
        good = write_any(target, options, input, before, names, &packed.output, &error);
        if (good)
            good = packed_output_finish(&packed, &error);
        else
            packed_output_release(&packed);
    }
    if (!good) {
        command_complain(input->command, "%s", error.message);
        return error.code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    }
    return input->incomplete || (before != NULL && before->incomplete) ? EXIT_FAILED : EXIT_GOOD;
}
