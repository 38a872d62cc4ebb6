#include "jvm_agent/output/profile_text.h"

#include <stdlib.h>
#include <string.h>

#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/output/frame_text.h"
#include "jvm_agent/output/profile_page.h"
#include "jvm_agent/output/profile_pprof.h"
#include "jvm_agent/output/profile_svg.h"
#include "jvm_agent/output/stack_lines.h"

#define TREE_FRAME_BYTES 24 /* boxes of a flame graph, many of which are shared by stacks */

struct ranked {
    uint64_t samples;
    uint64_t value;
    uint32_t index;
};

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static int by_value(const void *left, const void *right)
{
    const struct ranked *first = left, *second = right;
    if (first->value != second->value)
        return first->value < second->value ? 1 : -1;
    return (first->index > second->index) - (first->index < second->index);
}

static void write_folded(const struct stack_lines *lines, bool total, struct output *output)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct stack_line *line = &lines->lines[i];
        for (uint32_t j = 0; j < line->depth; j++) {
            if (j > 0)
                output_byte(output, ';');
            output_text(output, string_table_text(&lines->texts, line->frames[j]));
        }
        output_byte(output, ' ');
        output_u64(output, total ? line->value : line->samples);
        output_byte(output, '\n');
    }
}

struct folded_parts {
    const struct profile_view *view;
    struct output *output;
};

static bool write_folded_part(struct recording_tables *tables, const struct spilled_threads *threads,
                              void *context, struct error *error)
{
    const struct folded_parts *parts = context;
    struct stack_lines lines;
    if (!stack_lines_build_part(&lines, parts->view, tables, threads, error))
        return false;
    write_folded(&lines, parts->view->arguments->total, parts->output);
    stack_lines_release(&lines);
    return true;
}

/* Readers sum equal lines, so each generation of tables is written separately and in full. */
static bool write_folded_parts(const struct profile_view *view, struct output *output, struct error *error)
{
    struct folded_parts parts = {view, output};
    if (!spilled_tables_each(view->spilled, write_folded_part, &parts, error) ||
        !write_folded_part(view->tables, NULL, &parts, error))
        return false;
    const struct lost_samples *lost = &view->spilled->lost[view->kind];
    if (lost->samples > 0)
        output_format(output, "[dropped] %llu\n",
                      (unsigned long long)(view->arguments->total ? lost->value : lost->samples));
    return true;
}

static void write_summary(const struct profile_view *view, const struct stack_lines *lines,
                          struct output *output)
{
    output_format(output, "--- Execution profile ---\nTotal samples       : %llu\n",
                  (unsigned long long)lines->samples);
    for (uint32_t i = 0; i < FRAME_ERRORS; i++) {
        uint64_t failed = atomic_load(&sampler.failed[i]);
        if (failed > 0)
            output_format(output, "%-20s: %llu (%.2f%%)\n", frame_error_text(i), (unsigned long long)failed,
                          percent(failed, lines->samples));
    }
    output_byte(output, '\n');
}

static void write_traces(const struct profile_view *view, const struct stack_lines *lines,
                         struct output *output)
{
    struct ranked *order = calloc(lines->count + 1, sizeof(*order));
    for (size_t i = 0; order != NULL && i < lines->count; i++)
        order[i] = (struct ranked){lines->lines[i].samples, lines->lines[i].value, (uint32_t)i};
    if (order == NULL)
        return;
    qsort(order, lines->count, sizeof(*order), by_value);
    for (size_t i = 0; i < lines->count && i < (size_t)view->arguments->traces; i++) {
        const struct stack_line *line = &lines->lines[order[i].index];
        output_format(output, "--- %llu %s (%.2f%%), %llu sample%s\n", (unsigned long long)line->value,
                      view->unit, percent(line->value, lines->value), (unsigned long long)line->samples,
                      line->samples == 1 ? "" : "s");
        for (uint32_t j = 0; j < line->depth; j++) {
            output_format(output, "  [%2u] ", j);
            output_text(output, string_table_text(&lines->texts, line->frames[line->depth - 1 - j]));
            output_byte(output, '\n');
        }
        output_byte(output, '\n');
    }
    free(order);
}

static void write_flat(const struct profile_view *view, const struct stack_lines *lines,
                       struct output *output)
{
    struct ranked *leaves = calloc(lines->texts.size + 1, sizeof(*leaves));
    if (leaves == NULL)
        return;
    for (size_t i = 0; i < lines->texts.size; i++)
        leaves[i].index = (uint32_t)i;
    for (size_t i = 0; i < lines->count; i++)
        if (lines->lines[i].depth > 0) {
            struct ranked *leaf = &leaves[lines->lines[i].frames[lines->lines[i].depth - 1]];
            leaf->samples += lines->lines[i].samples;
            leaf->value += lines->lines[i].value;
        }
    qsort(leaves, lines->texts.size, sizeof(*leaves), by_value);
    output_format(output, "%12s  percent  samples  top\n  ----------  -------  -------  ---\n", view->unit);
    for (size_t i = 0; i < lines->texts.size && i < (size_t)view->arguments->flat && leaves[i].samples > 0;
         i++) {
        output_format(output, "%12llu  %6.2f%%  %7llu  ", (unsigned long long)leaves[i].value,
                      percent(leaves[i].value, lines->value), (unsigned long long)leaves[i].samples);
        output_text(output, string_table_text(&lines->texts, leaves[i].index));
        output_byte(output, '\n');
    }
    free(leaves);
}

static const struct stack_lines *sorted_lines; /* for the comparison below, one output at a time */

static int by_path(const void *left, const void *right)
{
    const struct stack_line *first = left, *second = right;
    uint32_t common = first->depth < second->depth ? first->depth : second->depth;
    for (uint32_t i = 0; i < common; i++)
        if (first->frames[i] != second->frames[i])
            return text_compare(string_table_text(&sorted_lines->texts, first->frames[i]),
                                string_table_text(&sorted_lines->texts, second->frames[i]));
    return (first->depth > second->depth) - (first->depth < second->depth);
}

/* Lines [begin, end) share their first `depth` frames. */
static void write_branch(const struct stack_lines *lines, size_t begin, size_t end, uint32_t depth,
                         struct output *output)
{
    while (begin < end && lines->lines[begin].depth <= depth)
        begin++;
    while (begin < end) {
        uint32_t frame = lines->lines[begin].frames[depth];
        size_t next = begin;
        uint64_t samples = 0, value = 0;
        for (; next < end && lines->lines[next].frames[depth] == frame; next++) {
            samples += lines->lines[next].samples;
            value += lines->lines[next].value;
        }
        output_format(output, "%*s[%u] %.2f%% %llu ", (int)depth, "", depth, percent(value, lines->value),
                      (unsigned long long)samples);
        output_text(output, string_table_text(&lines->texts, frame));
        output_byte(output, '\n');
        if (depth < SAMPLER_DEPTH_LIMIT)
            write_branch(lines, begin, next, depth + 1, output);
        begin = next;
    }
}

static void write_tree(struct stack_lines *lines, struct output *output)
{
    sorted_lines = lines;
    qsort(lines->lines, lines->count, sizeof(*lines->lines), by_path);
    write_branch(lines, 0, lines->count, 0, output);
}

static void write_text(const struct profile_view *view, const struct stack_lines *lines,
                       struct output *output)
{
    const struct arguments *arguments = view->arguments;
    struct arguments shown = *arguments;
    if (arguments->traces < 0 && arguments->flat < 0) {
        shown.traces = 100;
        shown.flat = 200;
    }
    struct profile_view full = *view;
    full.arguments = &shown;
    write_summary(view, lines, output);
    if (shown.traces > 0)
        write_traces(&full, lines, output);
    if (shown.flat > 0)
        write_flat(&full, lines, output);
}

bool profile_text_can_write(enum output_format format, struct error *error)
{
    return format == FORMAT_FOLDED || format == FORMAT_TEXT || format == FORMAT_TREE ||
           format == FORMAT_FLAMEGRAPH || format == FORMAT_SVG || format == FORMAT_PPROF ||
           error_set(error, ERROR_UNSUPPORTED,
                     "the agent cannot write this format: record JFR and convert it");
}

bool profile_text_write(const struct profile_view *view, enum output_format format, struct output *output,
                        struct error *error)
{
    struct stack_lines lines;
    if (!profile_text_can_write(format, error))
        return false;
    struct arguments shown = *view->arguments;
    struct profile_view annotated = *view;
    shown.annotate |= format == FORMAT_FLAMEGRAPH || format == FORMAT_SVG; /* frame kinds select colors */
    annotated.arguments = &shown;
    if (format == FORMAT_FOLDED && view->spilled != NULL && view->spilled->count > 0)
        return write_folded_parts(view, output, error);
    bool is_tree = format == FORMAT_FLAMEGRAPH || format == FORMAT_SVG || format == FORMAT_PPROF;
    if (!stack_lines_build(&lines, &annotated, is_tree ? TREE_FRAME_BYTES : 0, error))
        return false;
    bool written = true;
    if (format == FORMAT_FLAMEGRAPH)
        written = profile_page_write(view, &lines, output, error);
    else if (format == FORMAT_SVG)
        written = profile_svg_write(view, &lines, output, error);
    else if (format == FORMAT_PPROF)
        written = profile_pprof_write(view, &lines, output, error);
    else if (format == FORMAT_FOLDED)
        write_folded(&lines, view->arguments->total, output);
    else if (format == FORMAT_TREE)
        write_tree(&lines, output);
    else
        write_text(view, &lines, output);
    stack_lines_release(&lines);
    return written;
}
