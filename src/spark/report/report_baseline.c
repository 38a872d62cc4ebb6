#include "spark/report/report_baseline.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "base/xml_text.h"
#include "spark/report/plain_text.h"

#define TEXT_ROWS 10 /* of each kind */
#define NAME_LETTERS 60
#define REASON_BYTES 120
#define MS_PER_SECOND 1000.0
#define MAX_WHOLE 9007199254740992.0

static const char *const measure_names[RUN_MEASURES] = {"wall_ms", "core_ms", "bytes", "rows"};

static const struct run_item *item_of(const struct baseline *baseline, size_t number)
{
    return &baseline->now.items[number];
}

/* Hostile logs may hold any number. */
static int64_t whole(double value)
{
    return value > MAX_WHOLE ? (int64_t)MAX_WHOLE : value > -MAX_WHOLE ? (int64_t)value : -(int64_t)MAX_WHOLE;
}

/* "query 3", "stage 4.0"; a method's is that of its stage. */
static void name_place(const struct baseline *baseline, const struct run_item *item, char *text, size_t size)
{
    const struct run_item *placed = item->kind == RUN_METHOD ? item_of(baseline, item->parent) : item;
    if (placed->kind == RUN_STAGE)
        snprintf(text, size, "stage %" PRId64 ".%" PRId64, placed->id, placed->attempt);
    else if (placed->kind == RUN_QUERY)
        snprintf(text, size, "query %" PRId64, placed->id);
    else
        snprintf(text, size, "application");
}

/* The change that made it slower or faster: of wall time, else of core time. */
static const struct measure_change *main_change(const struct baseline_row *row, bool *is_core)
{
    enum change_verdict wanted = row->verdict == BASELINE_SLOWER ? CHANGE_MORE : CHANGE_LESS;
    *is_core = row->changes[RUN_WALL].verdict != wanted && row->changes[RUN_CORE].verdict == wanted;
    return &row->changes[*is_core ? RUN_CORE : RUN_WALL];
}

/* "+38 % (412.0 s -> 569.0 s), z 6.1" */
static void describe(const struct baseline_row *row, char *text, size_t size)
{
    bool is_core;
    char before[32], now[32];
    const struct measure_change *change = main_change(row, &is_core);
    if (change->runs == 0) {
        snprintf(text, size, "not known of any earlier run");
        return;
    }
    plain_duration(before, sizeof(before), whole(change->median));
    plain_duration(now, sizeof(now), whole(change->now));
    if (change->median > 0)
        snprintf(text, size, "%+.0f %% (%s -> %s%s), z %.1f", 100 * (change->now / change->median - 1),
                 before, now, is_core ? " of core time" : "", change->z);
    else
        snprintf(text, size, "%s -> %s%s", before, now, is_core ? " of core time" : "");
}

/* ---- text ---- */

static void write_row(const struct baseline *baseline, size_t number, struct output *output)
{
    const struct run_item *item = item_of(baseline, number);
    const struct baseline_row *row = &baseline->rows[number];
    char place[64], change[160], reason[REASON_BYTES];
    name_place(baseline, item, place, sizeof(place));
    describe(row, change, sizeof(change));
    output_format(output, "  %-12s %s %s", place,
                  row->verdict == BASELINE_SAME ? "no clear change:" : baseline_verdict_name(row->verdict),
                  change);
    if (item->kind != RUN_APPLICATION) {
        output_c_string(output, ": ");
        plain_write_safely(output, utf8_prefix(run_summary_text(&baseline->now, item->name), NAME_LETTERS));
    }
    baseline_reason(row, reason, sizeof(reason));
    output_format(output, "%s%s\n", reason[0] == '\0' ? "" : "; ", reason);
}

static void write_changed(const struct baseline *baseline, struct output *output)
{
    size_t of_kind[RUN_KINDS] = {0};
    for (size_t i = 0; i < baseline->order_size; i++) {
        enum run_item_kind kind = item_of(baseline, baseline->order[i])->kind;
        if (++of_kind[kind] <= TEXT_ROWS)
            write_row(baseline, baseline->order[i], output);
    }
    for (size_t kind = 0; kind < RUN_KINDS; kind++)
        if (of_kind[kind] > TEXT_ROWS)
            output_format(output, "  and %zu more of kind %s\n", of_kind[kind] - TEXT_ROWS,
                          baseline_kind_name((enum run_item_kind)kind));
}

static void write_plans(const struct baseline *baseline, struct output *output)
{
    size_t count = 0;
    for (size_t i = baseline->now.first[RUN_QUERY]; i < baseline->now.first[RUN_QUERY + 1]; i++) {
        if (!baseline->rows[i].plan_changed || ++count > TEXT_ROWS)
            continue;
        output_format(output,
                      "  query %" PRId64 "   its plan is that of no earlier run: ", item_of(baseline, i)->id);
        plain_write_safely(
            output, utf8_prefix(run_summary_text(&baseline->now, item_of(baseline, i)->name), NAME_LETTERS));
        output_byte(output, '\n');
    }
    if (count > TEXT_ROWS)
        output_format(output, "  and %zu more queries with another plan\n", count - TEXT_ROWS);
}

void report_baseline_write_text(const struct baseline *baseline, struct output *output)
{
    if (baseline == NULL)
        return;
    output_format(output, "\nCompared with the median of %zu earlier run%s\n", baseline->run_count,
                  baseline->run_count == 1 ? "" : "s");
    if (baseline->rows[0].verdict == BASELINE_SAME)
        write_row(baseline, 0, output);
    write_changed(baseline, output);
    write_plans(baseline, output);
    if (baseline->order_size == 0)
        output_format(
            output,
            "  nothing is %.0f %% slower or faster, and more than the earlier runs differ among each "
            "other\n",
            100 * baseline->share);
}

/* ---- JSON ---- */

static void write_real(struct json_out *out, const char *name, double value)
{
    json_out_key(out, name);
    output_format(out->output, "%.6g", value);
}

static void write_change(struct json_out *out, const char *name, const struct measure_change *change)
{
    static const char *const verdicts[] = {"same", "more", "less", "unknown"};
    if (change->runs == 0)
        return;
    json_out_key(out, name);
    output_byte(out->output, '{');
    out->is_first = true;
    json_out_number(out, "now", whole(change->now));
    json_out_number(out, "median", whole(change->median));
    json_out_number(out, "spread", whole(change->spread));
    write_real(out, "z", change->z);
    json_out_number(out, "runs", (int64_t)change->runs);
    json_out_plain(out, "verdict", verdicts[change->verdict]);
    json_out_end(out);
}

static void write_ids(struct json_out *out, const struct baseline *baseline, const struct run_item *item)
{
    const struct run_item *stage = item->kind == RUN_METHOD ? item_of(baseline, item->parent) : item;
    if (stage->kind == RUN_STAGE) {
        const struct run_item *query = item_of(baseline, stage->parent);
        json_out_number(out, "stage", stage->id);
        json_out_number(out, "attempt", stage->attempt);
        if (query->kind == RUN_QUERY)
            json_out_number(out, "sql", query->id);
    } else if (stage->kind == RUN_QUERY) {
        json_out_number(out, "sql", stage->id);
    }
}

static void write_item(struct json_out *out, const struct baseline *baseline, size_t number, size_t index)
{
    const struct run_item *item = item_of(baseline, number);
    const struct baseline_row *row = &baseline->rows[number];
    char reason[REASON_BYTES];
    json_out_begin(out, index);
    json_out_plain(out, "kind", baseline_kind_name(item->kind));
    write_ids(out, baseline, item);
    json_out_text(out, "name", item->name);
    json_out_plain(out, "verdict", baseline_verdict_name(row->verdict));
    if (item->kind == RUN_QUERY)
        json_out_flag(out, "plan_changed", row->plan_changed);
    json_out_plain(out, "reason", baseline_reason(row, reason, sizeof(reason)));
    json_out_number(out, "runs", (int64_t)row->runs);
    for (size_t i = 0; i < RUN_MEASURES; i++)
        write_change(out, measure_names[i], &row->changes[i]);
    json_out_end(out);
}

static void write_runs(struct json_out *out, const struct baseline *baseline)
{
    json_out_list(out, "runs");
    for (size_t i = 0; i < baseline->run_count; i++) {
        json_out_begin(out, i);
        json_out_text(out, "id", baseline->runs[i].id);
        json_out_text(out, "name", baseline->runs[i].name);
        json_out_moment(out, "start_ms", baseline->runs[i].start_ms);
        json_out_end(out);
    }
    json_out_end_list(out);
}

void report_baseline_write_json(const struct baseline *baseline, struct json_out *outer)
{
    if (baseline == NULL)
        return;
    struct json_out out = {.output = outer->output, .strings = &baseline->now.strings, .is_first = true};
    size_t index = 0;
    json_out_key(outer, "baseline");
    output_byte(out.output, '{');
    write_real(&out, "share", baseline->share);
    write_runs(&out, baseline);
    json_out_list(&out, "items");
    for (size_t i = 0; i < baseline->now.first[RUN_METHOD]; i++)
        write_item(&out, baseline, i, index++);
    for (size_t i = 0; i < baseline->order_size; i++)
        if (item_of(baseline, baseline->order[i])->kind == RUN_METHOD)
            write_item(&out, baseline, baseline->order[i], index++);
    json_out_end_list(&out);
    output_byte(out.output, '}');
}

/* ---- JUnit ---- */

static void write_attribute(struct output *output, const char *name, struct text_view text)
{
    output_format(output, " %s=\"", name);
    xml_text_write(output, text);
    output_byte(output, '"');
}

/* GitLab shows the body of a failure, others its message. */
static void write_case(const struct baseline *baseline, size_t number, struct output *output)
{
    const struct run_item *item = item_of(baseline, number);
    const struct baseline_row *row = &baseline->rows[number];
    double ms = item->values[item->kind == RUN_METHOD ? RUN_CORE : RUN_WALL];
    char place[64], change[160], reason[REASON_BYTES];
    name_place(baseline, item, place, sizeof(place));
    output_c_string(output, "  <testcase classname=\"");
    output_c_string(output, place);
    output_byte(output, '"');
    write_attribute(output, "name", run_summary_text(&baseline->now, item->name));
    output_format(output, " time=\"%.3f\"", ms < 0 ? 0 : ms / MS_PER_SECOND);
    if (row->verdict == BASELINE_NEW) {
        output_c_string(output, "><skipped message=\"no earlier run has it\"/></testcase>\n");
        return;
    }
    if (row->verdict != BASELINE_SLOWER) {
        output_c_string(output, "/>\n");
        return;
    }
    describe(row, change, sizeof(change));
    baseline_reason(row, reason, sizeof(reason));
    output_c_string(output, ">\n    <failure type=\"slower\"");
    write_attribute(output, "message", text_of(change));
    output_byte(output, '>');
    xml_text_write(output, text_of(change));
    output_c_string(output, reason[0] == '\0' ? "" : "; ");
    xml_text_write(output, text_of(reason));
    output_c_string(output, "</failure>\n  </testcase>\n");
}

static bool is_case(const struct baseline *baseline, size_t number)
{
    return item_of(baseline, number)->kind != RUN_METHOD || baseline->rows[number].verdict == BASELINE_SLOWER;
}

void report_baseline_write_junit(const struct baseline *baseline, struct output *output)
{
    size_t cases = 0, failures = 0, skipped = 0;
    for (size_t i = 0; i < baseline->now.size; i++) {
        cases += is_case(baseline, i);
        failures += baseline->rows[i].verdict == BASELINE_SLOWER;
        skipped += is_case(baseline, i) && baseline->rows[i].verdict == BASELINE_NEW;
    }
    double ms = item_of(baseline, 0)->values[RUN_WALL];
    output_c_string(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite");
    write_attribute(output, "name", run_summary_text(&baseline->now, baseline->now.name));
    output_format(output, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n",
                  cases, failures, skipped, ms < 0 ? 0 : ms / MS_PER_SECOND);
    for (size_t i = 0; i < baseline->now.size; i++)
        if (is_case(baseline, i))
            write_case(baseline, i, output);
    output_c_string(output, "</testsuite>\n</testsuites>\n");
}
