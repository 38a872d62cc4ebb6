/*
 * fuzz_collector_querier.c - gives libFuzzer's input to what reads calls of Pyroscope's QuerierService: messages of
 * protobuf and JSON, and the selectors in them, which are matched against a series and its labels; and to what makes
 * answers of what `sparkflame query` writes.
 */
#include <stdlib.h>

#include "collector/querier_answer.h"
#include "collector/querier_call.h"
#include "collector/querier_series.h"

#define ANSWER_BYTES ((size_t)1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_call(enum querier_method method, bool is_json, struct text_view input)
{
    static const struct recording_series recording = {
        {"shop", 4}, {"", 0}, {"1", 1}, {"otlp", 4}, {"host.name=h\nevents=cpu\n", 23}};
    struct querier_series series = {&recording, NULL};
    struct querier_call call;
    struct label_matchers matchers = {.count = 0};
    struct profile_type type;
    struct error error = {0};
    bool good = querier_call_read(&call, method, is_json, input, &error);
    for (size_t i = 0; good && i < call.selectors.count; i++)
        good = label_matchers_add(&matchers, call.selectors.items[i], &call.arena, &error);
    if (good) {
        (void)querier_series_matches(&series, &matchers);
        (void)querier_series_label(&series, call.name);
        good = profile_type_read(&type, call.profile_type, &error);
    }
    if (!good && error.message[0] == '\0')
        abort();
    querier_call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct querier_texts names = {{{"region", 6}, {"team", 4}}, 2};
    struct text_view input = {(const char *)data, size};
    for (enum querier_method method = QUERIER_PROFILE_TYPES; method <= QUERIER_SELECT_SERIES; method++) {
        check_call(method, false, input);
        check_call(method, true, input);
    }
    for (int is_json = 0; is_json < 2; is_json++) {
        struct text_builder answer;
        struct error error = {0};
        text_builder_init(&answer, ANSWER_BYTES);
        if (!querier_write_graph(input, is_json == 1, &answer, &error) && error.message[0] == '\0')
            abort();
        text_builder_clear(&answer);
        if (!querier_write_points(input, &names, is_json == 1, &answer, &error) && error.message[0] == '\0')
            abort();
        text_builder_release(&answer);
    }
    return 0;
}
