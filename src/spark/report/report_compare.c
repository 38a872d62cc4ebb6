#include "spark/report/report_compare.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "spark/report/plain_text.h"

#define NAME_LETTERS 48

bool report_compare(struct report *report, const struct report *against, struct error *error)
{
    report->against = against;
    return stage_comparison_init(&report->comparison, against->application, report->application, error);
}

/* ---- text ---- */

static int64_t took_ms(const struct stage *stage)
{
    return span_ms(stage->submitted_ms, stage->completed_ms);
}

/* "12.3 s -> 4.5 s"; "-" where there is nothing to compare with. */
static void write_durations(struct output *output, int64_t before, int64_t after)
{
    char texts[2][32];
    output_format(output, " %9s -> %-9s", plain_duration(texts[0], sizeof(texts[0]), before),
                  plain_duration(texts[1], sizeof(texts[1]), after));
}

static void write_sizes(struct output *output, int64_t before, int64_t after)
{
    char texts[2][32];
    output_format(output, " %9s -> %-9s", plain_bytes(texts[0], sizeof(texts[0]), before),
                  plain_bytes(texts[1], sizeof(texts[1]), after));
}

static void write_change(struct output *output, int64_t before, int64_t after)
{
    char text[32] = "-";
    if (before != NO_MS && after != NO_MS && before > 0)
        snprintf(text, sizeof(text), "%+.0f %%", 100.0 * ((double)after - (double)before) / (double)before);
    output_format(output, " %8s", text);
}

static const struct stage *stage_of(const struct report *report, uint32_t number)
{
    return number == NO_STAGE ? NULL : &report->application->stages[number];
}

static void write_pair(const struct report *before, const struct report *after, const struct stage_pair *pair,
                       struct output *output)
{
    static const struct stage none = {.submitted_ms = NO_MS, .completed_ms = NO_MS};
    const struct stage *sides[2] = {stage_of(before, pair->before), stage_of(after, pair->after)};
    char ids[2][48] = {"-", "-"};
    for (size_t i = 0; i < 2; i++)
        if (sides[i] != NULL)
            snprintf(ids[i], sizeof(ids[i]), "%" PRId64 ".%" PRId64, sides[i]->id, sides[i]->attempt);
    const struct stage *was = sides[0] != NULL ? sides[0] : &none, *is = sides[1] != NULL ? sides[1] : &none;
    output_format(output, "  %7s -> %-7s", ids[0], ids[1]);
    write_durations(output, took_ms(was), took_ms(is));
    write_change(output, took_ms(was), took_ms(is));
    write_durations(output, was->totals.cpu_ns / 1000000, is->totals.cpu_ns / 1000000);
    write_durations(output, was->totals.gc_ms, is->totals.gc_ms);
    write_sizes(output, was->totals.disk_spilled_bytes, is->totals.disk_spilled_bytes);
    const struct report *named = sides[1] != NULL ? after : before;
    output_c_string(output, " ");
    plain_write_safely(
        output,
        utf8_prefix(application_text(named->application, (sides[1] != NULL ? is : was)->name), NAME_LETTERS));
    output_byte(output, '\n');
}

void report_compare_write_text(const struct report *report, struct output *output)
{
    const struct report *before = report->against, *after = report;
    const struct stage_comparison *comparison = &report->comparison;
    if (before == NULL)
        return;
    const struct application *was = before->application, *is = after->application;
    output_c_string(output, "\nCompared with ");
    plain_write_safely(output, application_text(was, was->name));
    output_c_string(output, " (");
    plain_write_safely(output, application_text(was, was->id));
    output_c_string(output, ")\n  the whole took");
    write_durations(output, span_ms(was->start_ms, was->end_ms), span_ms(is->start_ms, is->end_ms));
    write_change(output, span_ms(was->start_ms, was->end_ms), span_ms(is->start_ms, is->end_ms));
    output_format(output, "\n  %-18s %-22s %8s %-22s %-22s %-22s %s\n", "stage", "       took", "",
                  "        CPU", "         GC", "    spilled", " name");
    for (size_t i = 0; i < comparison->size; i++)
        write_pair(before, after, &comparison->pairs[i], output);
}

/* ---- JSON ---- */

static void write_side(struct json_out *out, const char *name, const struct report *report, uint32_t number)
{
    json_out_key(out, name);
    if (number == NO_STAGE) {
        output_c_string(out->output, "null");
        return;
    }
    const struct stage *stage = &report->application->stages[number];
    const struct stage_row *row = &report->statistics.rows[number];
    output_byte(out->output, '{');
    out->is_first = true;
    json_out_moment(out, "took_ms", took_ms(stage));
    json_out_number(out, "tasks", stage->task_count);
    json_out_number(out, "failed", stage->failed);
    json_out_number(out, "task_median_ms", row->median_ms);
    json_out_number(out, "task_max_ms", row->most_ms);
#define TASK_METRIC(field, key) json_out_number(out, #field, stage->totals.field);
#include "spark/task_metrics.def"
    output_byte(out->output, '}');
    out->is_first = false;
}

static void write_id(struct json_out *out, const char *id_name, const char *attempt_name,
                     const struct stage *stage)
{
    json_out_moment(out, id_name, stage == NULL ? NO_MS : stage->id);
    json_out_moment(out, attempt_name, stage == NULL ? NO_MS : stage->attempt);
}

void report_compare_write_json(const struct report *report, struct json_out *out)
{
    const struct report *before = report->against, *after = report;
    const struct stage_comparison *comparison = &report->comparison;
    if (before == NULL)
        return;
    const struct application *was = before->application;
    struct json_out other = {.output = out->output, .strings = &was->strings, .is_first = true};
    json_out_key(out, "against");
    output_byte(out->output, '{');
    json_out_text(&other, "id", was->id);
    json_out_text(&other, "name", was->name);
    json_out_moment(&other, "start_ms", was->start_ms);
    json_out_moment(&other, "end_ms", was->end_ms);
    output_byte(out->output, '}');
    json_out_list(out, "comparison");
    for (size_t i = 0; i < comparison->size; i++) {
        const struct stage_pair *pair = &comparison->pairs[i];
        const struct stage *stages[2] = {stage_of(before, pair->before), stage_of(after, pair->after)};
        json_out_begin(out, i);
        write_id(out, "stage", "attempt", stages[1]);
        write_id(out, "against_stage", "against_attempt", stages[0]);
        other.is_first = false;
        json_out_text(stages[1] != NULL ? out : &other, "name",
                      stages[1] != NULL ? stages[1]->name : stages[0]->name);
        write_side(out, "before", before, pair->before);
        write_side(out, "after", after, pair->after);
        json_out_end(out);
    }
    json_out_end_list(out);
}
