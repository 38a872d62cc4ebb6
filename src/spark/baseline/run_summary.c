#include "spark/baseline/run_summary.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "spark/plan_hash.h"
#include "spark/stages/sql_operators.h"
#include "spark/stages/stage_stacks.h"

#define STRING_LIMIT_BYTES ((size_t)1 << 30)
#define MIN_METHOD_SHARE 0.005
#define NS_PER_MS 1000000.0

/* What a summary is made from. */
struct making {
    struct run_summary *summary;
    const struct application *application;
    const struct profile *profile;
    struct stage_stacks stacks;
    struct sql_operators operators;
    uint32_t *of_query; /* of each query of the application, its item */
    uint32_t *of_stage; /* of each stage; NO_RUN_ITEM: it did not run */
};

/* The new item is the last; NULL: no memory. */
static struct run_item *add_item(struct making *making, enum run_item_kind kind, uint32_t parent,
                                 struct text_view name)
{
    struct run_summary *summary = making->summary;
    uint32_t string = string_table_add(&summary->strings, name);
    if (string == NO_STRING ||
        !array_reserve(&summary->items, &summary->capacity, summary->size + 1, NO_RUN_ITEM))
        return NULL;
    struct run_item *item = &summary->items[summary->size++];
    *item = (struct run_item){.kind = kind, .parent = parent, .id = -1, .name = string};
    item->keys[RUN_KEYS - 1] = plan_hash_text(name, true);
    for (size_t i = 0; i < RUN_KEYS - 1; i++)
        item->keys[i] = plan_hash_text(name, false);
    return item;
}

static double span(int64_t start_ms, int64_t end_ms)
{
    int64_t ms = span_ms(start_ms, end_ms);
    return ms == NO_MS ? -1 : (double)ms;
}

static bool add_application(struct making *making)
{
    const struct application *application = making->application;
    struct run_item *item =
        add_item(making, RUN_APPLICATION, NO_RUN_ITEM, application_text(application, application->name));
    if (item == NULL)
        return false;
    item->values[RUN_WALL] = span(application->start_ms, application->end_ms);
    return true;
}

static bool add_queries(struct making *making)
{
    const struct application *application = making->application;
    for (size_t i = 0; i < application->sql_count; i++) {
        const struct sql_execution *sql = &application->sqls[i];
        uint32_t name = sql->title != 0 ? sql->title : sql->description;
        struct run_item *item = add_item(making, RUN_QUERY, 0, application_text(application, name));
        if (item == NULL)
            return false;
        item->id = sql->id;
        if (sql->node_count > 0) {
            item->keys[0] = sql->first_plan.exact;
            item->keys[1] = sql->first_plan.loose;
        }
        item->values[RUN_WALL] = span(sql->start_ms, sql->end_ms);
        making->of_query[i] = (uint32_t)making->summary->size - 1;
    }
    return true;
}

/* ---- stages ---- */

static bool has_run(const struct stage *stage)
{
    return stage->status != STAGE_SKIPPED && stage->status != STAGE_PENDING;
}

/* The item of the stage's query; the application's if it has none. */
static uint32_t parent_of(const struct making *making, const struct stage *stage)
{
    const struct application *application = making->application;
    uint32_t job = stage->job < 0 ? NO_ID : id_map_get(&application->job_numbers, (uint64_t)stage->job);
    int64_t query = job == NO_ID ? -1 : application->jobs[job].sql_execution;
    uint32_t sql = query < 0 ? NO_ID : id_map_get(&application->sql_numbers, (uint64_t)query);
    return sql == NO_ID ? 0 : making->of_query[sql];
}

static double positive(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

static void set_stage_values(struct run_item *item, const struct stage *stage)
{
    const struct task_metrics *totals = &stage->totals;
    item->values[RUN_WALL] = span(stage->submitted_ms, stage->completed_ms);
    item->values[RUN_CORE] = positive(totals->run_ms);
    item->values[RUN_BYTES] = positive(totals->input_bytes) + positive(totals->shuffle_remote_bytes) +
                              positive(totals->shuffle_local_bytes) + positive(totals->shuffle_write_bytes);
    item->values[RUN_ROWS] = positive(totals->input_records) + positive(totals->shuffle_read_records) +
                             positive(totals->shuffle_write_records);
}

static void add_values(struct run_item *sum, const struct run_item *item)
{
    for (size_t i = RUN_CORE; i < RUN_MEASURES; i++)
        sum->values[i] += item->values[i];
}

static bool add_stages(struct making *making)
{
    const struct application *application = making->application;
    for (size_t i = 0; i < application->stage_count; i++) {
        const struct stage *stage = &application->stages[i];
        making->of_stage[i] = NO_RUN_ITEM;
        if (!has_run(stage))
            continue;
        uint32_t name = stage->title != 0 ? stage->title : stage->name;
        uint32_t parent = parent_of(making, stage);
        struct run_item *item = add_item(making, RUN_STAGE, parent, application_text(application, name));
        if (item == NULL)
            return false;
        item->id = stage->id;
        item->attempt = stage->attempt;
        set_stage_values(item, stage);
        add_values(&making->summary->items[0], item);
        if (parent != 0)
            add_values(&making->summary->items[parent], item);
        making->of_stage[i] = (uint32_t)making->summary->size - 1;
    }
    return true;
}

/* The operators for which a stage counted, in any order: with what they do, and by name only. */
static void set_stage_keys(struct making *making)
{
    const struct application *application = making->application;
    struct run_item *items = making->summary->items;
    for (size_t i = making->summary->first[RUN_STAGE]; i < making->summary->size; i++)
        if (items[i].parent != 0)
            items[i].keys[0] = items[i].keys[1] = 0;
    for (size_t i = 0; i < making->operators.node_stage_count; i++) {
        const struct node_stage *one = &making->operators.node_stages[i];
        const struct plan_node *node = &application->plans.nodes[one->node];
        uint32_t number = making->of_stage[one->stage];
        struct text_view name = application_text(application, node->name);
        if (number == NO_RUN_ITEM || items[number].parent == 0 ||
            text_starts_with(name, TEXT("WholeStageCodegen")))
            continue;
        uint64_t of_name = plan_hash_text(name, true);
        uint64_t of_detail = plan_hash_text(application_text(application, node->detail), false);
        items[number].keys[0] += hash_mix(of_name ^ HASH_SEED, of_detail ^ HASH_MULTIPLIER);
        items[number].keys[1] += hash_u64(of_name);
    }
    for (size_t i = making->summary->first[RUN_STAGE]; i < making->summary->size; i++)
        if (items[i].keys[0] == 0)
            items[i].keys[0] = items[i].keys[1] = items[i].keys[RUN_KEYS - 1];
}

/* ---- methods ---- */

/* Samples by the name of the innermost frame. */
struct leaf_sums {
    struct id_map places;
    uint32_t *names;
    double *counts;
    size_t size, name_capacity, count_capacity;
};

static bool add_samples(struct leaf_sums *sums, uint32_t name, double count)
{
    uint32_t *place = id_map_place(&sums->places, name);
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&sums->names, &sums->name_capacity, sums->size + 1, UINT32_MAX - 1) ||
            !array_reserve(&sums->counts, &sums->count_capacity, sums->size + 1, UINT32_MAX - 1))
            return false;
        *place = (uint32_t)sums->size;
        sums->names[sums->size] = name;
        sums->counts[sums->size++] = 0;
    }
    sums->counts[*place] += count;
    return true;
}

/* What the samples of a stage stand for: its CPU time; with Python workers, whose CPU time Spark does not measure, its
 * tasks' time. */
static double sampled_ms(const struct stage *stage)
{
    double cpu_ms = positive(stage->totals.cpu_ns) / NS_PER_MS;
    return stage->uses_python || cpu_ms == 0 ? positive(stage->totals.run_ms) : cpu_ms;
}

static bool add_methods_of(struct making *making, uint32_t stage, const struct leaf_sums *sums)
{
    const struct profile *profile = making->profile;
    double whole = 0, ms = sampled_ms(&making->application->stages[stage]);
    for (size_t i = 0; i < sums->size; i++)
        whole += sums->counts[i];
    for (size_t i = 0; i < sums->size; i++) {
        if (sums->counts[i] < whole * MIN_METHOD_SHARE || whole <= 0)
            continue;
        struct run_item *item =
            add_item(making, RUN_METHOD, making->of_stage[stage], profile_text(profile, sums->names[i]));
        if (item == NULL)
            return false;
        item->values[RUN_WALL] = item->values[RUN_BYTES] = item->values[RUN_ROWS] = -1;
        item->values[RUN_CORE] = ms * sums->counts[i] / whole;
        item->samples = sums->counts[i];
    }
    return true;
}

static bool sum_up_stage(struct making *making, struct leaf_sums *sums, size_t begin, size_t end)
{
    const struct profile *profile = making->profile;
    const struct stage_stack *items = making->stacks.items;
    uint64_t key = application_stage_key(items[begin].stage, items[begin].attempt);
    uint32_t stage = id_map_get(&making->application->stage_numbers, key);
    if (stage == NO_ID || making->of_stage[stage] == NO_RUN_ITEM)
        return true;
    sums->size = 0;
    id_map_clear(&sums->places);
    for (size_t i = begin; i < end; i++) {
        uint32_t frame = profile->stacks.nodes[items[i].stack].frame;
        if (items[i].stack != STACK_ROOT &&
            !add_samples(sums, profile->frames.frames[frame].name, items[i].count))
            return false;
    }
    return add_methods_of(making, stage, sums);
}

static bool add_methods(struct making *making)
{
    struct leaf_sums sums = {.size = 0};
    bool good = true;
    id_map_init(&sums.places);
    for (size_t begin = 0, end; begin < making->stacks.size && good; begin = end) {
        end = stage_stacks_end(&making->stacks, begin);
        good = sum_up_stage(making, &sums, begin, end);
    }
    id_map_release(&sums.places);
    free(sums.names);
    free(sums.counts);
    return good;
}

/* ---- all ---- */

static bool set_identity(struct making *making)
{
    struct run_summary *summary = making->summary;
    const struct application *application = making->application;
    summary->id = string_table_add(&summary->strings, application_text(application, application->id));
    summary->name = string_table_add(&summary->strings, application_text(application, application->name));
    summary->start_ms = application->start_ms;
    return summary->id != NO_STRING && summary->name != NO_STRING;
}

static bool add_all(struct making *making)
{
    static bool (*const steps[RUN_KINDS])(struct making *) = {add_application, add_queries, add_stages,
                                                              add_methods};
    struct run_summary *summary = making->summary;
    if (!set_identity(making))
        return false;
    for (size_t kind = 0; kind < RUN_KINDS; kind++) {
        summary->first[kind] = summary->size;
        if (!steps[kind](making))
            return false;
        if (kind == RUN_STAGE)
            set_stage_keys(making);
    }
    summary->first[RUN_KINDS] = summary->size;
    return true;
}

bool run_summary_init(struct run_summary *summary, const struct application *application,
                      const struct profile *profile, struct error *error)
{
    struct making making = {.summary = summary, .application = application, .profile = profile};
    *summary = (struct run_summary){.size = 0};
    making.of_query = malloc((application->sql_count + 1) * sizeof(*making.of_query));
    making.of_stage = malloc((application->stage_count + 1) * sizeof(*making.of_stage));
    bool good = making.of_query != NULL && making.of_stage != NULL &&
                string_table_init(&summary->strings, STRING_LIMIT_BYTES);
    good = good && stage_stacks_init(&making.stacks, profile, error) &&
           sql_operators_init(&making.operators, application, &making.stacks, error) && add_all(&making);
    sql_operators_release(&making.operators);
    stage_stacks_release(&making.stacks);
    free(making.of_query);
    free(making.of_stage);
    if (good)
        return true;
    run_summary_release(summary);
    return error_set_memory(error);
}

void run_summary_release(struct run_summary *summary)
{
    string_table_release(&summary->strings);
    free(summary->items);
    *summary = (struct run_summary){.size = 0};
}
