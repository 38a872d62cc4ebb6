/*
 * advice_plans.c - rules that look at the operators of SQL plans. A plan is what Spark ran last: that of adaptive
 * execution once it is final. Savings are estimates: Spark measures stages, not operators.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "spark/advice/advice_rule.h"

#define MAX_FINDINGS 100 /* of one rule */
#define MAX_PAIRS 1e7
#define MAX_BROADCAST (100 * MEBIBYTE)
#define MIN_SHUFFLE (32 * MEBIBYTE)
#define MIN_ROWS 1000000
#define MIN_READ (64 * MEBIBYTE)

/* An operator of a query. */
struct plan_case {
    const struct advice_case *it;
    const struct application *application;
    const struct sql_execution *sql;
    uint32_t number; /* in application.plans.nodes */
    const struct plan_node *node;
};

typedef bool plan_check(const struct plan_case *plan, struct advice_item *item);

/* ---- operators ---- */

static struct text_view name_of(const struct plan_case *plan, uint32_t number)
{
    return application_text(plan->application, plan->application->plans.nodes[number].name);
}

static struct text_view detail_of(const struct plan_case *plan)
{
    return application_text(plan->application, plan->node->detail);
}

static uint32_t end_of(const struct plan_case *plan)
{
    return plan->sql->first_node + plan->sql->node_count;
}

static bool is_cached_plan(struct text_view name)
{
    return text_equal(name, TEXT("InMemoryTableScan")) ||
           text_starts_with(name, TEXT("Scan In-memory table"));
}

/* The next operator that the query itself ran. What stands below a reused one ran elsewhere in the plan, and what
 * stands below a cache in the query that filled it. */
static uint32_t next_own(const struct plan_case *plan, uint32_t number, bool enters_caches)
{
    const struct plan_node *nodes = plan->application->plans.nodes;
    struct text_view name = name_of(plan, number);
    bool is_reused = text_equal(name, TEXT("ReusedExchange")) || text_equal(name, TEXT("ReusedSubquery"));
    uint32_t next = number + 1;
    if (is_reused || (!enters_caches && is_cached_plan(name)))
        while (next < end_of(plan) && nodes[next].depth > nodes[number].depth)
            next++;
    return next;
}

/* The index-th child; NO_NODE: there is none. */
static uint32_t child_of(const struct plan_case *plan, uint32_t number, size_t index)
{
    const struct plan_node *nodes = plan->application->plans.nodes;
    for (uint32_t i = number + 1; i < end_of(plan) && nodes[i].depth > nodes[number].depth; i++)
        if (nodes[i].parent == number && index-- == 0)
            return i;
    return NO_NODE;
}

/* A counter's value; -1: it was not counted. */
static double value_of(const struct plan_case *plan, uint32_t number, const char *name)
{
    const struct sql_plans *plans = &plan->application->plans;
    const struct plan_node *node = &plans->nodes[number];
    for (uint32_t i = 0; i < node->counter_count; i++) {
        const struct plan_counter *counter = &plans->counters[node->first_counter + i];
        int64_t value;
        if (text_equal(application_text(plan->application, counter->name), text_of(name)) &&
            sql_plans_value(plans, counter->id, &value))
            return (double)value;
    }
    return -1;
}

/* A counter of the operator, or of the nearest below it that has one, as long as there is one child each. */
static double value_below(const struct plan_case *plan, uint32_t number, const char *name)
{
    while (number != NO_NODE) {
        double value = value_of(plan, number, name);
        if (value >= 0)
            return value;
        if (child_of(plan, number, 1) != NO_NODE)
            return -1;
        number = child_of(plan, number, 0);
    }
    return -1;
}

static double rows_below(const struct plan_case *plan, uint32_t number)
{
    return value_below(plan, number, "number of output rows");
}

static bool is_named(const struct plan_case *plan, const char *name)
{
    return text_equal(name_of(plan, plan->number), text_of(name));
}

static bool has(struct text_view text, const char *part)
{
    return text_find(text, text_of(part)) != TEXT_NOT_FOUND;
}

/* What stands in the brackets behind a key of an operator's description: "PushedFilters: [IsNotNull(s)]". */
static struct text_view list_of(struct text_view detail, const char *key)
{
    size_t at = text_find(detail, text_of(key)), depth = 0;
    struct text_view rest = at == TEXT_NOT_FOUND ? TEXT("") : text_from(detail, at + strlen(key));
    for (size_t i = 0; i < rest.size; i++) {
        depth += rest.data[i] == '[';
        if (rest.data[i] == ']' && --depth == 0)
            return text_part(rest, 1, i - 1);
        if (depth == 0)
            break;
    }
    return rest.size > 0 && rest.data[0] == '[' ? text_from(rest, 1) : TEXT("");
}

/* Spark cuts long lists (spark.sql.maxMetadataStringLength): then the bracket is not closed. */
static bool is_cut(struct text_view detail, struct text_view list)
{
    return list.size > 0 && list.data + list.size == detail.data + detail.size;
}

/* ---- queries ---- */

/* The longest stage of the query's jobs. */
static int64_t longest_stage_ms(const struct plan_case *plan)
{
    const struct application *application = plan->application;
    int64_t longest_ms = 0;
    for (size_t i = 0; i < application->stage_count; i++) {
        const struct stage *stage = &application->stages[i];
        uint32_t job = id_map_get(&application->job_numbers, (uint64_t)stage->job);
        int64_t ms = span_ms(stage->submitted_ms, stage->completed_ms);
        if (job != NO_ID && application->jobs[job].sql_execution == plan->sql->id && ms != NO_MS)
            longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    return longest_ms;
}

static void save_part(const struct plan_case *plan, struct advice_item *item, enum advice_certainty certainty,
                      double part)
{
    char how[sizeof(item->how)];
    snprintf(how, sizeof(how), "estimated: %.0f %% of the query's longest stage", 100 * part);
    advice_save(plan->it, item, certainty, (int64_t)(part * (double)longest_stage_ms(plan)), how);
}

/* The item-th operator of all queries for which the check speaks; of a query, the first. */
static bool find_in_plans(const struct advice_case *it, struct advice_item *item, plan_check *check,
                          bool enters_caches)
{
    size_t left = it->number;
    if (left >= MAX_FINDINGS)
        return false;
    for (size_t i = 0; i < it->application->sql_count; i++) {
        struct plan_case plan = {.it = it, .application = it->application, .sql = &it->application->sqls[i]};
        for (plan.number = plan.sql->first_node; plan.number < end_of(&plan);
             plan.number = next_own(&plan, plan.number, enters_caches)) {
            plan.node = &it->application->plans.nodes[plan.number];
            if (!check(&plan, item))
                continue;
            if (left-- > 0)
                break;
            item->sql = plan.sql->id;
            snprintf(item->place, sizeof(item->place), "SQL execution %" PRId64, plan.sql->id);
            return true;
        }
    }
    return false;
}

/* ---- joins ---- */

struct join_rows {
    double left, right, out;
};

static struct join_rows rows_of_join(const struct plan_case *plan)
{
    return (struct join_rows){rows_below(plan, child_of(plan, plan->number, 0)),
                              rows_below(plan, child_of(plan, plan->number, 1)),
                              value_of(plan, plan->number, "number of output rows")};
}

/* Every row of one side is compared with every row of the other. */
static bool compares_all(const struct plan_case *plan, const char *name, struct advice_item *item)
{
    if (!is_named(plan, name))
        return false;
    struct join_rows rows = rows_of_join(plan);
    if (rows.left < 2 || rows.right < 2 || rows.left * rows.right < MAX_PAIRS)
        return false;
    save_part(plan, item, CERTAINTY_MEDIUM, 0.8);
    advice_say(item, "query %" PRId64 " compares each of %.0f rows with each of %.0f (%s)", plan->sql->id,
               rows.left, rows.right, name);
    return true;
}

static bool is_nested_loop(const struct plan_case *plan, struct advice_item *item)
{
    if (!compares_all(plan, "BroadcastNestedLoopJoin", item))
        return false;
    advice_propose(
        item, "give the join a condition with equality: split conditions with OR into a UNION of joins, put "
              "ranges into buckets and join on those, too");
    return true;
}

static bool is_cartesian(const struct plan_case *plan, struct advice_item *item)
{
    if (!compares_all(plan, "CartesianProduct", item))
        return false;
    advice_propose(item,
                   "add the missing join condition; if all pairs are wanted, broadcast the smaller side and "
                   "filter both before");
    return true;
}

/* Whether a side can be broadcast depends on the kind of join. */
static bool may_broadcast(struct text_view detail, bool is_left)
{
    static const char *const lefts[] = {", Inner", ", RightOuter", ", Cross"};
    static const char *const rights[] = {", Inner", ", LeftOuter", ", LeftSemi", ", LeftAnti", ", Cross"};
    const char *const *kinds = is_left ? lefts : rights;
    for (size_t i = 0; i < (is_left ? COUNT_OF(lefts) : COUNT_OF(rights)); i++)
        if (has(detail, kinds[i]))
            return true;
    return false;
}

static bool misses_broadcast(const struct plan_case *plan, struct advice_item *item)
{
    if (!is_named(plan, "SortMergeJoin") && !is_named(plan, "ShuffledHashJoin"))
        return false;
    double left = value_below(plan, child_of(plan, plan->number, 0), "data size");
    double right = value_below(plan, child_of(plan, plan->number, 1), "data size");
    bool is_left = left < right;
    double small = is_left ? left : right, large = is_left ? right : left;
    if (small < 0 || small > MAX_BROADCAST || large < MIN_SHUFFLE || large < 10 * small ||
        !may_broadcast(detail_of(plan), is_left))
        return false;
    save_part(plan, item, CERTAINTY_MEDIUM, 0.5);
    bool is_tiny = small < MEBIBYTE;
    advice_say(item,
               "query %" PRId64
               " shuffles and sorts %.0f MiB to join it with %.0f %s, which would fit into each executor",
               plan->sql->id, large / MEBIBYTE, is_tiny ? small / 1024 : small / MEBIBYTE,
               is_tiny ? "KiB" : "MiB");
    advice_propose(item,
                   "broadcast the smaller side: broadcast() or the hint BROADCAST, a larger "
                   "spark.sql.autoBroadcastJoinThreshold, statistics (ANALYZE TABLE), or adaptive execution");
    return true;
}

static bool explodes(const struct plan_case *plan, struct advice_item *item)
{
    if (!text_ends_with(name_of(plan, plan->number), TEXT("Join")))
        return false;
    struct join_rows rows = rows_of_join(plan);
    double larger = rows.left > rows.right ? rows.left : rows.right;
    if (rows.left < 0 || rows.right < 0 || rows.out < 10 * MIN_ROWS || rows.out < 10 * larger)
        return false;
    save_part(plan, item, CERTAINTY_LOW, 0.5);
    advice_say(item, "a join of query %" PRId64 " makes %.0f rows of %.0f and %.0f", plan->sql->id, rows.out,
               rows.left, rows.right);
    advice_propose(item,
                   "check the keys: duplicates on both sides multiply. Join on the whole key, aggregate or "
                   "remove duplicates before the join, or use a semi join if only existence counts");
    return true;
}

/* ---- windows, shuffles ---- */

/* "Window [functions], [order]": with a partition there are three lists. */
static bool is_global_window(const struct plan_case *plan, struct advice_item *item)
{
    uint32_t child = child_of(plan, plan->number, 0);
    bool is_single = false;
    if (!is_named(plan, "Window"))
        return false;
    for (uint32_t i = child; i != NO_NODE && !is_single; i = child_of(plan, i, 0)) {
        struct text_view detail =
            application_text(plan->application, plan->application->plans.nodes[i].detail);
        is_single = text_starts_with(detail, TEXT("Exchange SinglePartition"));
        if (text_starts_with(detail, TEXT("Exchange ")) || child_of(plan, i, 1) != NO_NODE)
            break;
    }
    double rows = rows_below(plan, child);
    if (!is_single || rows < MIN_ROWS)
        return false;
    save_part(plan, item, CERTAINTY_MEDIUM, 0.7);
    advice_say(item, "a window of query %" PRId64 " without PARTITION BY puts all %.0f rows into one task",
               plan->sql->id, rows);
    advice_propose(item, "give the window a partition; for a running number, zipWithIndex() or "
                         "monotonically_increasing_id(); for the top rows, ORDER BY with LIMIT");
    return true;
}

static bool lacks_adaptive(const struct plan_case *plan, struct advice_item *item)
{
    if (plan->number != plan->sql->first_node)
        return false;
    double shuffled = 0;
    for (uint32_t i = plan->number; i < end_of(plan); i++) {
        double bytes = text_equal(name_of(plan, i), TEXT("Exchange")) ? value_of(plan, i, "data size") : 0;
        shuffled += bytes > 0 ? bytes : 0;
        if (text_equal(name_of(plan, i), TEXT("AdaptiveSparkPlan")))
            return false;
    }
    struct text_view version = application_text(plan->application, plan->application->spark_version);
    if (shuffled < MIN_SHUFFLE || version.size == 0 || version.data[0] < '3')
        return false;
    save_part(plan, item, CERTAINTY_LOW, 0.2);
    advice_say(item, "query %" PRId64 " shuffled %.0f MiB without adaptive execution", plan->sql->id,
               shuffled / MEBIBYTE);
    advice_propose(
        item, "set spark.sql.adaptive.enabled to true: it joins small partitions, splits skewed ones, and "
              "broadcasts what turns out to be small");
    return true;
}

/* ---- scans ---- */

static bool is_file_scan(const struct plan_case *plan, uint32_t number)
{
    struct text_view name = name_of(plan, number);
    return text_starts_with(name, TEXT("Scan parquet")) || text_starts_with(name, TEXT("Scan orc"));
}

/* The first condition besides isnotnull(…) in a list of them; empty: none. */
static bool has_condition(struct text_view list, struct text_view not_null)
{
    size_t depth = 0, from = 0;
    for (size_t i = 0; i <= list.size; i++) {
        bool is_end = i == list.size || (list.data[i] == ',' && depth == 0);
        if (!is_end) {
            depth += list.data[i] == '(';
            depth -= list.data[i] == ')' && depth > 0;
            continue;
        }
        struct text_view part = text_trim(text_part(list, from, i - from));
        if (part.size > 0 && !text_starts_with(part, not_null))
            return true;
        from = i + 1;
    }
    return false;
}

static bool is_not_pushed(const struct plan_case *plan, struct advice_item *item)
{
    if (!is_file_scan(plan, plan->number))
        return false;
    struct text_view detail = detail_of(plan);
    double rows = value_of(plan, plan->number, "number of output rows");
    uint32_t above = plan->node->parent;
    while (above != NO_NODE && (value_of(plan, above, "number of output rows") < 0 ||
                                text_equal(name_of(plan, above), TEXT("ColumnarToRow"))))
        above = plan->application->plans.nodes[above].parent;
    bool is_filter = above != NO_NODE && text_equal(name_of(plan, above), TEXT("Filter"));
    double kept = is_filter ? value_of(plan, above, "number of output rows") : rows;
    struct text_view filters = list_of(detail, "DataFilters: "), pushed = list_of(detail, "PushedFilters: ");
    if (is_cut(detail, filters) || is_cut(detail, pushed) || !has_condition(filters, TEXT("isnotnull(")) ||
        has_condition(pushed, TEXT("IsNotNull(")) || rows < MIN_ROWS || kept > 0.1 * rows)
        return false;
    save_part(plan, item, CERTAINTY_LOW, 0.5);
    struct text_view condition = text_part(filters, 0, 80);
    advice_say(item,
               "query %" PRId64
               " reads %.0f rows and keeps %.0f: its filter is not pushed down to the files (%.*s)",
               plan->sql->id, rows, kept, TEXT_FORMAT(condition));
    advice_propose(
        item, "compare the column as it is stored: no cast, function or UDF around it, literals of its type; "
              "then files and row groups without matches are skipped");
    return true;
}

static struct text_view location_of(const struct plan_case *plan, uint32_t number)
{
    const struct plan_node *node = &plan->application->plans.nodes[number];
    return list_of(application_text(plan->application, node->detail), "paths)");
}

/* True if both scans read the same partitions of the same place. */
static bool reads_the_same(const struct plan_case *plan, uint32_t one, uint32_t other)
{
    const struct application *application = plan->application;
    struct text_view detail = application_text(application, application->plans.nodes[one].detail);
    struct text_view another = application_text(application, application->plans.nodes[other].detail);
    struct text_view partitions = list_of(detail, "PartitionFilters: ");
    return text_equal(location_of(plan, one), location_of(plan, other)) && !is_cut(detail, partitions) &&
           text_equal(partitions, list_of(another, "PartitionFilters: "));
}

/* Speaks at the first scan of a place, with the bytes that others of the query read of it again. */
static bool is_repeated(const struct plan_case *plan, struct advice_item *item)
{
    if (!is_file_scan(plan, plan->number))
        return false;
    struct text_view location = location_of(plan, plan->number);
    double again = 0;
    size_t times = 1;
    for (uint32_t i = plan->sql->first_node; i < end_of(plan) && location.size > 0;
         i = next_own(plan, i, false)) {
        if (i == plan->number || !is_file_scan(plan, i) || !reads_the_same(plan, plan->number, i))
            continue;
        if (i < plan->number)
            return false;
        double bytes = value_of(plan, i, "size of files read");
        again += bytes > 0 ? bytes : 0;
        times++;
    }
    if (again < MIN_READ)
        return false;
    save_part(plan, item, CERTAINTY_LOW, 0.3);
    location = text_part(location, 0, 100);
    advice_say(item, "query %" PRId64 " reads the same files %zu times, %.0f MiB more than once: %.*s",
               plan->sql->id, times, again / MEBIBYTE, TEXT_FORMAT(location));
    advice_propose(
        item,
        "read them once: one pass with conditional aggregates (CASE WHEN, FILTER) instead of a UNION or "
        "join of parts, or cache() what the parts share");
    return true;
}

/* ---- caches ---- */

/* What identifies a cached plan: its operators, and their counters, are those of the query that filled it. */
static int64_t cache_id(const struct plan_case *plan, uint32_t number)
{
    const struct sql_plans *plans = &plan->application->plans;
    uint32_t child = child_of(plan, number, 0);
    while (child != NO_NODE && plans->nodes[child].counter_count == 0)
        child = child_of(plan, child, 0);
    return child == NO_NODE ? -1 : plans->counters[plans->nodes[child].first_counter].id;
}

static bool is_cached_once(const struct plan_case *plan, struct advice_item *item)
{
    const struct application *application = plan->application;
    if (!is_named(plan, "InMemoryTableScan"))
        return false;
    int64_t id = cache_id(plan, plan->number);
    size_t readers = 0;
    for (size_t i = 0; i < application->sql_count && readers < 2; i++) {
        struct plan_case other = *plan;
        other.sql = &application->sqls[i];
        for (uint32_t j = other.sql->first_node; j < end_of(&other) && readers < 2; j++)
            readers += text_equal(name_of(&other, j), TEXT("InMemoryTableScan")) && cache_id(&other, j) == id;
    }
    if (id < 0 || readers != 1)
        return false;
    save_part(plan, item, CERTAINTY_LOW, 0.1);
    advice_say(item, "query %" PRId64 " is the only one that reads a table that was cached for it",
               plan->sql->id);
    advice_propose(
        item, "leave out cache() where a result is used once: it takes memory from tasks and time to fill; "
              "unpersist() when the last reader is done");
    return true;
}

/* ---- the rules ---- */

#define PLAN_RULE(name, check, enters_caches)                         \
    bool name(const struct advice_case *it, struct advice_item *item) \
    {                                                                 \
        return find_in_plans(it, item, check, enters_caches);         \
    }

PLAN_RULE(advice_find_nested_loop, is_nested_loop, false)
PLAN_RULE(advice_find_cartesian, is_cartesian, false)
PLAN_RULE(advice_find_missed_broadcast, misses_broadcast, false)
PLAN_RULE(advice_find_exploding_join, explodes, false)
PLAN_RULE(advice_find_global_window, is_global_window, false)
PLAN_RULE(advice_find_no_pushdown, is_not_pushed, false)
PLAN_RULE(advice_find_aqe_off, lacks_adaptive, false)
PLAN_RULE(advice_find_repeated_scans, is_repeated, false)
PLAN_RULE(advice_find_cached_once, is_cached_once, true)
