#include "spark/fleet/fleet_sums.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/fixed_point.h"

void fleet_sums_release(struct fleet_sums *sums)
{
    string_table_release(&sums->strings);
    free(sums->applications);
    id_map_release(&sums->application_index);
    id_map_release(&sums->executors);
    id_map_release(&sums->groups);
    fleet_table_release(&sums->current);
    fleet_table_release(&sums->open);
    fleet_table_release(&sums->closed);
    *sums = (struct fleet_sums){.options = NULL};
}

bool fleet_sums_init(struct fleet_sums *sums, const struct fleet_options *options, struct error *error)
{
    *sums = (struct fleet_sums){.options = options};
    return string_table_init(&sums->strings, PROFILE_STRING_LIMIT_BYTES) || error_set_memory(error);
}

/* ---- applications ---- */

/* NO_ID: out of memory. */
static uint32_t add_application(struct fleet_sums *sums, uint32_t group, uint32_t name)
{
    if (group == NO_STRING || name == NO_STRING ||
        !array_reserve(&sums->applications, &sums->application_capacity, sums->application_count + 1,
                       (size_t)NO_ID - 1))
        return NO_ID;
    uint32_t *place = id_map_place(&sums->application_index, (uint64_t)group << 32 | name);
    if (place == NULL)
        return NO_ID;
    if (*place == NO_ID) {
        *place = (uint32_t)sums->application_count;
        sums->applications[sums->application_count++] = (struct fleet_application){
            .group = group, .name = name, .first_day = FLEET_NO_DAY, .last_day = FLEET_NO_DAY};
    }
    return *place;
}

static bool add_executor(struct fleet_sums *sums, uint32_t application, uint32_t executor)
{
    if (executor == 0 || executor == NO_STRING)
        return executor == 0;
    uint32_t *place = id_map_place(&sums->executors, (uint64_t)application << 32 | executor);
    if (place == NULL)
        return false;
    sums->applications[application].executors += *place == NO_ID;
    *place = 0;
    return true;
}

static void add_days(struct fleet_application *application, int32_t first, int32_t last)
{
    if (first == FLEET_NO_DAY)
        return;
    if (application->first_day == FLEET_NO_DAY || first < application->first_day)
        application->first_day = first;
    if (application->last_day == FLEET_NO_DAY || last > application->last_day)
        application->last_day = last;
}

/* ---- joining ---- */

static bool join_applications(struct fleet_sums *into, const struct fleet_sums *from, const uint32_t *strings,
                              uint32_t *numbers)
{
    for (size_t i = 0; i < from->application_count; i++) {
        const struct fleet_application *application = &from->applications[i];
        numbers[i] = add_application(into, strings[application->group], strings[application->name]);
        if (numbers[i] == NO_ID)
            return false;
        struct fleet_application *known = &into->applications[numbers[i]];
        for (size_t event = 0; event < FLEET_EVENTS; event++)
            known->weights[event] += application->weights[event];
        add_days(known, application->first_day, application->last_day);
    }
    return true;
}

static bool join_maps(struct fleet_sums *into, const struct fleet_sums *from, const uint32_t *strings,
                      const uint32_t *numbers)
{
    const struct id_map *executors = &from->executors, *groups = &from->groups;
    for (size_t i = 0; executors->slots != NULL && i <= executors->mask; i++) {
        uint64_t key = executors->slots[i].key;
        if (executors->slots[i].value != NO_ID &&
            !add_executor(into, numbers[key >> 32], strings[(uint32_t)key]))
            return false;
    }
    for (size_t i = 0; groups->slots != NULL && i <= groups->mask; i++)
        if (groups->slots[i].value != NO_ID && !id_map_set(&into->groups, strings[groups->slots[i].key], 0))
            return false;
    return true;
}

/* `strings` and `numbers`: room for the new number of each string and application. */
static bool join(struct fleet_sums *into, const struct fleet_sums *from, uint32_t *strings, uint32_t *numbers)
{
    for (size_t i = 0; i < from->strings.size; i++) {
        strings[i] = string_table_add(&into->strings, string_table_text(&from->strings, (uint32_t)i));
        if (strings[i] == NO_STRING)
            return false;
    }
    into->seen += from->seen;
    return join_applications(into, from, strings, numbers) && join_maps(into, from, strings, numbers) &&
           fleet_table_join(&into->open, &from->open, numbers, strings) &&
           fleet_table_join(&into->closed, &from->closed, strings, strings);
}

bool fleet_sums_join(struct fleet_sums *into, const struct fleet_sums *from, struct error *error)
{
    uint32_t *strings = malloc((from->strings.size + 1) * sizeof(*strings));
    uint32_t *numbers = malloc((from->application_count + 1) * sizeof(*numbers));
    bool good = strings != NULL && numbers != NULL && join(into, from, strings, numbers);
    free(strings);
    free(numbers);
    return good || error_set_memory(error);
}

static bool fold(struct fleet_sums *sums, struct fleet_table *table, struct error *error)
{
    uint32_t *groups = malloc((sums->application_count + 1) * sizeof(*groups));
    bool good = groups != NULL;
    for (size_t i = 0; good && i < sums->application_count; i++)
        groups[i] = sums->applications[i].group;
    good = good && fleet_table_fold(&sums->closed, table, groups);
    free(groups);
    fleet_table_release(table);
    return good || error_set_memory(error);
}

bool fleet_sums_close(struct fleet_sums *sums, struct error *error)
{
    return fold(sums, &sums->current, error);
}

bool fleet_sums_finish(struct fleet_sums *sums, struct error *error)
{
    return fold(sums, &sums->open, error);
}

/* ---- one profile ---- */

#define UNKNOWN NO_ID
#define LEFT_OUT (NO_ID - 1)
#define NANOSECONDS_PER_DAY INT64_C(86400000000000)
/* Far more than any sample, so that sums of them fit. */
#define MOST_AMOUNT ((fleet_amount)INT64_MAX << 32)

struct fleet_sample {
    fleet_amount weight, count;
    uint32_t cell, stack;
};

struct fleet_adding {
    struct fleet_sums *sums;
    struct fleet_table *table;
    const struct profile *profile;
    const struct fleet_place *place;
    uint32_t group_key;      /* of the label; LABEL_KEY_LIMIT: there is none */
    int events[EVENT_LIMIT]; /* enum fleet_event; -1: none of them */
    uint32_t *applications;  /* of each label set; UNKNOWN: not asked for yet */
    struct fleet_sample *samples;
    size_t sample_count;
    /* Of each string of the profile. */
    uint32_t *methods;          /* its number in the sums; NO_STRING: not asked for yet */
    fleet_amount *self, *total; /* in the cell that is being added */
    size_t *seen;               /* the last stack that had it, plus one */
    uint32_t *names;            /* those with a weight in the cell */
    size_t name_count;
};

static void find_events(struct fleet_adding *adding)
{
    static const struct text_view names[FLEET_EVENTS] = {{"cpu", 3}, {"wall", 4}, {"alloc", 5}};
    const struct profile *profile = adding->profile;
    for (size_t i = 0; i < profile->event_count; i++) {
        adding->events[i] = -1;
        for (int event = 0; event < FLEET_EVENTS; event++)
            if (text_equal(profile_text(profile, profile->events[i].name), names[event]))
                adding->events[i] = event;
    }
    adding->group_key = LABEL_KEY_LIMIT;
    for (uint32_t key = LABEL_KNOWN_COUNT; key < profile->contexts.key_count; key++)
        if (text_equal(profile_label_key_name(profile, key), TEXT("profiling_group")))
            adding->group_key = key;
}

static bool is_wanted(const struct fleet_options *options, struct text_view group)
{
    for (size_t i = 0; i < options->group_count; i++)
        if (text_equal(group, text_of(options->groups[i])))
            return true;
    return options->group_count == 0;
}

static struct text_view label_of(const struct fleet_adding *adding, uint32_t context, uint32_t key)
{
    return profile_text(adding->profile, context_table_value(&adding->profile->contexts, context, key));
}

/* The first text that is not empty. */
static struct text_view either(struct text_view first, struct text_view second)
{
    return first.size > 0 ? first : second;
}

/* The application of a label set, or LEFT_OUT; UNKNOWN: out of memory. */
static uint32_t find_application(struct fleet_adding *adding, uint32_t context)
{
    struct fleet_sums *sums = adding->sums;
    const struct fleet_place *place = adding->place;
    struct text_view group = either(label_of(adding, context, adding->group_key), place->group);
    struct text_view name = either(place->application, label_of(adding, context, LABEL_APPLICATION));
    struct text_view executor = either(label_of(adding, context, LABEL_EXECUTOR), place->executor);
    group = either(group, FLEET_DEFAULT_GROUP);
    uint32_t group_string = string_table_add(&sums->strings, group);
    if (group_string == NO_STRING || !id_map_set(&sums->groups, group_string, 0))
        return UNKNOWN;
    if (!is_wanted(sums->options, group))
        return LEFT_OUT;
    uint32_t number = add_application(sums, group_string, string_table_add(&sums->strings, name));
    if (number == NO_ID || !add_executor(sums, number, string_table_add(&sums->strings, executor)))
        return UNKNOWN;
    return number;
}

static uint32_t application_of(struct fleet_adding *adding, uint32_t context)
{
    uint32_t *known = &adding->applications[context];
    if (*known == UNKNOWN)
        *known = find_application(adding, context);
    return *known;
}

static int32_t day_of(const struct profile *profile, int64_t time_ns)
{
    if (!profile->times_are_absolute || time_ns == NO_TIME)
        return FLEET_NO_DAY;
    return (int32_t)(time_ns / NANOSECONDS_PER_DAY - (time_ns % NANOSECONDS_PER_DAY < 0));
}

static bool is_in_time(const struct fleet_options *options, int32_t day)
{
    if (options->since == FLEET_NO_DAY && options->until == FLEET_NO_DAY)
        return true;
    return day != FLEET_NO_DAY && (options->since == FLEET_NO_DAY || day >= options->since) &&
           (options->until == FLEET_NO_DAY || day <= options->until);
}

static fleet_amount amount_of(const struct profile *profile, size_t sample, bool is_value)
{
    struct fixed_point number =
        fixed_point_of(is_value ? profile->samples[sample].value : profile->samples[sample].count);
    if (profile->exact != NULL) {
        const struct exact_weights *exact = &profile->exact[sample];
        number = is_value ? (struct fixed_point){exact->value, exact->value_fraction}
                          : (struct fixed_point){exact->count, exact->count_fraction};
    }
    return ((fleet_amount)number.whole << 32) + number.fraction;
}

static fleet_amount at_most(fleet_amount amount, fleet_amount limit)
{
    return amount < limit ? amount : limit;
}

static fleet_amount weight_of_sample(const struct fleet_adding *adding, size_t sample, int event)
{
    const struct profile *profile = adding->profile;
    bool is_value = profile->events[profile->samples[sample].event].unit != UNIT_COUNT;
    if (is_value || event == FLEET_ALLOC)
        return at_most(amount_of(profile, sample, true), MOST_AMOUNT);
    int64_t interval_ns = adding->sums->options->interval_ns[event];
    fleet_amount count = at_most(amount_of(profile, sample, false), MOST_AMOUNT / (interval_ns + 1));
    return count * interval_ns;
}

/* Left out are samples of other events, groups and days, and those without a weight. */
static bool list_sample(struct fleet_adding *adding, size_t number)
{
    const struct sample *sample = &adding->profile->samples[number];
    int event = adding->events[sample->event];
    fleet_amount weight = event < 0 ? 0 : weight_of_sample(adding, number, event);
    if (weight <= 0)
        return true;
    adding->sums->seen++;
    int32_t day = day_of(adding->profile, sample->time_ns);
    if (!is_in_time(adding->sums->options, day))
        return true;
    uint32_t owner = application_of(adding, sample->context);
    if (owner == LEFT_OUT || owner == UNKNOWN)
        return owner == LEFT_OUT;
    const struct fleet_cell *cell = fleet_table_cell(adding->table, owner, day, (enum fleet_event)event);
    if (cell == NULL)
        return false;
    struct fleet_application *application = &adding->sums->applications[owner];
    application->weights[event] += weight;
    add_days(application, day, day);
    adding->samples[adding->sample_count++] =
        (struct fleet_sample){weight, at_most(amount_of(adding->profile, number, false), MOST_AMOUNT),
                              (uint32_t)(cell - adding->table->cells), sample->stack};
    return true;
}

static int compare_samples(const void *left, const void *right)
{
    const struct fleet_sample *a = left, *b = right;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

/* Equal ones become one. */
static void sum_samples(struct fleet_adding *adding)
{
    struct fleet_sample *samples = adding->samples;
    size_t count = 0;
    if (adding->sample_count > 0)
        qsort(samples, adding->sample_count, sizeof(*samples), compare_samples);
    for (size_t i = 0; i < adding->sample_count; i++) {
        if (count > 0 && compare_samples(&samples[count - 1], &samples[i]) == 0) {
            samples[count - 1].weight += samples[i].weight;
            samples[count - 1].count += samples[i].count;
        } else {
            samples[count++] = samples[i];
        }
    }
    adding->sample_count = count;
}

/* A method that calls itself is counted once for a stack. */
static void add_stack(struct fleet_adding *adding, size_t number)
{
    const struct profile *profile = adding->profile;
    const struct fleet_sample *sample = &adding->samples[number];
    const struct stack_node *nodes = profile->stacks.nodes;
    for (uint32_t node = sample->stack; node != STACK_ROOT; node = nodes[node].parent) {
        uint32_t name = profile->frames.frames[nodes[node].frame].name;
        if (adding->seen[name] == number + 1)
            continue;
        if (adding->total[name] == 0)
            adding->names[adding->name_count++] = name;
        adding->seen[name] = number + 1;
        adding->total[name] += sample->weight;
        if (node == sample->stack)
            adding->self[name] += sample->weight;
    }
}

static bool end_cell(struct fleet_adding *adding, uint32_t cell)
{
    for (size_t i = 0; i < adding->name_count; i++) {
        uint32_t name = adding->names[i], *method = &adding->methods[name];
        if (*method == NO_STRING)
            *method = string_table_add(&adding->sums->strings, profile_text(adding->profile, name));
        struct fleet_row *row = *method == NO_STRING ? NULL : fleet_table_row(adding->table, cell, *method);
        if (row == NULL)
            return false;
        row->self += adding->self[name];
        row->total += adding->total[name];
        adding->self[name] = adding->total[name] = 0;
    }
    adding->name_count = 0;
    return true;
}

static bool add_samples(struct fleet_adding *adding)
{
    for (size_t i = 0; i < adding->profile->sample_count; i++)
        if (!list_sample(adding, i))
            return false;
    sum_samples(adding);
    for (size_t i = 0; i < adding->sample_count; i++) {
        const struct fleet_sample *sample = &adding->samples[i];
        adding->table->cells[sample->cell].weight += sample->weight;
        adding->table->cells[sample->cell].samples += sample->count;
        add_stack(adding, i);
        bool is_last = i + 1 == adding->sample_count || adding->samples[i + 1].cell != sample->cell;
        if (is_last && !end_cell(adding, sample->cell))
            return false;
    }
    return true;
}

static uint32_t *unknown_numbers(size_t count)
{
    uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));
    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = UNKNOWN;
    return numbers;
}

bool fleet_sums_add(struct fleet_sums *sums, const struct profile *profile, const struct fleet_place *place,
                    struct error *error)
{
    size_t strings = profile->strings.size;
    struct fleet_adding adding = {
        .sums = sums,
        .table = place->application.size > 0 ? &sums->current : &sums->open,
        .profile = profile,
        .place = place,
        .applications = unknown_numbers(profile->contexts.size),
        .samples = malloc((profile->sample_count + 1) * sizeof(*adding.samples)),
        .methods = unknown_numbers(strings),
        .self = calloc(strings + 1, sizeof(*adding.self)),
        .total = calloc(strings + 1, sizeof(*adding.total)),
        .seen = calloc(strings + 1, sizeof(*adding.seen)),
        .names = malloc((strings + 1) * sizeof(*adding.names)),
    };
    find_events(&adding);
    bool good = adding.applications != NULL && adding.samples != NULL && adding.methods != NULL &&
                adding.self != NULL && adding.total != NULL && adding.seen != NULL && adding.names != NULL &&
                add_samples(&adding);
    free(adding.applications);
    free(adding.samples);
    free(adding.methods);
    free(adding.self);
    free(adding.total);
    free(adding.seen);
    free(adding.names);
    return good || error_set_memory(error);
}
