#include "spark/fleet/fleet_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/id_map.h"

#define SECONDS_PER_DAY 86400
#define HOUR_NS 3.6e12

double fleet_hours(int64_t ns)
{
    return (double)ns / HOUR_NS;
}

const char *fleet_event_name(enum fleet_event event)
{
    static const char *const names[FLEET_EVENTS] = {"cpu", "wall", "alloc"};
    return names[event];
}

const char *fleet_day_text(char text[FLEET_DAY_TEXT_BYTES], int32_t day)
{
    time_t seconds = (time_t)day * SECONDS_PER_DAY;
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, FLEET_DAY_TEXT_BYTES, "%Y-%m-%d", &parts) == 0)
        snprintf(text, FLEET_DAY_TEXT_BYTES, "?");
    return text;
}

enum fleet_event fleet_report_main_event(const struct fleet_report *report)
{
    return report->weights[FLEET_CPU] > 0    ? FLEET_CPU
           : report->weights[FLEET_WALL] > 0 ? FLEET_WALL
                                             : FLEET_ALLOC;
}

void fleet_report_release(struct fleet_report *report)
{
    free(report->days);
    free(report->day_weights);
    free(report->groups);
    free(report->applications);
    free(report->methods);
    fleet_changes_release(&report->changes);
    free(report->series);
    *report = (struct fleet_report){.sums = NULL};
}

/* ---- days ---- */

static int compare_days(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static bool list_days(struct fleet_report *report)
{
    const struct fleet_table *table = &report->sums->closed;
    report->days = malloc((table->cell_count + 1) * sizeof(*report->days));
    if (report->days == NULL)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < table->cell_count; i++)
        if (table->cells[i].day != FLEET_NO_DAY)
            report->days[count++] = table->cells[i].day;
    qsort(report->days, count, sizeof(*report->days), compare_days);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || report->days[i] != report->days[i - 1])
            report->days[report->day_count++] = report->days[i];
    return true;
}

/* Of the period that is compared with the one before. */
static int32_t last_day(const struct fleet_report *report)
{
    int32_t until = report->sums->options->until;
    if (until != FLEET_NO_DAY)
        return until;
    return report->day_count == 0 ? FLEET_NO_DAY : report->days[report->day_count - 1];
}

static size_t place_of_day(const struct fleet_report *report, int32_t day)
{
    size_t low = 0, high = report->day_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (report->days[middle] < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- weights ---- */

static bool sum_days(struct fleet_report *report)
{
    const struct fleet_table *table = &report->sums->closed;
    size_t places = FLEET_EVENTS * (report->day_count + 1);
    fleet_amount *sums = calloc(places, sizeof(*sums)), whole[FLEET_EVENTS] = {0};
    report->day_weights = calloc(places, sizeof(*report->day_weights));
    bool good = sums != NULL && report->day_weights != NULL;
    for (size_t i = 0; good && i < table->cell_count; i++) {
        const struct fleet_cell *cell = &table->cells[i];
        whole[cell->event] += cell->weight;
        if (cell->day != FLEET_NO_DAY)
            sums[cell->event * report->day_count + place_of_day(report, cell->day)] += cell->weight;
    }
    for (size_t i = 0; good && i < places; i++)
        report->day_weights[i] = fleet_amount_round(sums[i]);
    for (size_t event = 0; event < FLEET_EVENTS; event++)
        report->weights[event] = fleet_amount_round(whole[event]);
    free(sums);
    return good;
}

/* ---- applications and groups ---- */

static int compare_amounts(fleet_amount left, fleet_amount right)
{
    return (left < right) - (left > right);
}

static int compare_applications(const void *left, const void *right, void *context)
{
    const struct fleet_sums *sums = context;
    const struct fleet_application *a = left, *b = right;
    for (size_t event = 0; event < FLEET_EVENTS; event++)
        if (a->weights[event] != b->weights[event])
            return compare_amounts(a->weights[event], b->weights[event]);
    int order = text_compare(fleet_text(sums, a->group), fleet_text(sums, b->group));
    return order != 0 ? order : text_compare(fleet_text(sums, a->name), fleet_text(sums, b->name));
}

static bool list_applications(struct fleet_report *report)
{
    const struct fleet_sums *sums = report->sums;
    report->applications = malloc((sums->application_count + 1) * sizeof(*report->applications));
    if (report->applications == NULL)
        return false;
    for (size_t i = 0; i < sums->application_count; i++) {
        report->applications[i] = sums->applications[i];
        report->executors += sums->applications[i].executors;
    }
    if (sums->application_count > 0)
        qsort_r(report->applications, sums->application_count, sizeof(*report->applications),
                compare_applications, (void *)sums);
    return true;
}

/* What a group is while it is summed up. */
struct group_sums {
    uint32_t name;
    fleet_amount weights[FLEET_EVENTS];
    uint64_t applications, executors;
};

static int compare_groups(const void *left, const void *right, void *context)
{
    const struct fleet_sums *sums = context;
    const struct group_sums *a = left, *b = right;
    for (size_t event = 0; event < FLEET_EVENTS; event++)
        if (a->weights[event] != b->weights[event])
            return compare_amounts(a->weights[event], b->weights[event]);
    return text_compare(fleet_text(sums, a->name), fleet_text(sums, b->name));
}

static bool sum_groups(const struct fleet_sums *sums, struct group_sums *groups, size_t *count)
{
    struct id_map places;
    bool good = true;
    id_map_init(&places);
    for (size_t i = 0; good && i < sums->application_count; i++) {
        const struct fleet_application *application = &sums->applications[i];
        uint32_t *place = id_map_place(&places, application->group);
        good = place != NULL;
        if (!good)
            break;
        if (*place == NO_ID) {
            *place = (uint32_t)*count;
            groups[(*count)++] = (struct group_sums){.name = application->group};
        }
        struct group_sums *group = &groups[*place];
        for (size_t event = 0; event < FLEET_EVENTS; event++)
            group->weights[event] += application->weights[event];
        group->applications++;
        group->executors += application->executors;
    }
    id_map_release(&places);
    return good;
}

static bool list_groups(struct fleet_report *report)
{
    const struct fleet_sums *sums = report->sums;
    struct group_sums *groups = malloc((sums->application_count + 1) * sizeof(*groups));
    bool good = groups != NULL && sum_groups(sums, groups, &report->group_count);
    report->groups = good ? calloc(report->group_count + 1, sizeof(*report->groups)) : NULL;
    good = report->groups != NULL;
    if (good && report->group_count > 0)
        qsort_r(groups, report->group_count, sizeof(*groups), compare_groups, (void *)sums);
    for (size_t i = 0; good && i < report->group_count; i++) {
        struct fleet_group *group = &report->groups[i];
        *group = (struct fleet_group){
            .name = groups[i].name, .applications = groups[i].applications, .executors = groups[i].executors};
        for (size_t event = 0; event < FLEET_EVENTS; event++)
            group->weights[event] = fleet_amount_round(groups[i].weights[event]);
    }
    free(groups);
    return good;
}

/* ---- methods ---- */

static int compare_methods(const void *left, const void *right, void *context)
{
    const struct fleet_sums *sums = context;
    const struct fleet_method *a = left, *b = right;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return text_compare(fleet_text(sums, a->name), fleet_text(sums, b->name));
}

/* Each method of all groups and days, by event: as day 0 of owner 0. */
static bool sum_methods(const struct fleet_table *days, struct fleet_table *all)
{
    for (size_t i = 0; i < days->row_count; i++) {
        const struct fleet_row *row = &days->rows[i];
        const struct fleet_cell *cell = fleet_table_cell(all, 0, 0, days->cells[row->cell].event);
        struct fleet_row *sum =
            cell == NULL ? NULL : fleet_table_row(all, (uint32_t)(cell - all->cells), row->method);
        if (sum == NULL)
            return false;
        sum->self += row->self;
        sum->total += row->total;
    }
    return true;
}

/* Keeps the first `top` of each event. */
static void cut_methods(struct fleet_report *report)
{
    size_t kept = 0, of_event = 0;
    for (size_t i = 0; i < report->method_count; i++) {
        of_event = i > 0 && report->methods[i].event == report->methods[i - 1].event ? of_event + 1 : 0;
        if (of_event < report->top)
            report->methods[kept++] = report->methods[i];
    }
    report->method_count = kept;
}

static bool list_methods(struct fleet_report *report)
{
    struct fleet_table all = {.cells = NULL};
    bool good = sum_methods(&report->sums->closed, &all);
    report->methods = good ? malloc((all.row_count + 1) * sizeof(*report->methods)) : NULL;
    good = report->methods != NULL;
    for (size_t i = 0; good && i < all.row_count; i++)
        report->methods[report->method_count++] =
            (struct fleet_method){.name = all.rows[i].method,
                                  .event = all.cells[all.rows[i].cell].event,
                                  .self = fleet_amount_round(all.rows[i].self),
                                  .total = fleet_amount_round(all.rows[i].total)};
    if (report->method_count > 0)
        qsort_r(report->methods, report->method_count, sizeof(*report->methods), compare_methods,
                (void *)report->sums);
    cut_methods(report);
    fleet_table_release(&all);
    return good;
}

/* ---- series ---- */

/* The series of groups, then those of methods. */
struct series_sums {
    struct id_map groups, methods; /* their places */
    fleet_amount *sums;
};

static bool find_places(const struct fleet_report *report, struct series_sums *series)
{
    bool good = true;
    for (size_t i = 0; good && i < report->group_count; i++)
        good = id_map_set(&series->groups, report->groups[i].name, (uint32_t)i);
    for (size_t i = 0; good && i < report->method_count; i++)
        good =
            id_map_set(&series->methods, (uint64_t)report->methods[i].event << 32 | report->methods[i].name,
                       (uint32_t)(report->group_count + i));
    return good;
}

static void sum_series(const struct fleet_report *report, struct series_sums *series)
{
    const struct fleet_table *table = &report->sums->closed;
    for (size_t i = 0; i < table->cell_count; i++) {
        const struct fleet_cell *cell = &table->cells[i];
        uint32_t place = id_map_get(&series->groups, cell->owner);
        if (cell->day != FLEET_NO_DAY && cell->event == fleet_report_main_event(report) && place != NO_ID)
            series->sums[place * report->day_count + place_of_day(report, cell->day)] += cell->weight;
    }
    for (size_t i = 0; i < table->row_count; i++) {
        const struct fleet_row *row = &table->rows[i];
        const struct fleet_cell *cell = &table->cells[row->cell];
        uint32_t place = id_map_get(&series->methods, (uint64_t)cell->event << 32 | row->method);
        if (cell->day != FLEET_NO_DAY && place != NO_ID)
            series->sums[place * report->day_count + place_of_day(report, cell->day)] += row->self;
    }
}

static bool make_series(struct fleet_report *report)
{
    struct series_sums series = {.sums = NULL};
    size_t count = (report->group_count + report->method_count) * report->day_count;
    series.sums = calloc(count + 1, sizeof(*series.sums));
    report->series = malloc((count + 1) * sizeof(*report->series));
    bool good = series.sums != NULL && report->series != NULL && find_places(report, &series);
    if (good) {
        sum_series(report, &series);
        for (size_t i = 0; i < count; i++)
            report->series[i] = fleet_amount_round(series.sums[i]);
        for (size_t i = 0; i < report->group_count; i++)
            report->groups[i].by_day = report->series + i * report->day_count;
        for (size_t i = 0; i < report->method_count; i++)
            report->methods[i].by_day = report->series + (report->group_count + i) * report->day_count;
    }
    id_map_release(&series.groups);
    id_map_release(&series.methods);
    free(series.sums);
    return good;
}

bool fleet_report_init(struct fleet_report *report, const struct fleet_sums *sums, double price, size_t top,
                       struct error *error)
{
    *report = (struct fleet_report){.sums = sums, .price = price, .top = top};
    bool good = list_days(report) && sum_days(report) && list_applications(report) && list_groups(report) &&
                list_methods(report) && make_series(report) &&
                fleet_changes_find(&report->changes, sums, last_day(report));
    return good || error_set_memory(error);
}
