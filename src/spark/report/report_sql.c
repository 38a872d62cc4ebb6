#include "spark/report/report_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/lower_bound.h"
#include "base/utf8.h"
#include "spark/report/plain_text.h"

#define TEXT_QUERIES 5
#define TEXT_NODES 40
#define NAME_LETTERS 60

/* Spark's names of units, and ours. */
enum counter_unit { COUNTER_COUNT, COUNTER_BYTES, COUNTER_MS, COUNTER_NS, COUNTER_TENTHS, COUNTER_NOTHING };

static const char *const unit_names[] = {"count", "bytes", "ms", "ns", "average"};

static enum counter_unit unit_of(struct text_view name)
{
    static const struct {
        struct text_view name;
        enum counter_unit unit;
    } units[] = {
        {{"sum", 3}, COUNTER_COUNT},   {{"size", 4}, COUNTER_BYTES},     {{"timing", 6}, COUNTER_MS},
        {{"nsTiming", 8}, COUNTER_NS}, {{"average", 7}, COUNTER_TENTHS},
    };
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (text_equal(name, units[i].name))
            return units[i].unit;
    return COUNTER_NOTHING;
}

/* A counter that came to something. */
struct counted {
    struct text_view name;
    enum counter_unit unit;
    bool has_total; /* sums of averages mean nothing */
    int64_t total;
    const struct counter_spread *spread; /* NULL: no task told its part */
};

static bool count_of(const struct application *application, const struct plan_counter *counter,
                     struct counted *counted)
{
    const struct sql_plans *plans = &application->plans;
    *counted = (struct counted){
        .name = application_text(application, counter->name),
        .unit = unit_of(application_text(application, counter->unit)),
        .spread = sql_plans_spread(plans, counter->id),
    };
    bool has_value = sql_plans_value(plans, counter->id, &counted->total) && counted->total >= 0;
    counted->has_total = has_value && counted->unit != COUNTER_TENTHS;
    return counted->unit != COUNTER_NOTHING && (counted->has_total || counted->spread != NULL);
}

/* The next counter of a node from *at on. */
static bool next_counter(const struct application *application, const struct plan_node *node, uint32_t *at,
                         struct counted *counted)
{
    while (*at < node->counter_count)
        if (count_of(application, &application->plans.counters[node->first_counter + (*at)++], counted))
            return true;
    return false;
}

/* ---- JSON ---- */

static void write_amount(struct json_out *out, const char *key, enum counter_unit unit, int64_t value)
{
    json_out_key(out, key);
    if (unit == COUNTER_TENTHS)
        output_format(out->output, "%" PRId64 ".%" PRId64, value / 10, value % 10);
    else
        output_i64(out->output, value);
}

static void write_metric(const struct counted *counted, struct json_out *out)
{
    json_out_key(out, "name");
    json_text_write(out->output, counted->name);
    json_out_plain(out, "unit", unit_names[counted->unit]);
    if (counted->has_total)
        json_out_number(out, "value", counted->total);
    else {
        json_out_key(out, "value");
        output_c_string(out->output, "null");
    }
    const struct counter_spread *spread = counted->spread;
    if (spread == NULL)
        return;
    json_out_number(out, "tasks", (int64_t)spread->tasks);
    write_amount(out, "least", counted->unit, spread->least);
    write_amount(out, "median", counted->unit, spread->median);
    write_amount(out, "most", counted->unit, spread->most);
    json_out_number(out, "most_task", spread->most_task);
}

static void write_metrics(const struct application *application, const struct plan_node *node,
                          struct json_out *out)
{
    struct counted counted;
    size_t count = 0;
    json_out_list(out, "metrics");
    for (uint32_t at = 0; next_counter(application, node, &at, &counted); count++) {
        json_out_begin(out, count);
        write_metric(&counted, out);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_query_counters(const struct application *application, int64_t query, struct json_out *out)
{
    const struct sql_plans *plans = &application->plans;
    struct counted counted;
    size_t count = 0;
    json_out_list(out, "subquery_metrics");
    for (size_t i = LOWER_BOUND(plans->query_counters, plans->query_counter_count, query, query);
         i < plans->query_counter_count && plans->query_counters[i].query == query; i++) {
        if (!count_of(application, &plans->query_counters[i].counter, &counted))
            continue;
        json_out_begin(out, count++);
        write_metric(&counted, out);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_stages(const struct report *report, uint32_t node, struct json_out *out)
{
    const struct sql_operators *operators = &report->operators;
    size_t first = sql_operators_stages(operators, node);
    json_out_key(out, "stages");
    output_byte(out->output, '[');
    for (size_t i = first; i < operators->node_stage_count && operators->node_stages[i].node == node; i++) {
        output_c_string(out->output, i == first ? "" : ",");
        output_i64(out->output, report->application->stages[operators->node_stages[i].stage].id);
    }
    output_byte(out->output, ']');
}

static void write_nodes(const struct report *report, const struct sql_execution *sql, struct json_out *out)
{
    const struct sql_plans *plans = &report->application->plans;
    json_out_list(out, "operators");
    for (uint32_t i = 0; i < sql->node_count; i++) {
        const struct plan_node *node = &plans->nodes[sql->first_node + i];
        json_out_begin(out, i);
        json_out_text(out, "name", node->name);
        json_out_text(out, "detail", node->detail);
        json_out_key(out, "parent");
        if (node->parent == NO_NODE)
            output_c_string(out->output, "null");
        else
            output_i64(out->output, (int64_t)node->parent - sql->first_node);
        json_out_key(out, "code");
        sql_operators_write_code(report->application, sql->first_node + i, out->output);
        write_metrics(report->application, node, out);
        write_stages(report, sql->first_node + i, out);
        json_out_end(out);
    }
    json_out_end_list(out);
}

void report_sql_write_json(const struct report *report, struct json_out *out)
{
    const struct application *application = report->application;
    json_out_list(out, "sql");
    for (size_t i = 0; i < application->sql_count; i++) {
        const struct sql_execution *sql = &application->sqls[i];
        json_out_begin(out, i);
        json_out_number(out, "id", sql->id);
        json_out_text(out, "description", sql->description);
        json_out_text(out, "title", sql->title);
        json_out_moment(out, "start_ms", sql->start_ms);
        json_out_moment(out, "end_ms", sql->end_ms);
        json_out_text(out, "error", sql->error);
        json_out_text(out, "plan", sql->plan);
        json_out_number(out, "plan_updates", sql->updates);
        write_nodes(report, sql, out);
        write_query_counters(application, sql->id, out);
        json_out_end(out);
    }
    json_out_end_list(out);
}

/* ---- text ---- */

static int64_t took_ms(const struct sql_execution *sql)
{
    return span_ms(sql->start_ms, sql->end_ms);
}

struct query_place {
    const struct sql_execution *sql;
};

static int compare_durations(const void *left, const void *right)
{
    const struct sql_execution *a = ((const struct query_place *)left)->sql;
    const struct sql_execution *b = ((const struct query_place *)right)->sql;
    if (took_ms(a) != took_ms(b))
        return took_ms(a) > took_ms(b) ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void write_value(struct output *output, enum counter_unit unit, int64_t value)
{
    char text[32];
    if (unit == COUNTER_COUNT)
        output_i64(output, value);
    else if (unit == COUNTER_TENTHS)
        output_format(output, "%.1f", (double)value / 10);
    else if (unit == COUNTER_BYTES)
        output_c_string(output, plain_bytes(text, sizeof(text), value));
    else
        output_c_string(output,
                        plain_duration(text, sizeof(text), unit == COUNTER_NS ? value / 1000000 : value));
}

static double samples_of_query(const struct report *report, const struct sql_execution *sql)
{
    double samples = 0;
    for (size_t i = 0; i < report->operators.size; i++) {
        const struct sql_operators_item *item = &report->operators.items[i];
        for (size_t j = item->first_row; j < item->first_row + item->row_count; j++)
            samples += &report->application->sqls[item->sql] == sql ? report->operators.rows[j].samples : 0;
    }
    return samples;
}

/* "sort time 1.2 s (least 0.1 s, median 0.2 s, most 0.5 s in task 7)" */
static void write_counted(const struct counted *counted, struct output *output)
{
    const struct counter_spread *spread = counted->spread;
    bool is_one = !counted->has_total && spread != NULL && spread->tasks == 1;
    output_c_string(output, ", ");
    plain_write_safely(output, counted->name);
    if (counted->has_total || is_one) {
        output_byte(output, ' ');
        write_value(output, counted->unit, is_one ? spread->most : counted->total);
    }
    if (spread == NULL || spread->tasks < 2 || counted->unit == COUNTER_COUNT)
        return;
    output_c_string(output, " (least ");
    write_value(output, counted->unit, spread->least);
    output_c_string(output, ", median ");
    write_value(output, counted->unit, spread->median);
    output_c_string(output, ", most ");
    write_value(output, counted->unit, spread->most);
    output_format(output, " in task %" PRId64 ")", spread->most_task);
}

static void write_node(const struct report *report, uint32_t number, double all_samples,
                       struct output *output)
{
    const struct application *application = report->application;
    const struct plan_node *node = &application->plans.nodes[number];
    struct counted counted;
    double samples = all_samples > 0 ? sql_operators_samples(&report->operators, number) : 0;
    output_format(output, "    %*s", (int)(node->depth < 40 ? node->depth : 40), "");
    plain_write_safely(output, utf8_prefix(application_text(application, node->name), NAME_LETTERS));
    if (samples > 0)
        output_format(output, ", %.1f %% of the samples", 100 * samples / all_samples);
    for (uint32_t at = 0; next_counter(application, node, &at, &counted);)
        if (counted.total != 0 || counted.unit == COUNTER_TENTHS)
            write_counted(&counted, output);
    output_byte(output, '\n');
}

static void write_query(const struct report *report, const struct sql_execution *sql, struct output *output)
{
    char text[32];
    output_format(output, "  query %" PRId64 ", took %s: ", sql->id,
                  plain_duration(text, sizeof(text), took_ms(sql)));
    plain_write_safely(output, utf8_prefix(application_text(report->application, sql->title), 100));
    if (sql->updates > 0)
        output_format(output, " (plan changed %u time%s)", sql->updates, sql->updates == 1 ? "" : "s");
    output_byte(output, '\n');
    double samples = samples_of_query(report, sql);
    for (uint32_t i = 0; i < sql->node_count && i < TEXT_NODES; i++)
        write_node(report, sql->first_node + i, samples, output);
    if (sql->node_count > TEXT_NODES)
        output_format(output, "    and %u more\n", sql->node_count - TEXT_NODES);
}

void report_sql_write_text(const struct report *report, struct output *output)
{
    const struct application *application = report->application;
    struct query_place *sorted = calloc(application->sql_count + 1, sizeof(*sorted));
    if (sorted == NULL || application->sql_count == 0) {
        free(sorted);
        return;
    }
    for (size_t i = 0; i < application->sql_count; i++)
        sorted[i].sql = &application->sqls[i];
    qsort(sorted, application->sql_count, sizeof(*sorted), compare_durations);
    output_c_string(output, "\nSQL queries, longest first\n");
    for (size_t i = 0; i < application->sql_count && i < TEXT_QUERIES; i++)
        write_query(report, sorted[i].sql, output);
    if (application->sql_count > TEXT_QUERIES)
        output_format(output, "  and %zu more\n", application->sql_count - TEXT_QUERIES);
    free(sorted);
}
