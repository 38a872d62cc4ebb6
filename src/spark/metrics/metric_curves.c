#include "spark/metrics/metric_curves.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_text.h"

#define PART_LIMIT 64
#define MOST_BUCKETS 1000
#define LEAST_BUCKETS 20

enum rule { LEVEL, RATE, SHARE_OF_PROCESSORS };

static const struct curve_kind {
    const char *name;
    const char *unit;
    enum rule rule;
    double factor;
    const char *role;
    const char *metrics[2];
} kinds[] = {
#define CURVE(name, unit, rule, factor, role, metric, other) \
    {name, unit, rule, factor, role, {metric, other}},
#include "spark/metrics/metric_curves.def"
#undef CURVE
};

#define KIND_COUNT (sizeof(kinds) / sizeof(*kinds))

/* Points of all parts of a number, in order of time. */
struct step {
    int64_t time_ms;
    uint32_t part;
    double value;
};

struct steps {
    struct step *items;
    size_t size, capacity;
    uint32_t part_count;
};

static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    return (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms);
}

static bool is_metric(const struct metrics *metrics, const struct metric_series *series, const char *name)
{
    return name != NULL && text_equal(string_table_text(&metrics->strings, series->metric), text_of(name));
}

/* Series [first, end) are those of one process. */
static bool collect(const struct metrics *metrics, size_t first, size_t end, const struct curve_kind *kind,
                    struct steps *steps)
{
    steps->size = steps->part_count = 0;
    for (size_t i = first; i < end && steps->part_count < PART_LIMIT; i++) {
        const struct metric_series *series = &metrics->series[i];
        if (!is_metric(metrics, series, kind->metrics[0]) && !is_metric(metrics, series, kind->metrics[1]))
            continue;
        if (!array_reserve(&steps->items, &steps->capacity, steps->size + series->size, SIZE_MAX / 64))
            return false;
        for (size_t j = 0; j < series->size; j++)
            steps->items[steps->size++] =
                (struct step){series->points[j].time_ms, steps->part_count, series->points[j].value};
        steps->part_count++;
    }
    if (steps->part_count > 1)
        qsort(steps->items, steps->size, sizeof(*steps->items), compare_steps);
    return true;
}

static bool add_point(struct metric_curve *curve, int64_t time_ms, double value)
{
    if (!array_reserve(&curve->points, &curve->capacity, curve->size + 1, METRICS_POINT_LIMIT))
        return false;
    curve->points[curve->size++] = (struct metric_point){time_ms, value};
    return true;
}

/* The sum of all parts at each moment, from when all are known. */
static bool add_up(const struct steps *steps, struct metric_curve *curve)
{
    double values[PART_LIMIT] = {0};
    bool known[PART_LIMIT] = {false};
    uint32_t known_count = 0;
    for (size_t i = 0; i < steps->size; i++) {
        const struct step *step = &steps->items[i];
        known_count += !known[step->part];
        known[step->part] = true;
        values[step->part] = step->value;
        bool is_last_of_moment = i + 1 == steps->size || steps->items[i + 1].time_ms != step->time_ms;
        double sum = 0;
        for (uint32_t part = 0; part < steps->part_count; part++)
            sum += values[part];
        if (is_last_of_moment && known_count == steps->part_count && !add_point(curve, step->time_ms, sum))
            return false;
    }
    return true;
}

/* Counters that restart, as after a restart of the process, make a gap. */
static void make_rates(struct metric_curve *curve, double factor)
{
    size_t kept = 0;
    struct metric_point last = curve->size > 0 ? curve->points[0] : (struct metric_point){0};
    for (size_t i = 1; i < curve->size; i++) {
        struct metric_point point = curve->points[i];
        double gained = (point.value - last.value) * factor / (double)(point.time_ms - last.time_ms);
        if (point.value >= last.value)
            curve->points[kept++] = (struct metric_point){point.time_ms, gained};
        last = point;
    }
    curve->size = kept;
}

static double processors(const struct metrics *metrics, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (is_metric(metrics, &metrics->series[i], "processors"))
            return metrics->series[i].most;
    return 0;
}

/* Keeps the least and the most of each span of time. */
static void thin_out(struct metric_curve *curve, size_t buckets)
{
    if (curve->size <= buckets * 2)
        return;
    int64_t start_ms = curve->points[0].time_ms;
    double span_ms = (double)(curve->points[curve->size - 1].time_ms - start_ms) + 1;
    size_t kept = 0;
    for (size_t i = 0; i < curve->size;) {
        size_t bucket = (size_t)((double)(curve->points[i].time_ms - start_ms) / span_ms * (double)buckets);
        size_t least = i, most = i;
        for (; i < curve->size &&
               (size_t)((double)(curve->points[i].time_ms - start_ms) / span_ms * (double)buckets) == bucket;
             i++) {
            least = curve->points[i].value < curve->points[least].value ? i : least;
            most = curve->points[i].value > curve->points[most].value ? i : most;
        }
        struct metric_point first = curve->points[least < most ? least : most],
                            second = curve->points[least < most ? most : least];
        curve->points[kept++] = first;
        if (least != most)
            curve->points[kept++] = second;
    }
    curve->size = kept;
}

static bool has_role(const struct metrics *metrics, const struct metric_series *series, const char *role)
{
    struct text_view own = string_table_text(&metrics->strings, series->role);
    return role == NULL ? !text_equal(own, TEXT("python")) : text_equal(own, text_of(role));
}

static bool has_curve(const struct metric_curves *curves, const char *name, uint32_t process)
{
    const struct metric_curve *last = curves->size == 0 ? NULL : &curves->curves[curves->size - 1];
    return last != NULL && last->process == process && strcmp(last->name, name) == 0;
}

static bool make_curve(struct metric_curves *curves, size_t first, size_t end, const struct curve_kind *kind,
                       struct steps *steps)
{
    const struct metric_series *one = &curves->metrics->series[first];
    struct metric_curve curve = {
        .name = kind->name, .unit = kind->unit, .process = one->process, .role = one->role};
    double factor = kind->factor;
    if (!has_role(curves->metrics, one, kind->role) || has_curve(curves, kind->name, one->process))
        return true;
    if (kind->rule == SHARE_OF_PROCESSORS)
        factor *= processors(curves->metrics, first, end);
    bool good = collect(curves->metrics, first, end, kind, steps) && add_up(steps, &curve);
    if (good && kind->rule == RATE)
        make_rates(&curve, factor);
    else
        for (size_t i = 0; i < curve.size; i++)
            curve.points[i].value *= factor;
    if (good && curve.size > 0 && factor > 0) {
        good = array_reserve(&curves->curves, &curves->capacity, curves->size + 1, SIZE_MAX / 128);
        if (good) {
            curves->curves[curves->size++] = curve;
            return true;
        }
    }
    free(curve.points);
    return good;
}

bool metric_curves_init(struct metric_curves *curves, const struct metrics *metrics, struct error *error)
{
    struct steps steps = {.items = NULL};
    *curves = (struct metric_curves){.metrics = metrics};
    bool good = true;
    for (size_t first = 0, end; good && first < metrics->size; first = end) {
        for (end = first + 1;
             end < metrics->size && metrics->series[end].process == metrics->series[first].process;)
            end++;
        for (size_t i = 0; good && i < KIND_COUNT; i++)
            good = make_curve(curves, first, end, &kinds[i], &steps);
    }
    free(steps.items);
    size_t buckets = curves->size == 0 ? 0 : CURVE_POINT_LIMIT / 2 / curves->size;
    buckets = buckets > MOST_BUCKETS ? MOST_BUCKETS : buckets < LEAST_BUCKETS ? LEAST_BUCKETS : buckets;
    for (size_t i = 0; i < curves->size; i++)
        thin_out(&curves->curves[i], buckets);
    if (good)
        return true;
    metric_curves_release(curves);
    return error_set_memory(error);
}

void metric_curves_release(struct metric_curves *curves)
{
    for (size_t i = 0; i < curves->size; i++)
        free(curves->curves[i].points);
    free(curves->curves);
    *curves = (struct metric_curves){.size = 0};
}

static void write_text(const struct metric_curves *curves, uint32_t text, struct output *output)
{
    if (text == 0)
        output_c_string(output, "null");
    else
        json_text_write(output, string_table_text(&curves->metrics->strings, text));
}

void metric_curves_write_json(const struct metric_curves *curves, struct output *output)
{
    output_byte(output, '[');
    for (size_t i = 0; i < curves->size; i++) {
        const struct metric_curve *curve = &curves->curves[i];
        output_format(output, "%s\n{\"curve\":\"%s\",\"unit\":\"%s\",\"process\":", i == 0 ? "" : ",",
                      curve->name, curve->unit);
        write_text(curves, curve->process, output);
        output_c_string(output, ",\"role\":");
        write_text(curves, curve->role, output);
        output_c_string(output, ",\"points\":[");
        for (size_t j = 0; j < curve->size; j++)
            output_format(output, "%s[%" PRId64 ",%.6g]", j == 0 ? "" : ",", curve->points[j].time_ms,
                          curve->points[j].value);
        output_c_string(output, "]}");
    }
    output_byte(output, ']');
}
