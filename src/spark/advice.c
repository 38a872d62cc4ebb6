#include "spark/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "spark/advice_rule.h"

#define MOST_ITEMS 10000

static const struct {
    const char *name;
    advice_rule *find;
    bool is_of_stages;
} rules[] = {
#define STAGE_RULE(name, function) {name, function, true},
#define APPLICATION_RULE(name, function) {name, function, false},
#include "spark/advice_rules.def"
#undef STAGE_RULE
#undef APPLICATION_RULE
};

void advice_say(struct advice_item *item, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(item->finding, sizeof(item->finding), format, arguments);
    va_end(arguments);
}

void advice_propose(struct advice_item *item, const char *remedy)
{
    snprintf(item->remedy, sizeof(item->remedy), "%s", remedy);
}

static bool add_item(struct advice *advice, const struct advice_item *item)
{
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
        struct advice_item item = {
            .rule = rules[rule].name, .stage = it->stage->id, .attempt = it->stage->attempt, .task = -1};
        if (rules[rule].find(it, &item) && !add_item(advice, &item))
            return false;
    }
    return true;
}

static bool judge_application(struct advice *advice, struct advice_case *it, size_t rule)
{
    for (it->number = 0; it->number < MOST_ITEMS; it->number++) {
        struct advice_item item = {.rule = rules[rule].name, .stage = -1, .task = -1};
        if (!rules[rule].find(it, &item))
            return true;
        if (!add_item(advice, &item))
            return false;
    }
    return true;
}

static int compare_items(const void *left, const void *right)
{
    const struct advice_item *a = left, *b = right;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

bool advice_init(struct advice *advice, const struct advice_sources *sources, struct error *error)
{
    *advice = (struct advice){.items = NULL};
    struct advice_case it = {.sources = sources, .application = sources->application};
    if (!code_facts_init(&it.code, sources->application, sources->profile, error))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < COUNT_OF(rules); i++)
        good = rules[i].is_of_stages ? judge_stages(advice, &it, i) : judge_application(advice, &it, i);
    code_facts_release(&it.code);
    if (!good) {
        advice_release(advice);
        return error_set_memory(error);
    }
    if (advice->size > 0)
        qsort(advice->items, advice->size, sizeof(*advice->items), compare_items);
    return true;
}

void advice_release(struct advice *advice)
{
    free(advice->items);
    *advice = (struct advice){.items = NULL};
}
