#include "collector/querier_answer.h"

#include <string.h>

#include "base/json_text.h"
#include "base/output.h"
#include "collector/profile_type.h"
#include "formats/pprof/protobuf_writer.h"
#include "input/json_reader.h"

#define NAME_LIMIT_BYTES ((size_t)1 << 24)
#define PART_LIMIT_BYTES ((size_t)1 << 30)

/* ---- lists ---- */

static void add_profile_type(struct text_builder *to, struct text_view id)
{
    static const uint32_t numbers[PROFILE_TYPE_PARTS] = {2, 4, 5, 6, 7};
    struct text_view parts[PROFILE_TYPE_PARTS];
    profile_type_split(id, parts);
    protobuf_add_bytes(to, 1, id);
    for (size_t i = 0; i < PROFILE_TYPE_PARTS; i++)
        protobuf_add_bytes(to, numbers[i], parts[i]);
}

static void add_labels(struct text_builder *to, struct text_view lines)
{
    while (lines.size > 0) {
        struct text_builder pair;
        struct text_view value = text_cut(&lines, '\n');
        struct text_view name = text_cut(&value, '=');
        text_builder_init(&pair, NAME_LIMIT_BYTES);
        protobuf_add_bytes(&pair, 1, name);
        protobuf_add_bytes(&pair, 2, value);
        protobuf_add_bytes(to, 1, text_builder_view(&pair));
        text_builder_release(&pair);
    }
}

static bool add_rows(enum querier_method method, char *const rows[], size_t count, struct text_builder *to)
{
    struct text_builder part;
    text_builder_init(&part, NAME_LIMIT_BYTES);
    for (size_t i = 0; i < count; i++) {
        struct text_view row = text_of(rows[i]);
        text_builder_clear(&part);
        if (method == QUERIER_PROFILE_TYPES)
            add_profile_type(&part, row);
        else if (method == QUERIER_SERIES)
            add_labels(&part, row);
        else
            text_builder_add(&part, row);
        protobuf_add_bytes(to, method == QUERIER_SERIES ? 2 : 1, text_builder_view(&part));
    }
    bool good = !part.failed && !to->failed;
    text_builder_release(&part);
    return good;
}

static void write_member(struct output *output, const char *before, struct text_view text)
{
    output_c_string(output, before);
    json_text_write(output, text);
}

static void write_profile_type(struct output *output, struct text_view id)
{
    static const char *const names[PROFILE_TYPE_PARTS] = {
        ",\"name\":", ",\"sampleType\":", ",\"sampleUnit\":", ",\"periodType\":", ",\"periodUnit\":"};
    struct text_view parts[PROFILE_TYPE_PARTS];
    profile_type_split(id, parts);
    write_member(output, "{\"ID\":", id);
    for (size_t i = 0; i < PROFILE_TYPE_PARTS; i++)
        write_member(output, names[i], parts[i]);
    output_byte(output, '}');
}

static void write_labels(struct output *output, struct text_view lines)
{
    output_c_string(output, "\"labels\":[");
    for (size_t i = 0; lines.size > 0; i++) {
        struct text_view value = text_cut(&lines, '\n');
        struct text_view name = text_cut(&value, '=');
        write_member(output, i > 0 ? ",{\"name\":" : "{\"name\":", name);
        write_member(output, ",\"value\":", value);
        output_byte(output, '}');
    }
    output_byte(output, ']');
}

static void write_rows(enum querier_method method, char *const rows[], size_t count, struct output *output)
{
    output_c_string(output, method == QUERIER_PROFILE_TYPES ? "{\"profileTypes\":["
                            : method == QUERIER_SERIES      ? "{\"labelsSet\":["
                                                            : "{\"names\":[");
    for (size_t i = 0; i < count; i++) {
        struct text_view row = text_of(rows[i]);
        output_c_string(output, i > 0 ? "," : "");
        if (method == QUERIER_PROFILE_TYPES)
            write_profile_type(output, row);
        else if (method == QUERIER_SERIES) {
            output_byte(output, '{');
            write_labels(output, row);
            output_byte(output, '}');
        } else
            json_text_write(output, row);
    }
    output_c_string(output, "]}\n");
}

bool querier_write_rows(enum querier_method method, bool is_json, char *const rows[], size_t count,
                        struct text_builder *to, struct error *error)
{
    struct output output;
    if (!is_json)
        return add_rows(method, rows, count, to) || error_set_memory(error);
    if (!output_open_memory(&output, to, error))
        return false;
    write_rows(method, rows, count, &output);
    bool good = output_finish(&output, error);
    output_release(&output);
    return good;
}

/* ---- flame graphs ---- */

/* Fields of the message FlameGraph. */
enum graph_field { GRAPH_NAMES = 1, GRAPH_LEVELS = 2, GRAPH_TOTAL = 3, GRAPH_MAX_SELF = 4 };

/* A graph on its way from one form to the other. */
struct graph {
    struct json_reader json;
    bool is_json;
    struct output output;        /* of JSON */
    struct text_builder message; /* of protobuf */
    struct text_builder part;
};

static void take_name(struct graph *graph, size_t number)
{
    if (graph->is_json)
        write_member(&graph->output, number > 0 ? "," : "", graph->json.text);
    else
        protobuf_add_bytes(&graph->message, GRAPH_NAMES, graph->json.text);
}

static void take_number(struct graph *graph, size_t number)
{
    if (graph->is_json)
        output_format(&graph->output, number > 0 ? ",\"%lld\"" : "\"%lld\"", (long long)graph->json.integer);
    else
        protobuf_add_varint(&graph->part, (uint64_t)graph->json.integer);
}

static bool read_names(struct graph *graph, struct error *error)
{
    enum json_token token;
    if (!json_reader_expect(&graph->json, JSON_ARRAY_BEGIN, "names", error))
        return false;
    if (graph->is_json)
        output_c_string(&graph->output, "\"names\":[");
    for (size_t i = 0; (token = json_reader_next(&graph->json, error)) == JSON_TEXT; i++)
        take_name(graph, i);
    if (graph->is_json)
        output_c_string(&graph->output, "],");
    return token == JSON_ARRAY_END;
}

static bool read_level(struct graph *graph, size_t level, struct error *error)
{
    enum json_token token;
    text_builder_clear(&graph->part);
    if (graph->is_json)
        output_c_string(&graph->output, level > 0 ? ",{\"values\":[" : "{\"values\":[");
    for (size_t i = 0; (token = json_reader_next(&graph->json, error)) == JSON_NUMBER; i++)
        take_number(graph, i);
    if (graph->is_json) {
        output_c_string(&graph->output, "]}");
    } else {
        struct text_builder message;
        text_builder_init(&message, PART_LIMIT_BYTES);
        protobuf_add_bytes(&message, 1, text_builder_view(&graph->part));
        protobuf_add_bytes(&graph->message, GRAPH_LEVELS, text_builder_view(&message));
        graph->message.failed = graph->message.failed || message.failed;
        text_builder_release(&message);
    }
    return token == JSON_ARRAY_END;
}

static bool read_levels(struct graph *graph, struct error *error)
{
    enum json_token token;
    if (!json_reader_expect(&graph->json, JSON_ARRAY_BEGIN, "levels", error))
        return false;
    if (graph->is_json)
        output_c_string(&graph->output, "\"levels\":[");
    for (size_t i = 0; (token = json_reader_next(&graph->json, error)) == JSON_ARRAY_BEGIN; i++)
        if (!read_level(graph, i, error))
            return false;
    if (graph->is_json)
        output_c_string(&graph->output, "],");
    return token == JSON_ARRAY_END;
}

static bool read_sum(struct graph *graph, const char *name, enum graph_field field, struct error *error)
{
    if (!json_reader_expect(&graph->json, JSON_NUMBER, "a number", error))
        return false;
    if (graph->is_json)
        output_format(&graph->output, "\"%s\":\"%lld\"%s", name, (long long)graph->json.integer,
                      field == GRAPH_TOTAL ? "," : "");
    else
        protobuf_add_number(&graph->message, field, (uint64_t)graph->json.integer);
    return true;
}

/* The members of "flamebearer" come in the order in which our writer has them. */
static bool read_graph(struct graph *graph, struct error *error)
{
    struct json_reader *json = &graph->json;
    enum json_token token;
    if (!json_reader_expect(json, JSON_OBJECT_BEGIN, "an object", error))
        return false;
    while ((token = json_reader_next(json, error)) == JSON_KEY) {
        bool good;
        if (text_equal(json->text, TEXT("names")))
            good = read_names(graph, error);
        else if (text_equal(json->text, TEXT("levels")))
            good = read_levels(graph, error);
        else if (text_equal(json->text, TEXT("numTicks")))
            good = read_sum(graph, "total", GRAPH_TOTAL, error);
        else if (text_equal(json->text, TEXT("maxSelf")))
            good = read_sum(graph, "maxSelf", GRAPH_MAX_SELF, error);
        else
            good = json_reader_skip_next(json, error);
        if (!good)
            return false;
    }
    return token == JSON_OBJECT_END;
}

static bool find_graph(struct graph *graph, struct error *error)
{
    if (!json_reader_expect(&graph->json, JSON_OBJECT_BEGIN, "an object", error))
        return false;
    while (json_reader_next(&graph->json, error) == JSON_KEY) {
        if (text_equal(graph->json.text, TEXT("flamebearer")))
            return read_graph(graph, error);
        if (!json_reader_skip_next(&graph->json, error))
            return false;
    }
    return false;
}

static bool write_graph(struct graph *graph, struct text_builder *to, struct error *error)
{
    if (!graph->is_json) {
        bool good = find_graph(graph, error);
        protobuf_add_bytes(to, 1, text_builder_view(&graph->message));
        return good &&
               ((!graph->message.failed && !graph->part.failed && !to->failed) || error_set_memory(error));
    }
    if (!output_open_memory(&graph->output, to, error))
        return false;
    output_c_string(&graph->output, "{\"flamegraph\":{");
    bool good = find_graph(graph, error);
    output_c_string(&graph->output, "}}\n");
    good = good && output_finish(&graph->output, error);
    output_release(&graph->output);
    return good;
}

bool querier_write_graph(struct text_view flamebearer, bool is_json, struct text_builder *to,
                         struct error *error)
{
    struct graph graph = {.is_json = is_json};
    error_set(error, ERROR_BAD_INPUT, "the query did not write a flame graph");
    text_builder_init(&graph.message, PART_LIMIT_BYTES);
    text_builder_init(&graph.part, PART_LIMIT_BYTES);
    json_reader_init_memory(&graph.json, flamebearer, 0, NAME_LIMIT_BYTES);
    bool good = write_graph(&graph, to, error);
    json_reader_release(&graph.json);
    text_builder_release(&graph.message);
    text_builder_release(&graph.part);
    return good;
}

/* ---- curves ---- */

/* One line: a time, a sum, and the values that name its series. */
struct point {
    int64_t time_ms;
    double sum;
    struct text_view values;
};

static bool cut_point(struct text_view *lines, struct point *point)
{
    struct text_view line = text_cut(lines, '\n');
    point->values = line;
    return text_to_i64(text_cut(&point->values, '\t'), &point->time_ms) &&
           text_to_double(text_cut(&point->values, '\t'), &point->sum);
}

static void add_double(struct text_builder *to, uint32_t field, double number)
{
    char bytes[8];
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(bits >> (8 * i));
    protobuf_add_varint(to, (uint64_t)field << 3 | 1);
    text_builder_add(to, (struct text_view){bytes, sizeof(bytes)});
}

/* Labels as add_labels() and write_labels() take them. */
static void set_label_lines(struct text_builder *lines, const struct querier_texts *names,
                            struct text_view values)
{
    text_builder_clear(lines);
    for (size_t i = 0; i < names->count; i++) {
        struct text_view value = text_cut(&values, '\t');
        text_builder_format(lines, "%.*s=%.*s\n", TEXT_FORMAT(names->items[i]), TEXT_FORMAT(value));
    }
}

struct points {
    struct text_builder labels;  /* of the present series */
    struct text_builder message; /* of protobuf */
    struct text_builder *to;
    struct output output; /* of JSON */
    bool is_json;
    size_t series;
};

static void begin_series(struct points *points)
{
    points->series++;
    if (points->is_json) {
        output_c_string(&points->output, points->series > 1 ? ",{" : "{");
        write_labels(&points->output, text_builder_view(&points->labels));
        output_c_string(&points->output, ",\"points\":[");
    } else {
        text_builder_clear(&points->message);
        add_labels(&points->message, text_builder_view(&points->labels));
    }
}

static void add_point(struct points *points, const struct point *point, size_t number)
{
    struct text_builder message;
    if (points->is_json) {
        output_format(&points->output, "%s{\"value\":%.17g,\"timestamp\":\"%lld\"}", number > 0 ? "," : "",
                      point->sum, (long long)point->time_ms);
        return;
    }
    text_builder_init(&message, NAME_LIMIT_BYTES);
    add_double(&message, 1, point->sum);
    protobuf_add_number(&message, 2, (uint64_t)point->time_ms);
    protobuf_add_bytes(&points->message, 2, text_builder_view(&message));
    text_builder_release(&message);
}

static void end_series(struct points *points)
{
    if (points->is_json)
        output_c_string(&points->output, "]}");
    else
        protobuf_add_bytes(points->to, 1, text_builder_view(&points->message));
}

static bool write_points(struct points *points, const struct querier_texts *names, struct text_view lines,
                         struct error *error)
{
    struct text_view values = TEXT("");
    size_t number = 0;
    while (lines.size > 0) {
        struct point point;
        if (!cut_point(&lines, &point))
            return error_set(error, ERROR_BAD_INPUT, "the query did not write sums over time");
        if (number == 0 || !text_equal(values, point.values)) {
            if (number > 0)
                end_series(points);
            set_label_lines(&points->labels, names, point.values);
            begin_series(points);
            values = point.values;
            number = 0;
        }
        add_point(points, &point, number++);
    }
    if (number > 0)
        end_series(points);
    return (!points->labels.failed && !points->message.failed && !points->to->failed) ||
           error_set_memory(error);
}

bool querier_write_points(struct text_view lines, const struct querier_texts *names, bool is_json,
                          struct text_builder *to, struct error *error)
{
    struct points points = {.is_json = is_json, .to = to};
    text_builder_init(&points.labels, NAME_LIMIT_BYTES);
    text_builder_init(&points.message, PART_LIMIT_BYTES);
    bool good = !is_json || output_open_memory(&points.output, to, error);
    if (good && is_json) {
        output_c_string(&points.output, "{\"series\":[");
        good = write_points(&points, names, lines, error);
        output_c_string(&points.output, "]}\n");
        good = good && output_finish(&points.output, error);
        output_release(&points.output);
    } else if (good) {
        good = write_points(&points, names, lines, error);
    }
    text_builder_release(&points.labels);
    text_builder_release(&points.message);
    return good;
}
