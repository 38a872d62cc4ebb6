#include "spark/stages/sql_operators.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/lower_bound.h"

#define GENERATED TEXT("GeneratedIteratorForCodegenStage")

/* Where a sample is: "…GeneratedIteratorForCodegenStage2.sort_addToSorter_0$" */
struct generated_place {
    uint64_t codegen; /* 2 */
    struct text_view method;
};

static bool place_in(struct text_view frame, struct generated_place *place)
{
    size_t at = text_find(frame, GENERATED);
    if (at == TEXT_NOT_FOUND)
        return false;
    struct text_view rest = text_from(frame, at + GENERATED.size);
    struct text_view number = text_cut(&rest, '.');
    place->method = rest;
    return text_to_u64(number, &place->codegen);
}

/* "WholeStageCodegen (2)" */
static bool is_codegen(struct text_view name, uint64_t *number)
{
    static const struct text_view start = {"WholeStageCodegen (", 19};
    return text_starts_with(name, start) && text_ends_with(name, TEXT(")")) &&
           text_to_u64(text_part(name, start.size, name.size - start.size - 1), number);
}

/* ---- the plan's nodes ---- */

/* True when one of the node's counters was counted by the stage. */
static bool counts_in(const struct sql_plans *plans, const struct plan_node *node, uint32_t stage)
{
    for (size_t i = 0; i < plans->stage_counter_count; i++) {
        if (plans->stage_counters[i].stage != stage)
            continue;
        for (uint32_t j = 0; j < node->counter_count; j++)
            if (plans->counters[node->first_counter + j].id == plans->stage_counters[i].id)
                return true;
    }
    return false;
}

/* Subqueries may use a number again: then the one that the stage counted for is meant. */
static uint32_t find_codegen(const struct application *application, const struct sql_execution *sql,
                             uint32_t stage, uint64_t wanted)
{
    const struct sql_plans *plans = &application->plans;
    uint32_t found = NO_NODE;
    for (uint32_t i = sql->first_node; i < sql->first_node + sql->node_count; i++) {
        uint64_t number;
        if (!is_codegen(application_text(application, plans->nodes[i].name), &number) || number != wanted)
            continue;
        if (found != NO_NODE && !counts_in(plans, &plans->nodes[i], stage))
            continue;
        found = i;
    }
    return found;
}

static bool has_prefix(struct text_view method, struct text_view prefix)
{
    return text_starts_with(method, prefix) && method.size > prefix.size && method.data[prefix.size] == '_';
}

static bool equals_small(struct text_view name, struct text_view small)
{
    size_t used = 0;
    for (size_t i = 0; i < name.size && name.data[i] != ' '; i++) {
        char byte = name.data[i];
        if (used == small.size ||
            small.data[used++] != (byte >= 'A' && byte <= 'Z' ? (char)(byte | 0x20) : byte))
            return false;
    }
    return used == small.size;
}

static const struct {
    struct text_view name, prefix;
} prefixes[] = {
#define OPERATOR_PREFIX(name, prefix) {{name, sizeof(name) - 1}, {prefix, sizeof(prefix) - 1}},
#include "spark/stages/operator_names.def"
#undef OPERATOR_PREFIX
};

/* Whether generated methods of this name are the operator's. */
static bool owns_method(struct text_view operator_name, struct text_view method)
{
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (text_starts_with(operator_name, prefixes[i].name) && has_prefix(method, prefixes[i].prefix))
            return true;
    size_t end = text_find_byte(method, '_');
    return end != TEXT_NOT_FOUND && end > 0 && equals_small(operator_name, text_part(method, 0, end));
}

/* The one operator of the generated code that the method belongs to; else the whole of it. */
static uint32_t find_operator(const struct application *application, const struct sql_execution *sql,
                              uint32_t codegen, struct text_view method)
{
    const struct plan_node *nodes = application->plans.nodes;
    uint32_t end = sql->first_node + sql->node_count, found = NO_NODE;
    uint32_t outside = UINT32_MAX; /* depth of what feeds the generated code */
    for (uint32_t i = codegen + 1; i < end && nodes[i].depth > nodes[codegen].depth; i++) {
        struct text_view name = application_text(application, nodes[i].name);
        if (nodes[i].depth > outside)
            continue;
        outside = text_equal(name, TEXT("InputAdapter")) ? nodes[i].depth : UINT32_MAX;
        if (!owns_method(name, method))
            continue;
        if (found != NO_NODE)
            return codegen;
        found = i;
    }
    return found == NO_NODE ? codegen : found;
}

/* The generated code that a node is part of; NO_NODE: none. */
static uint32_t codegen_of(const struct application *application, uint32_t node, uint64_t *number)
{
    const struct plan_node *nodes = application->plans.nodes;
    for (; node != NO_NODE; node = nodes[node].parent) {
        struct text_view name = application_text(application, nodes[node].name);
        if (is_codegen(name, number))
            return node;
        if (text_equal(name, TEXT("InputAdapter")))
            return NO_NODE;
    }
    return NO_NODE;
}

static void write_prefixes(struct text_view name, struct output *output)
{
    output_byte(output, '(');
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        if (!text_starts_with(name, prefixes[i].name))
            continue;
        output_text(output, prefixes[i].prefix);
        output_byte(output, '|');
    }
    for (size_t i = 0; i < name.size && name.data[i] != ' '; i++) {
        char small = name.data[i] >= 'A' && name.data[i] <= 'Z' ? (char)(name.data[i] | 0x20) : name.data[i];
        if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9'))
            output_byte(output, small);
    }
    output_c_string(output, ")_");
}

void sql_operators_write_code(const struct application *application, uint32_t node, struct output *output)
{
    uint64_t number;
    uint32_t codegen = codegen_of(application, node, &number);
    if (codegen == NO_NODE) {
        output_c_string(output, "null");
        return;
    }
    output_format(output, "\"GeneratedIteratorForCodegenStage%" PRIu64 "\\\\.", number);
    if (codegen != node)
        write_prefixes(application_text(application, application->plans.nodes[node].name), output);
    output_byte(output, '"');
}

/* ---- samples ---- */

struct stage_sums {
    const struct application *application;
    const struct profile *profile;
    const struct sql_execution *sql;
    uint32_t stage;      /* number in application.stages */
    struct id_map nodes; /* frame to node, for this stage; NO_NODE + 1 is none */
};

static uint32_t node_of_frame(struct stage_sums *sums, uint32_t frame)
{
    struct generated_place place;
    uint32_t *known = id_map_place(&sums->nodes, frame);
    if (known != NULL && *known != NO_ID)
        return *known - 1;
    uint32_t node = NO_NODE;
    const struct profile *profile = sums->profile;
    if (place_in(profile_text(profile, profile->frames.frames[frame].name), &place)) {
        node = find_codegen(sums->application, sums->sql, sums->stage, place.codegen);
        if (node != NO_NODE)
            node = find_operator(sums->application, sums->sql, node, place.method);
    }
    if (known != NULL)
        *known = node + 1;
    return node;
}

/* The operator of the innermost generated frame. */
static uint32_t node_of_stack(struct stage_sums *sums, uint32_t stack)
{
    const struct stack_tree *tree = &sums->profile->stacks;
    for (uint32_t at = stack; at != STACK_ROOT; at = tree->nodes[at].parent) {
        uint32_t node = node_of_frame(sums, tree->nodes[at].frame);
        if (node != NO_NODE)
            return node;
    }
    return NO_NODE;
}

static bool add_samples(struct sql_operators *operators, struct sql_operators_item *item, uint32_t node,
                        double count)
{
    for (size_t i = item->first_row; i < item->first_row + item->row_count; i++) {
        if (operators->rows[i].node == node) {
            operators->rows[i].samples += count;
            return true;
        }
    }
    if (!array_reserve(&operators->rows, &operators->row_capacity, operators->row_count + 1, UINT32_MAX))
        return false;
    operators->rows[operators->row_count++] = (struct operator_row){node, count};
    item->row_count++;
    return true;
}

static int compare_rows(const void *left, const void *right)
{
    const struct operator_row *a = left, *b = right;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* The query that a stage ran for; NULL: none. */
static const struct sql_execution *query_of(const struct application *application, const struct stage *stage)
{
    uint32_t first = id_map_get(&application->stage_numbers, application_stage_key(stage->id, 0));
    if (stage->job < 0 && first != NO_ID)
        stage = &application->stages[first];
    uint32_t job = id_map_get(&application->job_numbers, (uint64_t)stage->job);
    if (stage->job < 0 || job == NO_ID || application->jobs[job].sql_execution < 0)
        return NULL;
    uint32_t sql = id_map_get(&application->sql_numbers, (uint64_t)application->jobs[job].sql_execution);
    return sql == NO_ID || application->sqls[sql].node_count == 0 ? NULL : &application->sqls[sql];
}

static bool sum_up_stage(struct sql_operators *operators, struct stage_sums *sums,
                         const struct stage_stacks *stacks, size_t begin, size_t end)
{
    if (!array_reserve(&operators->items, &operators->capacity, operators->size + 1, UINT32_MAX))
        return false;
    struct sql_operators_item *item = &operators->items[operators->size++];
    *item = (struct sql_operators_item){.stage = stacks->items[begin].stage,
                                        .attempt = stacks->items[begin].attempt,
                                        .sql = (uint32_t)(sums->sql - sums->application->sqls),
                                        .first_row = operators->row_count};
    id_map_clear(&sums->nodes);
    for (size_t i = begin; i < end; i++)
        if (!add_samples(operators, item, node_of_stack(sums, stacks->items[i].stack),
                         stacks->items[i].count))
            return false;
    qsort(operators->rows + item->first_row, item->row_count, sizeof(*operators->rows), compare_rows);
    return true;
}

/* ---- stages of nodes ---- */

static int compare_node_stages(const void *left, const void *right)
{
    const struct node_stage *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* Counters' ids to nodes, of the last plan of each query. */
static bool map_counters(const struct application *application, struct id_map *nodes)
{
    const struct sql_plans *plans = &application->plans;
    for (size_t i = 0; i < application->sql_count; i++) {
        const struct sql_execution *sql = &application->sqls[i];
        for (uint32_t node = sql->first_node; node < sql->first_node + sql->node_count; node++)
            for (uint32_t j = 0; j < plans->nodes[node].counter_count; j++)
                if (!id_map_set(nodes, (uint64_t)plans->counters[plans->nodes[node].first_counter + j].id,
                                node))
                    return false;
    }
    return true;
}

static bool find_node_stages(struct sql_operators *operators, const struct application *application)
{
    const struct sql_plans *plans = &application->plans;
    struct id_map nodes;
    id_map_init(&nodes);
    operators->node_stages = calloc(plans->stage_counter_count + 1, sizeof(*operators->node_stages));
    bool good = operators->node_stages != NULL && map_counters(application, &nodes);
    size_t count = 0, kept = 0;
    for (size_t i = 0; good && i < plans->stage_counter_count; i++) {
        uint32_t node = id_map_get(&nodes, (uint64_t)plans->stage_counters[i].id);
        if (node != NO_ID && plans->stage_counters[i].stage != NO_COUNTER_STAGE)
            operators->node_stages[count++] = (struct node_stage){node, plans->stage_counters[i].stage};
    }
    if (count > 0)
        qsort(operators->node_stages, count, sizeof(*operators->node_stages), compare_node_stages);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 ||
            compare_node_stages(&operators->node_stages[kept - 1], &operators->node_stages[i]) != 0)
            operators->node_stages[kept++] = operators->node_stages[i];
    operators->node_stage_count = kept;
    id_map_release(&nodes);
    return good;
}

size_t sql_operators_stages(const struct sql_operators *operators, uint32_t node)
{
    size_t at = LOWER_BOUND(operators->node_stages, operators->node_stage_count, node, node);
    bool is_there = at < operators->node_stage_count && operators->node_stages[at].node == node;
    return is_there ? at : operators->node_stage_count;
}

/* ---- all ---- */

bool sql_operators_init(struct sql_operators *operators, const struct application *application,
                        const struct stage_stacks *stacks, struct error *error)
{
    *operators = (struct sql_operators){.items = NULL};
    struct stage_sums sums = {.application = application, .profile = stacks->profile};
    bool good = find_node_stages(operators, application);
    id_map_init(&sums.nodes);
    for (size_t begin = 0, end; begin < stacks->size && good; begin = end) {
        const struct stage_stack *first = &stacks->items[begin];
        end = stage_stacks_end(stacks, begin);
        sums.stage =
            id_map_get(&application->stage_numbers, application_stage_key(first->stage, first->attempt));
        sums.sql = sums.stage == NO_ID ? NULL : query_of(application, &application->stages[sums.stage]);
        if (sums.sql != NULL)
            good = sum_up_stage(operators, &sums, stacks, begin, end);
    }
    id_map_release(&sums.nodes);
    if (good)
        return true;
    sql_operators_release(operators);
    return error_set_memory(error);
}

void sql_operators_release(struct sql_operators *operators)
{
    free(operators->items);
    free(operators->rows);
    free(operators->node_stages);
    *operators = (struct sql_operators){.items = NULL};
}

double sql_operators_samples(const struct sql_operators *operators, uint32_t node)
{
    double samples = 0;
    for (size_t i = 0; i < operators->row_count; i++)
        samples += operators->rows[i].node == node ? operators->rows[i].samples : 0;
    return samples;
}

void sql_operators_write_json(const struct sql_operators *operators, const struct application *application,
                              struct output *output)
{
    output_byte(output, '[');
    for (size_t i = 0; i < operators->size; i++) {
        const struct sql_operators_item *item = &operators->items[i];
        const struct sql_execution *sql = &application->sqls[item->sql];
        output_format(
            output, "%s\n{\"stage\":%" PRId64 ",\"attempt\":%" PRId64 ",\"sql\":%" PRId64 ",\"operators\":[",
            i == 0 ? "" : ",", item->stage, item->attempt, sql->id);
        for (size_t j = item->first_row; j < item->first_row + item->row_count; j++) {
            output_c_string(output, j == item->first_row ? "{\"operator\":" : ",{\"operator\":");
            if (operators->rows[j].node == NO_NODE)
                output_c_string(output, "null");
            else
                output_i64(output, (int64_t)operators->rows[j].node - sql->first_node);
            output_format(output, ",\"samples\":%.17g}", operators->rows[j].samples);
        }
        output_c_string(output, "]}");
    }
    output_byte(output, ']');
}
