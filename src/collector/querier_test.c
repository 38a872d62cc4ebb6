#include "collector/profile_type.h"
#include "collector/querier_answer.h"
#include "collector/querier_call.h"
#include "collector/querier_series.h"
#include <string.h>

#include "unit_test.h"

#define ANSWER_BYTES ((size_t)1 << 20)

TEST(calls_in_both_forms)
{
    static const char message[] = "\x0a\x03t:u\x12\x02{}\x18\x07\x20\x09\x28\x64\x30\x01";
    struct text_view bodies[] = {
        {message, sizeof(message) - 1},
        TEXT("{\"profileTypeID\":\"t:u\",\"labelSelector\":\"{}\",\"start\":\"7\",\"end\":9,\"maxNodes\":"
             "\"100\","
             "\"format\":\"PROFILE_FORMAT_FLAMEGRAPH\",\"stackTraceSelector\":{\"callSite\":[]}}")};
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        struct querier_call call;
        struct error error = {0};
        CHECK_OK(error, querier_call_read(&call, QUERIER_MERGE_STACKTRACES, i == 1, bodies[i], &error));
        CHECK(text_equal(call.profile_type, TEXT("t:u")));
        CHECK_INT(call.selectors.count, 1);
        CHECK_INT(call.start_ms, 7);
        CHECK_INT(call.end_ms, 9);
        CHECK_INT(call.max_nodes, 100);
        CHECK_INT(call.format, QUERIER_FORMAT_FLAMEGRAPH);
        querier_call_release(&call);
    }
}

TEST(numbers_as_texts)
{
    static const char *const bad[] = {"{\"step\":\"soon\"}", "{\"start\":\"soon\"}", "{\"end\":\"1x\"}",
                                      "{\"start\":\"\"}"};
    struct querier_call call;
    struct error error = {0};
    CHECK_OK(error, querier_call_read(&call, QUERIER_SELECT_SERIES, true,
                                      TEXT("{\"step\":\"1.5\",\"start\":\"-1\",\"end\":\"9\"}"), &error));
    CHECK(call.step_s == 1.5);
    CHECK_INT(call.start_ms, 0);
    CHECK_INT(call.end_ms, 9);
    querier_call_release(&call);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CHECK(!querier_call_read(&call, QUERIER_SELECT_SERIES, true, text_of(bad[i]), &error));
        CHECK(error.code == ERROR_BAD_INPUT);
        querier_call_release(&call);
    }
    CHECK_OK(error, querier_call_read(&call, QUERIER_LABEL_VALUES, true, TEXT("{\"name\":\"7\"}"), &error));
    CHECK(text_equal(call.name, TEXT("7")));
    querier_call_release(&call);
}

TEST(calls_that_are_refused)
{
    static const char *const bad[] = {"",    "[]",  "{", "{\"matchers\":[7]}", "{\"matchers\":[\"a\"",
                                      "{}1", "{}{}"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct querier_call call;
        struct error error = {0};
        CHECK(!querier_call_read(&call, QUERIER_LABEL_NAMES, true, text_of(bad[i]), &error));
        CHECK(error.message[0] != '\0');
        querier_call_release(&call);
    }
    struct querier_call call;
    struct error error = {0};
    CHECK(!querier_call_read(&call, QUERIER_LABEL_NAMES, false, TEXT("\x0a\x05x"), &error));
    querier_call_release(&call);
    char many[QUERIER_TEXTS + 1][2];
    for (size_t i = 0; i < COUNT_OF(many); i++)
        memcpy(many[i], "\x0a", 2);
    CHECK(!querier_call_read(&call, QUERIER_LABEL_NAMES, false, (struct text_view){many[0], sizeof(many)},
                             &error));
    querier_call_release(&call);
}

static bool append_type(void *context, const struct profile_type *type)
{
    text_builder_format(context, "%s\n", type->id);
    return true;
}

static const char *types_of(const char *format, const char *events)
{
    static struct text_builder text;
    text_builder_release(&text);
    text_builder_init(&text, ANSWER_BYTES);
    profile_type_each(text_of(format), text_of(events), append_type, &text);
    return text_builder_c_string(&text);
}

TEST(types_of_profiles)
{
    CHECK_TEXT(types_of("jfr", "alloc,cpu"),
               "memory:alloc_objects:count:space:bytes\nmemory:alloc_space:bytes:space:bytes\n"
               "process_cpu:samples:count:cpu:nanoseconds\n");
    CHECK_TEXT(types_of("otlp", "cpu"),
               "process_cpu:samples:count:cpu:nanoseconds\nprocess_cpu:cpu:nanoseconds:cpu:nanoseconds\n");
    CHECK_TEXT(types_of("folded", ""), "samples:samples:count:samples:count\n");
    CHECK_TEXT(types_of("perf", ""), "");
    CHECK_TEXT(types_of("pprof", "class-load"), "class-load:samples:count:class-load:count\n");
    struct profile_type type;
    struct error error = {0};
    CHECK_OK(error, profile_type_read(&type, TEXT("memory:alloc_space:bytes:space:bytes"), &error));
    CHECK(type.by_value);
    CHECK_TEXT(type.event, "alloc");
    CHECK_OK(error, profile_type_read(&type, TEXT("class-load:samples:count:class-load:count"), &error));
    CHECK_TEXT(type.event, "class-load");
    CHECK(!profile_type_read(&type, TEXT(""), &error));
    CHECK(!profile_type_read(&type, TEXT("a:b:c:d:e"), &error));
    CHECK(!profile_type_read(&type, TEXT("a:samples:count:a"), &error));
    CHECK(!profile_type_read(&type, TEXT("a\0b:samples:count:a\0b:count"), &error));
}

TEST(labels_of_a_series)
{
    struct recording_series recording = {TEXT("shop"), TEXT(""), TEXT("1"), TEXT("otlp"),
                                         TEXT("host.name=h\nevents=cpu\nexecutor=x\n__a=b\n")};
    struct querier_series series = {&recording, NULL};
    struct label_matchers matchers = {.count = 0};
    struct error error = {0};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    CHECK(text_equal(querier_series_label(&series, TEXT("host_name")), TEXT("h")));
    CHECK(text_equal(querier_series_label(&series, TEXT("host.name")), TEXT("h")));
    CHECK(text_equal(querier_series_label(&series, TEXT("executor")), TEXT("1")));
    CHECK(text_equal(querier_series_label(&series, TEXT("events")), TEXT("")));
    CHECK(text_equal(querier_series_label(&series, TEXT("__a")), TEXT("")));
    CHECK(text_equal(querier_stored_name(&recording, TEXT("host_name")), TEXT("host.name")));
    CHECK(text_equal(querier_events(&recording), TEXT("cpu")));
    CHECK_OK(error, label_matchers_add(&matchers, TEXT("{host_name=\"h\",attempt=\"\"}"), &arena, &error));
    CHECK(querier_series_matches(&series, &matchers));
    CHECK_OK(error, label_matchers_add(&matchers, TEXT("{service_name!=\"shop\"}"), &arena, &error));
    CHECK(!querier_series_matches(&series, &matchers));
    arena_release(&arena);
}

static const char *graph_of(const char *flamebearer, bool is_json)
{
    static struct text_builder text;
    struct error error = {0};
    text_builder_release(&text);
    text_builder_init(&text, ANSWER_BYTES);
    if (!querier_write_graph(text_of(flamebearer), is_json, &text, &error))
        return error.message[0] == '\0' ? "no message" : NULL;
    return text_builder_c_string(&text);
}

TEST(flame_graphs_in_both_forms)
{
    static const char graph[] =
        "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"a\"],\"levels\":[[0,5,0,0],"
        "[1,4,4,1]],\"numTicks\":5,\"maxSelf\":4},\"metadata\":{}}";
    CHECK_TEXT(
        graph_of(graph, true),
        "{\"flamegraph\":{\"names\":[\"total\",\"a\"],\"levels\":[{\"values\":[\"0\",\"5\",\"0\",\"0\"]},"
        "{\"values\":[\"1\",\"4\",\"4\",\"1\"]}],\"total\":\"5\",\"maxSelf\":\"4\"}}\n");
    static const char expected[] =
        "\x0a\x1e\x0a\x05total\x0a\x01"
        "a\x12\x06\x0a\x04\0\x05\0\0\x12\x06\x0a\x04\x01\x04\x04\x01\x18\x05\x20\x04";
    const char *message = graph_of(graph, false);
    CHECK(memcmp(message, expected, sizeof(expected)) == 0);
    for (size_t size = 0; size + 20 < sizeof(graph); size++) {
        char part[sizeof(graph)];
        memcpy(part, graph, size);
        part[size] = '\0';
        CHECK(graph_of(part, true) == NULL);
        CHECK(graph_of(part, false) == NULL);
    }
    CHECK(graph_of("{\"flamebearer\":7}", true) == NULL);
    CHECK(graph_of("{\"flamebearer\":{\"levels\":[[\"a\"]]}}", true) == NULL);
}

TEST(curves_in_both_forms)
{
    const struct querier_texts names = {{TEXT("a"), TEXT("b")}, 2};
    struct text_view lines = TEXT("10\t1.5\tx\ty\n20\t2\tx\ty\n10\t3\tx\t\n");
    struct text_builder answer;
    struct error error = {0};
    text_builder_init(&answer, ANSWER_BYTES);
    CHECK_OK(error, querier_write_points(lines, &names, true, &answer, &error));
    CHECK_TEXT(text_builder_c_string(&answer),
               "{\"series\":[{\"labels\":[{\"name\":\"a\",\"value\":\"x\"},{\"name\":\"b\",\"value\":\"y\"}],"
               "\"points\":[{\"value\":1.5,\"timestamp\":\"10\"},{\"value\":2,\"timestamp\":\"20\"}]},"
               "{\"labels\":[{\"name\":\"a\",\"value\":\"x\"},{\"name\":\"b\",\"value\":\"\"}],"
               "\"points\":[{\"value\":3,\"timestamp\":\"10\"}]}]}\n");
    text_builder_clear(&answer);
    CHECK_OK(error, querier_write_points(text_part(lines, 0, 11), &names, false, &answer, &error));
    static const char expected[] = "\x0a\x1d\x0a\x06\x0a\x01"
                                   "a\x12\x01x\x0a\x06\x0a\x01"
                                   "b\x12\x01y\x12\x0b\x09\0\0\0\0\0\0\xf8\x3f\x10\x0a";
    CHECK(text_equal(text_builder_view(&answer), (struct text_view){expected, sizeof(expected) - 1}));
    for (size_t size = 0; size < lines.size; size++) {
        text_builder_clear(&answer);
        (void)!querier_write_points(text_part(lines, 0, size), &names, size % 2 == 0, &answer, &error);
    }
    CHECK(!querier_write_points(TEXT("x"), &names, true, &answer, &error));
    CHECK(!querier_write_points(TEXT("1\ty"), &names, false, &answer, &error));
    text_builder_release(&answer);
}
