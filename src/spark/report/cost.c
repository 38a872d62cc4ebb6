#include "spark/report/cost.h"

#include <stdlib.h>

#define HOUR_MS 3600000.0
#define GIBIBYTE 1073741824.0
#define DEFAULT_MEMORY_BYTES ((int64_t)1 << 30)
#define MIN_OVERHEAD_BYTES ((int64_t)384 << 20)

static double setting_bytes(const struct application *application, const char *key, int64_t otherwise)
{
    int64_t bytes = memory_setting_bytes(application_property(application, key));
    return (double)(bytes > 0 ? bytes : otherwise);
}

/* What an executor asks its cluster for. */
static double executor_gib(const struct application *application)
{
    double heap = setting_bytes(application, "spark.executor.memory", DEFAULT_MEMORY_BYTES);
    int64_t overhead = (int64_t)(heap / 10);
    overhead = overhead > MIN_OVERHEAD_BYTES ? overhead : MIN_OVERHEAD_BYTES;
    return (heap + setting_bytes(application, "spark.executor.memoryOverhead", overhead) +
            setting_bytes(application, "spark.executor.pyspark.memory", 0)) /
           GIBIBYTE;
}

static double executor_hours(const struct application *application)
{
    int64_t last_ms = application_last_ms(application);
    double hours = 0;
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        int64_t from_ms = executor->added_ms == NO_MS ? application->start_ms : executor->added_ms;
        int64_t ms = span_ms(from_ms, executor->removed_ms == NO_MS ? last_ms : executor->removed_ms);
        hours += executor->cores > 0 && ms != NO_MS && ms > 0 ? (double)ms / HOUR_MS : 0;
    }
    return hours;
}

void cost_work_out(struct cost *cost, const struct application *application,
                   const struct core_timeline *cores, const struct cost_prices *prices)
{
    double core_ms = core_timeline_all(cores).there;
    *cost = (struct cost){.core_hours = core_ms / HOUR_MS,
                          .gib_hours = executor_hours(application) * executor_gib(application)};
    cost->is_known = core_ms > 0 && (prices->core_hour > 0 || prices->gib_hour > 0);
    if (!cost->is_known)
        return;
    cost->total = cost->core_hours * prices->core_hour + cost->gib_hours * prices->gib_hour;
    cost->per_core_ms = cost->total / core_ms;
}

double cost_of(const struct cost *cost, double core_ms)
{
    return cost->per_core_ms * core_ms;
}

static void write_real(struct json_out *out, const char *name, double value)
{
    json_out_key(out, name);
    output_format(out->output, "%.6f", value);
}

static void write_part(const struct cost *cost, const char *label, int64_t ms, struct json_out *out,
                       size_t *count)
{
    json_out_begin(out, (*count)++);
    json_out_plain(out, "part", label);
    write_real(out, "cost", cost_of(cost, (double)ms));
    json_out_end(out);
}

static void write_parts(const struct cost *cost, const struct time_spent *spent, struct json_out *out)
{
    size_t count = 0;
    json_out_list(out, "parts");
#define TIME_PART(field, label) write_part(cost, label, spent->field, out, &count);
#include "spark/report/time_parts.def"
#define IDLE_PART(field, label) write_part(cost, label, spent->field, out, &count);
#include "spark/report/time_parts.def"
    json_out_end_list(out);
}

/* Of each stage, by the time of its tasks. */
static void write_stages(const struct cost *cost, const struct application *application, struct json_out *out,
                         const double *busy_ms)
{
    json_out_list(out, "stages");
    size_t count = 0;
    for (size_t i = 0; i < application->stage_count; i++) {
        if (busy_ms[i] <= 0)
            continue;
        json_out_begin(out, count++);
        json_out_number(out, "stage", application->stages[i].id);
        json_out_number(out, "attempt", application->stages[i].attempt);
        write_real(out, "cost", cost_of(cost, busy_ms[i]));
        json_out_end(out);
    }
    json_out_end_list(out);
}

static double *sum_up_stages(const struct application *application)
{
    double *busy_ms = calloc(application->stage_count + 1, sizeof(*busy_ms));
    double cores = (double)application_task_cores(application);
    for (size_t i = 0; busy_ms != NULL && i < application->task_count; i++) {
        int64_t ms = task_duration_ms(&application->tasks[i]);
        busy_ms[application->tasks[i].stage] += ms == NO_MS || ms < 0 ? 0 : cores * (double)ms;
    }
    return busy_ms;
}

void cost_write_json(const struct cost *cost, const struct application *application,
                     const struct time_spent *spent, struct json_out *out)
{
    if (!cost->is_known)
        return;
    json_out_key(out, "cost");
    output_byte(out->output, '{');
    out->is_first = true;
    write_real(out, "total", cost->total);
    write_real(out, "core_hours", cost->core_hours);
    write_real(out, "gib_hours", cost->gib_hours);
    write_real(out, "idle", cost_of(cost, (double)spent->idle_ms));
    write_parts(cost, spent, out);
    double *busy_ms = sum_up_stages(application);
    if (busy_ms != NULL)
        write_stages(cost, application, out, busy_ms);
    free(busy_ms);
    json_out_end(out);
}

void cost_write_text(const struct cost *cost, const struct time_spent *spent, struct output *output)
{
    if (!cost->is_known)
        return;
    output_format(output, "\nCost %.2f: %.2f core hours, %.2f GiB hours of the executors\n", cost->total,
                  cost->core_hours, cost->gib_hours);
#define IDLE_PART(field, label) \
    if (spent->field > 0)       \
        output_format(output, "  %-33s %10.2f\n", label, cost_of(cost, (double)spent->field));
#include "spark/report/time_parts.def"
    output_format(output, "  %-33s %10.2f\n", "tasks",
                  cost_of(cost, (double)(spent->core_ms - spent->idle_ms - spent->reserved_ms)));
}
