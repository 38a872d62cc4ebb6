#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_builder.h"
#include "formats/reader.h"
#include "unit_test.h"

static char notices[2048];

static void keep_notice(void *context, const char *text)
{
    (void)context;
    snprintf(notices + strlen(notices), sizeof(notices) - strlen(notices), "%s\n", text);
}

static struct read_options all_options(void)
{
    return (struct read_options){
        .threads = 1, .needs_lines = true, .needs_contexts = true, .notice = keep_notice};
}

static bool read_source(struct profile *profile, struct byte_source *source,
                        const struct read_options *options, struct error *error)
{
    CHECK(source != NULL);
    notices[0] = '\0';
    bool good = reader_by_name(TEXT("jfr"))->read(source, options, profile, error);
    byte_source_close(source);
    return good;
}

static void add_stack(struct text_builder *text, const struct profile *profile, uint32_t node)
{
    if (node == STACK_ROOT)
        return;
    const struct frame *frame = &profile->frames.frames[profile->stacks.nodes[node].frame];
    add_stack(text, profile, profile->stacks.nodes[node].parent);
    text_builder_format(text, ";%s", string_table_c_string(&profile->strings, frame->name));
    if (frame->line != 0)
        text_builder_format(text, ":%u", frame->line);
    if (frame->file != 0)
        text_builder_format(text, " in %s", string_table_c_string(&profile->strings, frame->file));
    text_builder_format(text, " (%s)", frame_kind_name(frame->kind));
}

/* event key=value… ;frame;frame count value @time, a line for each sample. */
static const char *describe(const struct profile *profile)
{
    static struct text_builder text;
    text_builder_init(&text, (size_t)1 << 30);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        struct context context = context_table_get(&profile->contexts, sample->context);
        text_builder_add(&text, profile_text(profile, profile->events[sample->event].name));
        for (size_t j = 0; j < context.size; j++)
            text_builder_format(&text, " %s=%s", profile_label_key_name(profile, context.labels[j].key).data,
                                string_table_c_string(&profile->strings, context.labels[j].value));
        text_builder_add_byte(&text, ' ');
        add_stack(&text, profile, sample->stack);
        text_builder_format(&text, " %g %.0f", sample->count, sample->value);
        if (sample->time_ns != NO_TIME)
            text_builder_format(&text, " @%lld", (long long)sample->time_ns);
        text_builder_add_byte(&text, '\n');
    }
    return text_builder_c_string(&text);
}

static void check_file(const char *name, const struct read_options *options, bool keep_times,
                       const char *expected)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, keep_times, &error));
    CHECK_OK(error, read_source(&profile, byte_source_open(unit_test_data(name), &error), options, &error));
    CHECK_TEXT(describe(&profile), expected);
    profile_release(&profile);
}

#define WORKER "thread=Executor task launch worker for task 3.0 thread_id=101"
#define CPU_STACKS                                                                                  \
    "cpu thread=main thread_id=100 "                                                                \
    ";java/lang/Thread.run:840 (interpreted);org/example/Job.gr\xc3\xb6\xc3\x9f"                    \
    "e:17 (compiled) 1 1\n"                                                                         \
    "cpu " WORKER " ;java/lang/Thread.run:840 (interpreted);org/example/Job.apply:33 (C1);read in " \
    "libc.so.6 (native);vfs_read (kernel) 2 2\n"
#define OUTER                                                                                               \
    ";java/lang/Thread.run:840 (compiled);org/example/Job.apply:34 (compiled);org/example/Job.\xd0\xb6:21 " \
    "(inlined)"

TEST(reads_each_kind_of_event)
{
    struct read_options options = all_options();
    check_file("jfr/small.jfr", &options, false,
               CPU_STACKS
               "wall thread=main thread_id=100 state=sleeping " OUTER " 250 250\n"
               "alloc " WORKER " allocation=in new TLAB " OUTER ";java.lang.String[] (class) 1 4096\n"
               "alloc " WORKER " allocation=outside TLAB " OUTER ";int[][] (class) 1 1099511627776\n"
               "lock thread=main thread_id=100 ;java/lang/Thread.run:840 (interpreted);org/example/Job.gr"
               "\xc3\xb6\xc3\x9f"
               "e:17 (compiled);org.example.Job (class) 1 700\n");
    CHECK_TEXT(notices, "");
}

TEST(leaves_out_what_is_not_needed)
{
    struct read_options options = {.threads = 1, .event = TEXT("cpu")};
    check_file("jfr/small.jfr", &options, false,
               "cpu ;java/lang/Thread.run (interpreted);org/example/Job.gr\xc3\xb6\xc3\x9f"
               "e (compiled) 1 1\n"
               "cpu ;java/lang/Thread.run (interpreted);org/example/Job.apply (C1);read (native);vfs_read "
               "(kernel) 2 2\n");
}

TEST(keeps_times)
{
    struct read_options options = {.threads = 1, .event = TEXT("wall")};
    check_file(
        "jfr/small.jfr", &options, true,
        "wall ;java/lang/Thread.run (compiled);org/example/Job.apply (compiled);org/example/Job.\xd0\xb6"
        " (inlined) 250 250 @1700000000000003500\n");
}

TEST(sums_up_chunks_of_any_layout_and_an_open_one)
{
    struct read_options options = {.threads = 1, .event = TEXT("wall"), .notice = keep_notice};
    check_file(
        "jfr/chunks.jfr", &options, false,
        "wall ;java/lang/Thread.run (compiled);org/example/Job.apply (compiled);org/example/Job.\xd0\xb6"
        " (inlined) 750 750\n");
    CHECK_TEXT(notices, "a chunk of the recording is not finished; what is whole in it is used\n");
}

TEST(keeps_what_is_whole_of_a_cut_file)
{
    struct read_options options = all_options();
    options.event = TEXT("cpu");
    check_file("jfr/cut.jfr", &options, false, CPU_STACKS);
    CHECK_TEXT(notices, "a chunk of the recording is not finished; what is whole in it is used\n"
                        "3 events have no stack trace and are left out\n");
}

#define JOB_STACK                                                            \
    ";java/lang/Thread.run (interpreted);org/example/Job.gr\xc3\xb6\xc3\x9f" \
    "e (compiled)"
#define READ_STACK \
    ";java/lang/Thread.run (interpreted);org/example/Job.apply (C1);read (native);vfs_read (kernel)"
#define MAIN "thread=main thread_id=100 "

TEST(joins_spans_and_labels_to_samples)
{
    struct read_options options = {.threads = 1, .needs_contexts = true, .event = TEXT("cpu")};
    check_file("jfr/spans.jfr", &options, true,
               "cpu " MAIN JOB_STACK " 1 1 @1700000000000001000\n"
               "cpu " WORKER " stage=3 task=17 " READ_STACK " 1 1 @1700000000000002000\n"
               "cpu " WORKER " stage=3 task=17 " READ_STACK " 1 1 @1700000000000003000\n"
               "cpu thread=main thread_id=100 stage=5 job;group=a;b " JOB_STACK " 1 1 @1700000000000007500\n"
               "cpu " MAIN JOB_STACK " 1 1 @1700000000000008500\n");
}

TEST(counts_allocations_once)
{
    struct read_options options = {.threads = 1, .event = TEXT("alloc-sample")};
    check_file("jfr/spans.jfr", &options, false,
               "alloc-sample " JOB_STACK ";java.lang.String[] (class) 1 5000\n");
}

TEST(gives_the_same_with_several_threads)
{
    struct profile profile;
    struct error error = {0};
    struct read_options options = all_options();
    options.threads = 3;
    options.event = TEXT("wall");
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_OK(error, read_source(&profile, byte_source_open(unit_test_data("jfr/chunks.jfr"), &error),
                                &options, &error));
    CHECK_TEXT(describe(&profile), "wall thread=main thread_id=100 state=sleeping " OUTER " 750 750\n");
    profile_release(&profile);
}
