#include "collector/group_settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "collector/file_status.h"
#include "collector/store/stored_recording.h"
#include "input/byte_source.h"

#define FILE_LIMIT_BYTES ((size_t)4 << 20)
#define DAY_MS (24 * 3600 * 1000LL)
#define MINUTE_MS 60000
#define MINUTE_S 60
#define MIB_BITS 20
/* Of any number of MiB or days. */
#define NUMBER_LIMIT ((uint64_t)1 << 30)
#define MOST_PRICE 1e9

/* One line. */
struct group_line {
    char group[RECORDING_ID_BYTES + 1];
    struct group_limits limits;
};

struct line_list {
    struct group_line *items;
    size_t count, capacity;
    struct group_limits others; /* of groups without a line */
};

/* What a group with a rate has left of it. */
struct budget {
    int64_t bytes;
    int64_t time_ms;
};

struct group_settings {
    char *path;
    struct group_limits defaults;
    struct stat read;
    pthread_mutex_t mutex; /* of the rest */
    struct line_list list;
    struct id_map budget_of; /* by the hash of the group */
    struct budget *budgets;
    size_t budget_count, budget_capacity;
};

/* ---- the file ---- */

static bool read_setting(struct group_limits *limits, struct text_view setting)
{
    uint64_t number = 0;
    struct text_view value = setting;
    struct text_view name = text_cut(&value, '=');
    if (text_equal(name, TEXT("price-core-hour")))
        return text_to_double(value, &limits->price_core_hour) && limits->price_core_hour >= 0 &&
               limits->price_core_hour <= MOST_PRICE;
    if (!text_to_u64(value, &number) || number > NUMBER_LIMIT)
        return false;
    if (text_equal(name, TEXT("keep-days")))
        limits->max_age_ms = (int64_t)number * DAY_MS;
    else if (text_equal(name, TEXT("keep-mib")))
        limits->bytes = number << MIB_BITS;
    else if (text_equal(name, TEXT("mib-per-minute")))
        limits->bytes_per_minute = number << MIB_BITS;
    else
        return false;
    return true;
}

static bool read_settings(struct group_limits *limits, struct text_view line)
{
    for (line = text_trim(line); line.size > 0; line = text_trim(line))
        if (!read_setting(limits, text_cut(&line, ' ')))
            return false;
    return true;
}

/* The lines of "*" if `for_others`, else all others. */
static bool read_lines(struct text_view text, bool for_others, struct line_list *list, struct error *error)
{
    for (unsigned number = 1; text.size > 0; number++) {
        struct text_view line = text_trim(text_cut(&text, '\n'));
        if (line.size == 0 || line.data[0] == '#')
            continue;
        struct group_line added = {.limits = list->others};
        struct text_view group = text_cut(&line, ' ');
        bool is_others = text_equal(group, TEXT("*"));
        if (is_others != for_others)
            continue;
        if ((!is_others && !recording_set_id(added.group, "group", group, error)) ||
            !read_settings(is_others ? &list->others : &added.limits, line))
            return error_set(
                error, ERROR_BAD_INPUT,
                "line %u: not \"GROUP NAME=NUMBER…\" with keep-days, keep-mib, mib-per-minute or "
                "price-core-hour",
                number);
        if (is_others)
            continue;
        if (!array_reserve(&list->items, &list->capacity, list->count + 1, GROUP_SETTINGS_LIMIT))
            return error_set(error, ERROR_MEMORY, "more than %d groups", GROUP_SETTINGS_LIMIT);
        list->items[list->count++] = added;
    }
    return true;
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(((const struct group_line *)left)->group, ((const struct group_line *)right)->group);
}

static bool sort_lines(struct line_list *list, struct error *error)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), compare_lines);
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(list->items[i - 1].group, list->items[i].group) == 0)
            return error_set(error, ERROR_BAD_INPUT, "the group %s has two lines", list->items[i].group);
    return true;
}

static bool read_file(const char *path, const struct group_limits *defaults, struct line_list *list,
                      struct stat *status, struct error *error)
{
    struct text_view text;
    *list = (struct line_list){.others = *defaults};
    if (stat(path, status) != 0) {
        *status = (struct stat){.st_ino = 0};
        return errno == ENOENT || error_set_system(error, "%s", path);
    }
    struct byte_source *source = byte_source_open(path, error);
    bool good = source != NULL && byte_source_all(source, FILE_LIMIT_BYTES, &text, error) &&
                read_lines(text, true, list, error) && read_lines(text, false, list, error) &&
                sort_lines(list, error);
    if (!good) {
        free(list->items);
        *list = (struct line_list){.others = *defaults};
        error_prefix(error, "%s", path);
    }
    byte_source_close(source);
    return good;
}

/* ---- the settings of a server ---- */

struct group_settings *group_settings_open(const char *path, const struct group_limits *defaults,
                                           struct error *error)
{
    struct group_settings *settings = calloc(1, sizeof(*settings));
    if (settings == NULL || (settings->path = strdup(path)) == NULL) {
        free(settings);
        error_set_memory(error);
        return NULL;
    }
    settings->defaults = *defaults;
    id_map_init(&settings->budget_of);
    pthread_mutex_init(&settings->mutex, NULL);
    if (read_file(path, defaults, &settings->list, &settings->read, error))
        return settings;
    group_settings_close(settings);
    return NULL;
}

void group_settings_close(struct group_settings *settings)
{
    if (settings == NULL)
        return;
    pthread_mutex_destroy(&settings->mutex);
    id_map_release(&settings->budget_of);
    free(settings->budgets);
    free(settings->list.items);
    free(settings->path);
    free(settings);
}

bool group_settings_refresh(struct group_settings *settings, struct error *error)
{
    struct stat status;
    struct line_list list;
    if (!file_status_differs(settings->path, &settings->read, &status))
        return true;
    bool good = read_file(settings->path, &settings->defaults, &list, &status, error);
    settings->read = status; /* a file that is wrong is reported once */
    if (!good)
        return false;
    pthread_mutex_lock(&settings->mutex);
    free(settings->list.items);
    settings->list = list;
    pthread_mutex_unlock(&settings->mutex);
    return true;
}

static const struct group_limits *find_locked(const struct group_settings *settings, const char *group)
{
    struct group_line wanted;
    snprintf(wanted.group, sizeof(wanted.group), "%s", group);
    const struct group_line *line =
        settings->list.count == 0
            ? NULL
            : bsearch(&wanted, settings->list.items, settings->list.count, sizeof(wanted), compare_lines);
    return line == NULL ? &settings->list.others : &line->limits;
}

void group_settings_find(struct group_settings *settings, const char *group, struct group_limits *limits)
{
    pthread_mutex_lock(&settings->mutex);
    *limits = *find_locked(settings, group);
    pthread_mutex_unlock(&settings->mutex);
}

/* ---- rates ---- */

/* NULL: no memory, or too many groups. */
static struct budget *place_budget(struct group_settings *settings, const char *group, uint64_t rate,
                                   int64_t now_ms)
{
    uint64_t key = hash_bytes(group, strlen(group));
    uint32_t *place = id_map_find(&settings->budget_of, key);
    if (place != NULL)
        return &settings->budgets[*place];
    if (!array_reserve(&settings->budgets, &settings->budget_capacity, settings->budget_count + 1,
                       GROUP_SETTINGS_LIMIT) ||
        !id_map_set(&settings->budget_of, key, (uint32_t)settings->budget_count))
        return NULL;
    settings->budgets[settings->budget_count] = (struct budget){(int64_t)rate, now_ms};
    return &settings->budgets[settings->budget_count++];
}

/* What the group has left now, of a rate that is not 0. */
static struct budget *renew_budget(struct group_settings *settings, const char *group, uint64_t rate,
                                   int64_t now_ms)
{
    struct budget *budget = place_budget(settings, group, rate, now_ms);
    if (budget == NULL)
        return NULL;
    int64_t passed_ms = now_ms - budget->time_ms;
    if (passed_ms > MINUTE_MS)
        passed_ms = MINUTE_MS;
    if (passed_ms > 0)
        budget->bytes += (int64_t)((double)rate * (double)passed_ms / MINUTE_MS);
    if (budget->bytes > (int64_t)rate)
        budget->bytes = (int64_t)rate;
    budget->time_ms = now_ms;
    return budget;
}

bool group_settings_admit(struct group_settings *settings, const char *group, int64_t now_ms,
                          uint64_t *wait_s)
{
    pthread_mutex_lock(&settings->mutex);
    uint64_t rate = find_locked(settings, group)->bytes_per_minute;
    const struct budget *budget = rate == 0 ? NULL : renew_budget(settings, group, rate, now_ms);
    bool admits = budget == NULL || budget->bytes > 0;
    if (!admits)
        *wait_s = 1 + (uint64_t)((double)-budget->bytes * MINUTE_S / (double)rate);
    pthread_mutex_unlock(&settings->mutex);
    return admits;
}

void group_settings_charge(struct group_settings *settings, const char *group, uint64_t bytes, int64_t now_ms)
{
    pthread_mutex_lock(&settings->mutex);
    uint64_t rate = find_locked(settings, group)->bytes_per_minute;
    struct budget *budget = rate == 0 ? NULL : renew_budget(settings, group, rate, now_ms);
    if (budget != NULL)
        budget->bytes -= (int64_t)bytes;
    pthread_mutex_unlock(&settings->mutex);
}
