#include "spark/advice/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "spark/advice/advice_rule.h"
#include "spark/advice/cpu_share.h"

#define MOST_ITEMS 10000
#define MOST_BITS ((size_t)1 << 30)

static const struct {
    const char *name;
    advice_rule *find;
    bool is_of_stages;
} rules[] = {
#define STAGE_RULE(name, function) {name, function, true},
#define APPLICATION_RULE(name, function) {name, function, false},
#include "spark/advice/advice_rules.def"
#undef STAGE_RULE
#undef APPLICATION_RULE
};

const char *advice_certainty_name(enum advice_certainty certainty)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[certainty];
}

bool advice_has_rule(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        if (strcmp(rules[i].name, name) == 0)
            return true;
    return false;
}

const char *advice_rule_names(void)
{
    return ""
#define STAGE_RULE(name, function) name " "
#define APPLICATION_RULE(name, function) name " "
#include "spark/advice/advice_rules.def"
#undef STAGE_RULE
#undef APPLICATION_RULE
        ;
}

/* ---- what it saves ---- */

static int64_t at_most(int64_t ms, int64_t limit_ms)
{
    return ms > limit_ms && limit_ms >= 0 ? limit_ms : ms;
}

/* Without a simulation: the stage's cores share what its tasks save. */
static int64_t estimate_ms(const struct advice_case *it, const struct advice_item *item)
{
    int64_t wall_ms = span_ms(it->stage->submitted_ms, it->stage->completed_ms);
    if (wall_ms == NO_MS || wall_ms <= 0)
        return 0;
    if (item->max_ms > 0)
        return at_most(it->row->most_ms - item->max_ms, wall_ms);
    return (int64_t)((1 - item->factor) * (double)wall_ms);
}

static void set_saving(const struct advice_case *it, struct advice_item *item)
{
    uint32_t stage = (uint32_t)(it->stage - it->application->stages);
    if (item->how[0] != '\0' || (item->factor >= 1 && item->max_ms <= 0))
        return;
    int64_t ms = what_if_saved_ms(it->sources->what_if, stage, item->factor, item->max_ms);
    bool is_simulated = ms >= 0;
    item->saved_wall_ms = is_simulated ? ms : estimate_ms(it, item);
    item->saved_core_ms = advice_core_ms(it, item->saved_wall_ms);
    const char *kind = is_simulated ? "simulated" : "estimated";
    if (item->max_ms > 0)
        snprintf(item->how, sizeof(item->how), "%s with tasks of at most %.1f s", kind,
                 (double)item->max_ms / 1000);
    else
        snprintf(item->how, sizeof(item->how), "%s with tasks of %.0f %% of their time", kind,
                 100 * item->factor);
}

/* Core time alone, for which nobody waits, counts a quarter of the time in which all cores together would provide it;
 * what is uncertain counts less. */
static void set_severity(const struct advice_case *it, struct advice_item *item)
{
    static const double weights[] = {[CERTAINTY_LOW] = 0.4, [CERTAINTY_MEDIUM] = 0.7, [CERTAINTY_HIGH] = 1};
    double wall_ms = (double)item->saved_wall_ms, cores = advice_mean_cores(it);
    double core_ms = cores > 0 ? 0.25 * (double)item->saved_core_ms / cores : 0;
    item->severity = weights[item->certainty] * (wall_ms > core_ms ? wall_ms : core_ms) / 1000;
}

/* ---- asking the rules ---- */

static bool add_item(struct advice *advice, const struct advice_case *it, struct advice_item *item)
{
    if (item->stage >= 0)
        set_saving(it, item);
    set_severity(it, item);
    if (!array_reserve(&advice->items, &advice->capacity, advice->size + 1, MOST_ITEMS))
        return advice->size >= MOST_ITEMS;
    advice->items[advice->size++] = *item;
    return true;
}

static bool judge_stages(struct advice *advice, struct advice_case *it, size_t rule)
{
    for (size_t i = 0; i < it->application->stage_count; i++) {
        it->stage = &it->application->stages[i];
        it->row = &it->sources->statistics->rows[i];
        it->code_row = &it->code.rows[i];
        struct advice_item item = {.rule = rules[rule].name,
                                   .stage = it->stage->id,
                                   .attempt = it->stage->attempt,
                                   .task = -1,
                                   .sql = -1,
                                   .factor = 1};
        if (rules[rule].find(it, &item) && !add_item(advice, it, &item))
            return false;
    }
    return true;
}

static bool judge_application(struct advice *advice, struct advice_case *it, size_t rule)
{
    for (it->number = 0; it->number < MOST_ITEMS; it->number++) {
        struct advice_item item = {.rule = rules[rule].name, .stage = -1, .task = -1, .sql = -1, .factor = 1};
        if (!rules[rule].find(it, &item))
            return true;
        if (!add_item(advice, it, &item))
            return false;
    }
    return true;
}

static bool is_disabled(const struct advice_sources *sources, const char *rule)
{
    for (size_t i = 0; i < sources->disabled_count; i++)
        if (strcmp(sources->disabled[i], rule) == 0)
            return true;
    return false;
}

/* ---- order and groups ---- */

static int compare_items(const void *left, const void *right)
{
    const struct advice_item *a = left, *b = right;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

/* The same query but for numbers in it, as a loop runs it, or its title. */
static bool is_one_query(const struct application *application, int64_t left, int64_t right)
{
    uint32_t first = id_map_get(&application->sql_numbers, (uint64_t)left);
    uint32_t second = id_map_get(&application->sql_numbers, (uint64_t)right);
    if (first == NO_ID || second == NO_ID)
        return false;
    const struct sql_execution *a = &application->sqls[first], *b = &application->sqls[second];
    return (a->first_plan.loose == b->first_plan.loose && a->first_plan.loose != 0) ||
           (a->title == b->title && a->title != 0);
}

/* Stages of one line of code, or findings on one place or query, or the same on several executors. */
static bool is_similar(const struct application *application, const struct advice_item *a,
                       const struct advice_item *b)
{
    if (strcmp(a->rule, b->rule) != 0)
        return false;
    if (a->sql >= 0 && b->sql >= 0)
        return is_one_query(application, a->sql, b->sql);
    if (a->stage < 0 || b->stage < 0)
        return a->sql < 0 && b->sql < 0;
    uint32_t first = id_map_get(&application->stage_numbers, application_stage_key(a->stage, a->attempt));
    uint32_t second = id_map_get(&application->stage_numbers, application_stage_key(b->stage, b->attempt));
    bool is_one_line = first != NO_ID && second != NO_ID &&
                       application->stages[first].title == application->stages[second].title;
    return is_one_line || (a->place[0] != '\0' && strcmp(a->place, b->place) == 0) ||
           strcmp(a->rule, "busy-hosts") == 0;
}

static void group(struct advice *advice, const struct application *application)
{
    for (size_t i = 0; i < advice->size; i++) {
        advice->items[i].group = (uint32_t)i;
        for (size_t j = 0; j < i; j++)
            if (advice->items[j].group == j &&
                is_similar(application, &advice->items[j], &advice->items[i])) {
                advice->items[i].group = (uint32_t)j;
                break;
            }
    }
}

/* ---- all ---- */

static bool list_stage_executors(struct advice_case *it)
{
    const struct application *application = it->application;
    size_t executors = application->executor_count, stages = application->stage_count;
    if (executors == 0 || stages == 0 || stages > MOST_BITS / executors)
        return true;
    it->stage_executors = calloc(stages * executors / 8 + 1, 1);
    for (size_t i = 0; it->stage_executors != NULL && i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        size_t bit = task->stage * executors + task->executor;
        if (task->executor != NO_EXECUTOR)
            it->stage_executors[bit / 8] |= (uint8_t)(1 << bit % 8);
    }
    return it->stage_executors != NULL;
}

bool advice_init(struct advice *advice, const struct advice_sources *sources, struct error *error)
{
    *advice = (struct advice){.items = NULL};
    struct advice_case it = {.sources = sources, .application = sources->application};
    if (!code_facts_init(&it.code, sources->application, sources->profile, error))
        return false;
    bool good = list_stage_executors(&it) && task_buckets_by_stage(&it.by_stage, it.application) &&
                task_buckets_by_executor(&it.by_executor, it.application);
    it.cpu_share = cpu_share_of(it.application, NULL, it.application->task_count);
    for (size_t i = 0; good && i < COUNT_OF(rules); i++)
        if (!is_disabled(sources, rules[i].name))
            good = rules[i].is_of_stages ? judge_stages(advice, &it, i) : judge_application(advice, &it, i);
    free(it.stage_executors);
    task_buckets_release(&it.by_stage);
    task_buckets_release(&it.by_executor);
    code_facts_release(&it.code);
    if (!good) {
        advice_release(advice);
        return error_set_memory(error);
    }
    if (advice->size > 0)
        qsort(advice->items, advice->size, sizeof(*advice->items), compare_items);
    group(advice, sources->application);
    return true;
}

void advice_release(struct advice *advice)
{
    free(advice->items);
    *advice = (struct advice){.items = NULL};
}
