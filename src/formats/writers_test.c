/* Writers whose output no reader of ours reads back, or not all of it. */
#include <stdlib.h>

#include "formats/format_test.h"

/* main calls f, f calls itself and g; thread two runs only main. */
static void fill(struct profile *profile, bool with_times)
{
    struct error error = {0};
    CHECK_OK(error, profile_init(profile, with_times, &error));
    uint32_t frames[] = {profile_frame(profile, TEXT("main"), TEXT("Main.java"), 3, FRAME_COMPILED),
                         profile_frame(profile, TEXT("f<\"x\">,y"), TEXT(""), 0, FRAME_INTERPRETED),
                         profile_frame(profile, TEXT("g\xff"), TEXT(""), 0, FRAME_NATIVE)};
    struct label labels[] = {{LABEL_THREAD, profile_string(profile, TEXT("one"))},
                             {LABEL_THREAD, profile_string(profile, TEXT("two"))}};
    uint32_t contexts[] = {context_table_add(&profile->contexts, &labels[0], 1),
                           context_table_add(&profile->contexts, &labels[1], 1)};
    uint32_t event = profile_event(profile, TEXT("cpu"), UNIT_NANOSECONDS, true);
    uint32_t main_node = stack_tree_child(&profile->stacks, STACK_ROOT, frames[0]);
    uint32_t f = stack_tree_child(&profile->stacks, main_node, frames[1]);
    uint32_t f_again = stack_tree_child(&profile->stacks, f, frames[1]);
    uint32_t g = stack_tree_child(&profile->stacks, f_again, frames[2]);
    struct sample samples[] = {
        {f_again, contexts[0], event, 1700000000000000000 + 2000, 20, 2},
        {f, contexts[0], event, 1700000000000000000, 10, 1},
        {g, contexts[0], event, 1700000000000000000 + 4000, 10, 1},
        {main_node, contexts[1], event, 1700000000000000000 + 1500, 10, 1},
        {f, contexts[0], event, 1700000000000000000 + 90000, 10, 1},
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        CHECK(profile_add_sample(profile, &samples[i]));
}

static const char *written(bool with_times, const char *writer)
{
    struct profile profile;
    fill(&profile, with_times);
    const char *text = format_test_write(&profile, writer).data;
    profile_release(&profile);
    return text;
}

TEST(csv_counts_recursion_once)
{
    CHECK_TEXT(written(false, "csv"), "method,self_nanoseconds,total_nanoseconds,self_percent,total_percent\n"
                                      "\"f<\"\"x\"\">,y\",40,50,66.67,83.33\n"
                                      "main,10,60,16.67,100.00\n"
                                      "g\xef\xbf\xbd,10,10,16.67,16.67\n");
}

TEST(flamebearer_has_levels_of_boxes)
{
    CHECK_TEXT(written(false, "flamebearer"),
               "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"f\\u003c\\\"x\\\">,y\","
               "\"g\xef\xbf\xbd\"],"
               "\"levels\":[[0,60,0,0],[0,60,10,1],[0,50,20,2],[0,30,20,2],[0,10,10,3]],\"numTicks\":60,"
               "\"maxSelf\":20},"
               "\"metadata\":{\"format\":\"single\",\"spyName\":\"sparkflame\",\"units\":\"samples\","
               "\"sampleRate\":1000000000,\"name\":\"cpu\"}}\n");
}

TEST(flamebearer_leaves_out_the_smallest)
{
    struct write_options options = {.weight = WEIGHT_COUNT, .max_nodes = 4};
    struct profile profile;
    fill(&profile, false);
    CHECK_TEXT(
        format_test_write_as(&profile, "flamebearer", &options).data,
        "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"f\\u003c\\\"x\\\">,y\",\"other\"],"
        "\"levels\":[[0,6,0,0],[0,6,1,1],[0,5,2,2],[0,3,2,2],[0,1,1,3]],\"numTicks\":6,\"maxSelf\":2},"
        "\"metadata\":{\"format\":\"single\",\"spyName\":\"sparkflame\",\"units\":\"objects\","
        "\"sampleRate\":1,\"name\":\"cpu\"}}\n");
    profile_release(&profile);
}

TEST(csv_of_nothing_has_a_head)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_TEXT(format_test_write(&profile, "csv").data,
               "method,self_samples,total_samples,self_percent,total_percent\n");
    CHECK_TEXT(format_test_write(&profile, "chrome_trace").data,
               "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[]}\n");
    profile_release(&profile);
}

#define HEAD                                                                 \
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n" \
    "\"exporter\":\"sparkflame@" SPARKFLAME_VERSION "\",\n\"shared\":{\"frames\":[\n"
#define FRAMES                                                                                       \
    "{\"name\":\"f\\u003c\\\"x\\\">,y\"},\n{\"name\":\"main\",\"file\":\"Main.java\",\"line\":3},\n" \
    "{\"name\":\"g\xef\xbf\xbd\"}]},\n\"profiles\":[\n"
#define SAMPLED(name, end)                   \
    "{\"type\":\"sampled\",\"name\":\"" name \
    "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":" end ",\n"

TEST(speedscope_sums_up_without_times)
{
    CHECK_TEXT(written(false, "speedscope"),
               HEAD FRAMES SAMPLED(
                   "cpu", "60") "\"samples\":[[1],[1,0],[1,0,0],[1,0,0,2]],\n\"weights\":[10,20,20,10]}]}\n");
}

TEST(speedscope_keeps_threads_and_order)
{
    CHECK_TEXT(
        written(true, "speedscope"),
        HEAD FRAMES SAMPLED(
            "cpu: all threads",
            "60") "\"samples\":[[1],[1,0],[1,0,0],[1,0,0,2]],\n\"weights\":[10,20,20,10]},"
                  "\n" SAMPLED("cpu: one", "50") "\"samples\":[[1,0],[1,0,0],[1,0,0,2],[1,0]],\n\"weights\":["
                                                 "10,20,10,10]},\n" SAMPLED("cpu: two",
                                                                            "10") "\"samples\":[[1]],"
                                                                                  "\n\"weights\":[10]}]}\n");
}

TEST(speedscope_reads_back_without_counting_twice)
{
    struct profile profile;
    fill(&profile, true);
    format_test_check("speedscope", format_test_write(&profile, "speedscope"),
                      "cpu 20/2 main (Main.java:3);f<\"x\">,y thread=one\n"
                      "cpu 20/1 main (Main.java:3);f<\"x\">,y;f<\"x\">,y thread=one\n"
                      "cpu 10/1 main (Main.java:3);f<\"x\">,y;f<\"x\">,y;g\xef\xbf\xbd thread=one\n"
                      "cpu 10/1 main (Main.java:3) thread=two\n");
    profile_release(&profile);
}

#define BOX(name, kind, thread, ts, dur)                                                                  \
    ",\n{\"ph\":\"X\",\"name\":\"" name "\",\"cat\":\"" kind "\",\"pid\":1,\"tid\":" thread ",\"ts\":" ts \
    ",\"dur\":" dur "}"
#define TRACK(number, name) \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":" number ",\"args\":{\"name\":\"" name "\"}}"
#define F "f\\u003c\\\"x\\\">,y"

TEST(chrome_trace_joins_what_goes_on)
{
    CHECK_TEXT(
        written(true, "chrome_trace"),
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"cpu\"}},\n" TRACK(
            "1", "one") BOX("g\xef\xbf\xbd", "native", "1", "4", "2") BOX(F, "interpreted", "1", "2", "4")
            BOX(F, "interpreted", "1", "0", "6") BOX("main", "compiled", "1", "0", "6")
                BOX(F, "interpreted", "1", "90", "2")
                    BOX("main", "compiled", "1", "90", "2") ",\n" TRACK("2", "two")
                        BOX("main", "compiled", "2", "1.5", "10000") "]}\n");
}

TEST(chrome_trace_without_times_shows_weights)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_OK(error, format_test_try(&profile, "folded", TEXT("a;b 2\na 1\n"), &error));
    CHECK_TEXT(format_test_write(&profile, "chrome_trace").data,
               "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
               "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"samples\"}},"
               "\n" TRACK("1", "all threads") BOX("b", "unknown", "1", "1000", "2000")
                   BOX("a", "unknown", "1", "0", "3000") "]}\n");
    profile_release(&profile);
}
