/*
 * fleet_json.c - the report on a fleet for scripts, and as the data of its page.
 */
#include "base/json_text.h"
#include "spark/fleet/fleet_commands.h"
#include "spark/fleet/fleet_report.h"
#include "spark/report/json_out.h"

#define COMMAND_LIMIT_BYTES ((size_t)16 << 20)

static const char *const weight_keys[FLEET_EVENTS] = {"cpu_ns", "wall_ns", "alloc_bytes"};

static void write_weights(struct json_out *out, const int64_t *weights)
{
    for (size_t event = 0; event < FLEET_EVENTS; event++)
        json_out_number(out, weight_keys[event], weights[event]);
}

static void write_real(struct json_out *out, const char *name, double value)
{
    json_out_key(out, name);
    output_format(out->output, "%.6f", value);
}

static void write_day(struct json_out *out, const char *name, int32_t day)
{
    char text[FLEET_DAY_TEXT_BYTES];
    if (day != FLEET_NO_DAY) {
        json_out_plain(out, name, fleet_day_text(text, day));
    } else {
        json_out_key(out, name);
        output_c_string(out->output, "null");
    }
}

static void write_cost(const struct fleet_report *report, struct json_out *out, int64_t cpu_ns)
{
    if (report->price > 0)
        write_real(out, "cost", fleet_hours(cpu_ns) * report->price);
}

static void write_numbers(struct json_out *out, const char *name, const int64_t *numbers, size_t count)
{
    json_out_key(out, name);
    output_byte(out->output, '[');
    for (size_t i = 0; i < count; i++) {
        output_c_string(out->output, i == 0 ? "" : ",");
        output_i64(out->output, numbers[i]);
    }
    output_byte(out->output, ']');
}

static void write_command(struct json_out *out, struct text_builder *command)
{
    json_out_key(out, "command");
    if (command->failed)
        output_c_string(out->output, "null");
    else
        json_text_write(out->output, text_builder_view(command));
    text_builder_release(command);
}

static void write_days(const struct fleet_report *report, struct json_out *out)
{
    json_out_list(out, "days");
    for (size_t i = 0; i < report->day_count; i++) {
        json_out_begin(out, i);
        write_day(out, "day", report->days[i]);
        for (size_t event = 0; event < FLEET_EVENTS; event++)
            json_out_number(out, weight_keys[event], report->day_weights[event * report->day_count + i]);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_groups(const struct fleet_report *report, struct json_out *out)
{
    json_out_list(out, "groups");
    for (size_t i = 0; i < report->group_count; i++) {
        const struct fleet_group *group = &report->groups[i];
        struct text_builder command;
        text_builder_init(&command, COMMAND_LIMIT_BYTES);
        fleet_command_of_group(&command, fleet_text(report->sums, group->name));
        json_out_begin(out, i);
        json_out_key(out, "group");
        json_text_write(out->output, fleet_text(report->sums, group->name));
        write_weights(out, group->weights);
        write_cost(report, out, group->weights[FLEET_CPU]);
        json_out_number(out, "applications", (int64_t)group->applications);
        json_out_number(out, "executors", (int64_t)group->executors);
        json_out_number(out, "runs_before",
                        (int64_t)fleet_changes_runs(&report->changes, group->name, FLEET_BEFORE));
        json_out_number(out, "runs_now",
                        (int64_t)fleet_changes_runs(&report->changes, group->name, FLEET_NOW));
        write_numbers(out, "by_day", group->by_day, report->day_count);
        write_command(out, &command);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_application(const struct fleet_report *report, struct json_out *out,
                              const struct fleet_application *application)
{
    int64_t weights[FLEET_EVENTS];
    struct text_view name = fleet_text(report->sums, application->name);
    struct text_builder command;
    for (size_t event = 0; event < FLEET_EVENTS; event++)
        weights[event] = fleet_amount_round(application->weights[event]);
    text_builder_init(&command, COMMAND_LIMIT_BYTES);
    command.failed = name.size == 0;
    fleet_command_of_application(&command, name);
    json_out_text(out, "application", application->name);
    json_out_key(out, "group");
    json_text_write(out->output, fleet_text(report->sums, application->group));
    write_weights(out, weights);
    write_cost(report, out, weights[FLEET_CPU]);
    json_out_number(out, "executors", application->executors);
    write_day(out, "first_day", application->first_day);
    write_day(out, "last_day", application->last_day);
    write_command(out, &command);
}

static void write_applications(const struct fleet_report *report, struct json_out *out)
{
    json_out_list(out, "applications");
    for (size_t i = 0; i < report->sums->application_count && i < report->top; i++) {
        json_out_begin(out, i);
        write_application(report, out, &report->applications[i]);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_methods(const struct fleet_report *report, struct json_out *out)
{
    json_out_list(out, "methods");
    for (size_t i = 0; i < report->method_count; i++) {
        const struct fleet_method *method = &report->methods[i];
        struct text_builder command;
        text_builder_init(&command, COMMAND_LIMIT_BYTES);
        fleet_command_of_method(&command, fleet_text(report->sums, method->name), method->event, FLEET_NO_DAY,
                                FLEET_NO_DAY);
        json_out_begin(out, i);
        json_out_plain(out, "event", fleet_event_name(method->event));
        json_out_key(out, "method");
        json_text_write(out->output, fleet_text(report->sums, method->name));
        json_out_number(out, "self", method->self);
        json_out_number(out, "total", method->total);
        write_numbers(out, "by_day", method->by_day, report->day_count);
        write_command(out, &command);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_change(const struct fleet_report *report, struct json_out *out,
                         const struct fleet_change *change)
{
    struct text_builder command;
    text_builder_init(&command, COMMAND_LIMIT_BYTES);
    fleet_command_of_method(&command, fleet_text(report->sums, change->method), FLEET_CPU,
                            report->changes.last_day - FLEET_PERIOD_DAYS + 1, report->changes.last_day);
    json_out_key(out, "group");
    json_text_write(out->output, fleet_text(report->sums, change->group));
    json_out_key(out, "method");
    json_text_write(out->output, fleet_text(report->sums, change->method));
    write_real(out, "self_before", change->share.before);
    write_real(out, "self_now", change->share.now);
    write_real(out, "total_before", change->total_before);
    write_real(out, "total_now", change->total_now);
    json_out_key(out, "z");
    output_format(out->output, "%.2f", change->share.z);
    json_out_number(out, "more_ns", change->more_ns);
    write_cost(report, out, change->more_ns);
    write_command(out, &command);
}

static void write_changes(const struct fleet_report *report, struct json_out *out)
{
    if (report->changes.last_day != FLEET_NO_DAY) {
        write_day(out, "before_from", report->changes.last_day - 2 * FLEET_PERIOD_DAYS + 1);
        write_day(out, "now_from", report->changes.last_day - FLEET_PERIOD_DAYS + 1);
        write_day(out, "now_to", report->changes.last_day);
    }
    json_out_number(out, "min_runs", SHARE_MIN_APPLICATIONS);
    json_out_number(out, "slower_count", (int64_t)report->changes.count);
    json_out_list(out, "slower");
    for (size_t i = 0; i < report->changes.count && i < report->top; i++) {
        json_out_begin(out, i);
        write_change(report, out, &report->changes.items[i]);
        json_out_end(out);
    }
    json_out_end_list(out);
}

void fleet_report_write_json(const struct fleet_report *report, struct output *output)
{
    struct json_out out = {.output = output, .strings = &report->sums->strings, .is_first = true};
    output_byte(output, '{');
    write_weights(&out, report->weights);
    write_cost(report, &out, report->weights[FLEET_CPU]);
    if (report->price > 0)
        write_real(&out, "price_core_hour", report->price);
    json_out_number(&out, "application_count", (int64_t)report->sums->application_count);
    json_out_number(&out, "executor_count", (int64_t)report->executors);
    json_out_plain(&out, "main_event", fleet_event_name(fleet_report_main_event(report)));
    write_days(report, &out);
    write_groups(report, &out);
    write_changes(report, &out);
    write_methods(report, &out);
    write_applications(report, &out);
    output_c_string(output, "\n}\n");
}
