/*
 * fleet_text.c - the report on a fleet for people at a terminal.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "spark/application.h"
#include "spark/fleet/fleet_commands.h"
#include "spark/fleet/fleet_report.h"
#include "spark/report/plain_text.h"

#define NAME_LETTERS 120
#define LEAST_HOURS_NS INT64_C(360000000000) /* that are written as hours */
#define COMMAND_LIMIT_BYTES ((size_t)1 << 20)

static double percent(int64_t part, int64_t whole)
{
    return whole <= 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void write_name(const struct fleet_report *report, uint32_t string, struct output *output)
{
    plain_write_safely(output, utf8_prefix(fleet_text(report->sums, string), NAME_LETTERS));
}

static const char *weight_text(char *text, size_t size, enum fleet_event event, int64_t weight)
{
    if (event == FLEET_ALLOC)
        return plain_bytes(text, size, weight);
    if (weight < LEAST_HOURS_NS)
        return plain_duration(text, size, weight <= 0 ? NO_MS : weight / 1000000);
    snprintf(text, size, "%.2f h", fleet_hours(weight));
    return text;
}

static void write_weights(struct output *output, const int64_t *weights)
{
    for (enum fleet_event event = 0; event < FLEET_EVENTS; event++) {
        char text[32];
        output_format(output, " %12s", weight_text(text, sizeof(text), event, weights[event]));
    }
}

static void write_cost(const struct fleet_report *report, struct output *output, int64_t cpu_ns)
{
    if (report->price > 0)
        output_format(output, " %12.2f", fleet_hours(cpu_ns) * report->price);
}

static const char *cost_head(const struct fleet_report *report)
{
    return report->price > 0 ? "         cost" : "";
}

static void write_head(const struct fleet_report *report, struct output *output)
{
    char first[FLEET_DAY_TEXT_BYTES], last[FLEET_DAY_TEXT_BYTES], text[32];
    size_t applications = report->sums->application_count;
    output_format(output, "%zu application%s in %zu group%s, %" PRIu64 " executor%s", applications,
                  applications == 1 ? "" : "s", report->group_count, report->group_count == 1 ? "" : "s",
                  report->executors, report->executors == 1 ? "" : "s");
    if (report->day_count > 0)
        output_format(output, ", %s to %s", fleet_day_text(first, report->days[0]),
                      fleet_day_text(last, report->days[report->day_count - 1]));
    output_format(output, "\n  CPU time %s",
                  weight_text(text, sizeof(text), FLEET_CPU, report->weights[FLEET_CPU]));
    output_format(output, ", wall clock %s",
                  weight_text(text, sizeof(text), FLEET_WALL, report->weights[FLEET_WALL]));
    output_format(output, ", allocated %s",
                  weight_text(text, sizeof(text), FLEET_ALLOC, report->weights[FLEET_ALLOC]));
    if (report->price > 0)
        output_format(output, ", cost of the CPU time %.2f",
                      fleet_hours(report->weights[FLEET_CPU]) * report->price);
    output_byte(output, '\n');
}

static void write_groups(const struct fleet_report *report, struct output *output)
{
    enum fleet_event event = fleet_report_main_event(report);
    output_format(
        output,
        "\nGroups\n           CPU         wall    allocated%s  share  applications  executors  group\n",
        cost_head(report));
    for (size_t i = 0; i < report->group_count; i++) {
        const struct fleet_group *group = &report->groups[i];
        output_byte(output, ' ');
        write_weights(output, group->weights);
        write_cost(report, output, group->weights[FLEET_CPU]);
        output_format(output, " %5.1f%% %13" PRIu64 " %10" PRIu64 "  ",
                      percent(group->weights[event], report->weights[event]), group->applications,
                      group->executors);
        write_name(report, group->name, output);
        output_byte(output, '\n');
    }
}

/* Why there may be less than one expects. */
static void write_groups_without_comparison(const struct fleet_report *report, struct output *output)
{
    for (size_t i = 0; i < report->group_count; i++) {
        const struct fleet_group *group = &report->groups[i];
        uint64_t before = fleet_changes_runs(&report->changes, group->name, FLEET_BEFORE),
                 now = fleet_changes_runs(&report->changes, group->name, FLEET_NOW);
        if (before >= SHARE_MIN_APPLICATIONS && now >= SHARE_MIN_APPLICATIONS)
            continue;
        output_c_string(output, "  not compared: ");
        write_name(report, group->name, output);
        output_format(output, " (%" PRIu64 " before, %" PRIu64 " now; at least %d runs are needed)\n", before,
                      now, SHARE_MIN_APPLICATIONS);
    }
}

static void write_changes(const struct fleet_report *report, struct output *output)
{
    char texts[3][FLEET_DAY_TEXT_BYTES];
    if (report->changes.last_day == FLEET_NO_DAY)
        return;
    output_format(
        output,
        "\nSlower from %s to %s than in the seven days from %s on, by share of the group's CPU time\n",
        fleet_day_text(texts[0], report->changes.last_day - FLEET_PERIOD_DAYS + 1),
        fleet_day_text(texts[1], report->changes.last_day),
        fleet_day_text(texts[2], report->changes.last_day - 2 * FLEET_PERIOD_DAYS + 1));
    if (report->changes.count == 0)
        output_c_string(output, "  nothing, by more than applications differ among each other\n");
    else
        output_format(output, "   before      now      z        extra%s  group: method\n", cost_head(report));
    for (size_t i = 0; i < report->changes.count && i < report->top; i++) {
        const struct fleet_change *change = &report->changes.items[i];
        char more[32];
        output_format(output, "  %6.2f%%  %6.2f%% %6.1f %12s", 100 * change->share.before,
                      100 * change->share.now, change->share.z,
                      weight_text(more, sizeof(more), FLEET_CPU, change->more_ns));
        write_cost(report, output, change->more_ns);
        output_c_string(output, "  ");
        write_name(report, change->group, output);
        output_c_string(output, ": ");
        write_name(report, change->method, output);
        output_byte(output, '\n');
    }
    if (report->changes.count > report->top)
        output_format(output, "  and %zu more\n", report->changes.count - report->top);
    write_groups_without_comparison(report, output);
}

static void write_methods(const struct fleet_report *report, struct output *output)
{
    static const char *const titles[FLEET_EVENTS] = {"CPU time", "wall clock", "allocated bytes"};
    for (size_t i = 0; i < report->method_count; i++) {
        const struct fleet_method *method = &report->methods[i];
        char self[32], total[32];
        int64_t whole = report->weights[method->event];
        if (i == 0 || report->methods[i - 1].event != method->event)
            output_format(output, "\nMethods by %s\n           self     of       total     of  method\n",
                          titles[method->event]);
        output_format(
            output, "  %13s %5.1f%% %11s %5.1f%%  ",
            weight_text(self, sizeof(self), method->event, method->self), percent(method->self, whole),
            weight_text(total, sizeof(total), method->event, method->total), percent(method->total, whole));
        write_name(report, method->name, output);
        output_byte(output, '\n');
    }
}

static void write_applications(const struct fleet_report *report, struct output *output)
{
    size_t count = report->sums->application_count;
    output_format(output,
                  "\nApplications\n           CPU         wall    allocated%s  executors  first day   last "
                  "day    group: application\n",
                  cost_head(report));
    for (size_t i = 0; i < count && i < report->top; i++) {
        const struct fleet_application *application = &report->applications[i];
        int64_t weights[FLEET_EVENTS];
        char first[FLEET_DAY_TEXT_BYTES] = "-", last[FLEET_DAY_TEXT_BYTES] = "-";
        for (size_t event = 0; event < FLEET_EVENTS; event++)
            weights[event] = fleet_amount_round(application->weights[event]);
        if (application->first_day != FLEET_NO_DAY) {
            fleet_day_text(first, application->first_day);
            fleet_day_text(last, application->last_day);
        }
        output_byte(output, ' ');
        write_weights(output, weights);
        write_cost(report, output, weights[FLEET_CPU]);
        output_format(output, " %10" PRIu32 "  %-10s  %-10s  ", application->executors, first, last);
        write_name(report, application->group, output);
        output_c_string(output, ": ");
        if (application->name == 0)
            output_c_string(output, "(unknown)");
        else
            write_name(report, application->name, output);
        output_byte(output, '\n');
    }
    if (count > report->top)
        output_format(output, "  and %zu more\n", count - report->top);
}

static void write_command(struct output *output, struct text_builder *command)
{
    output_c_string(output, "  ");
    plain_write_safely(output, text_builder_view(command));
    output_byte(output, '\n');
    text_builder_release(command);
}

/* The first of each kind; JSON and page have the others. */
static void write_commands(const struct fleet_report *report, struct output *output)
{
    struct text_builder command;
    output_c_string(output, "\nMore (FOLDER stands for the recordings)\n");
    if (report->changes.count > 0) {
        text_builder_init(&command, COMMAND_LIMIT_BYTES);
        fleet_command_of_method(&command, fleet_text(report->sums, report->changes.items[0].method),
                                FLEET_CPU, report->changes.last_day - FLEET_PERIOD_DAYS + 1,
                                report->changes.last_day);
        write_command(output, &command);
    }
    if (report->group_count > 1) {
        text_builder_init(&command, COMMAND_LIMIT_BYTES);
        fleet_command_of_group(&command, fleet_text(report->sums, report->groups[0].name));
        write_command(output, &command);
    }
    if (report->method_count > 0) {
        text_builder_init(&command, COMMAND_LIMIT_BYTES);
        fleet_command_of_method(&command, fleet_text(report->sums, report->methods[0].name),
                                report->methods[0].event, FLEET_NO_DAY, FLEET_NO_DAY);
        write_command(output, &command);
    }
    if (report->sums->application_count > 0 && report->applications[0].name != 0) {
        text_builder_init(&command, COMMAND_LIMIT_BYTES);
        fleet_command_of_application(&command, fleet_text(report->sums, report->applications[0].name));
        write_command(output, &command);
    }
}

void fleet_report_write_text(const struct fleet_report *report, struct output *output)
{
    write_head(report, output);
    write_groups(report, output);
    write_changes(report, output);
    write_methods(report, output);
    write_applications(report, output);
    write_commands(report, output);
}
