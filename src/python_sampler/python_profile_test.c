#include "python_sampler/python_profile.h"

#include "unit_test.h"

TEST(file_names_lose_what_nobody_reads)
{
    static const char *const names[][2] = {
        {"/usr/lib/python3.11/threading.py", "threading.py"},
        {"/usr/lib/python3.11/json/decoder.py", "json/decoder.py"},
        {"/opt/v/lib/python3.9/site-packages/pandas/core/frame.py", "pandas/core/frame.py"},
        {"/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", "pyspark/worker.py"},
        {"/home/someone/job.py", "job.py"},
        {"relative/job.py", "relative/job.py"},
        {"<string>", "<string>"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct text_view name = python_short_file_name(text_of(names[i][0]));
        CHECK(text_equal(name, text_of(names[i][1])));
    }
}

TEST(a_stack_becomes_a_sample)
{
    struct error error = {ERROR_NONE, ""};
    struct profile profile;
    struct python_profile into;
    struct python_functions functions;
    struct python_profile_options options = {.interval_ns = 10000000};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(python_functions_init(&functions));
    CHECK_OK(error, python_profile_init(&into, &profile, &options, &error));
    struct python_frame frames[] = {
        {python_functions_add(&functions, TEXT("inner"), TEXT("/x/a.py"), 1), 7},
        {python_functions_add(&functions, TEXT("outer"), TEXT("/x/a.py"), 9), 12}};
    struct python_stack stack = {.pid = 5,
                                 .thread_number = 6,
                                 .thread_name = TEXT("MainThread"),
                                 .on_cpu = true,
                                 .functions = &functions,
                                 .frames = frames,
                                 .frame_count = 2};
    uint32_t mark = UINT32_MAX;
    python_profile_deliver(&into, &stack);
    stack.mark = &mark;
    python_profile_deliver(&into, &stack);
    stack.is_repeated = true;
    python_profile_deliver(&into, &stack);
    CHECK(!into.failed);
    CHECK_INT(mark, 0);
    CHECK_INT(profile.sample_count, 1);
    CHECK_INT(profile.samples[0].count, 3);
    CHECK_INT(profile.samples[0].value, 30000000);
    CHECK_INT(stack_tree_depth(&profile.stacks, profile.samples[0].stack), 2);
    const struct frame *frame = &profile.frames.frames[profile.stacks.nodes[profile.samples[0].stack].frame];
    CHECK(text_equal(profile_text(&profile, frame->name), TEXT("inner")));
    CHECK(text_equal(profile_text(&profile, frame->file), TEXT("a.py")));
    CHECK_INT(frame->line, 7);
    uint32_t thread = context_table_value(&profile.contexts, profile.samples[0].context, LABEL_THREAD);
    CHECK(text_equal(profile_text(&profile, thread), TEXT("MainThread")));
    python_profile_release(&into);
    python_functions_release(&functions);
    profile_release(&profile);
}
