#include <string.h>

#include "formats/text/java_frame.h"
#include "formats/reader.h"
#include "unit_test.h"

static struct profile read_data(const char *name)
{
    struct read_options options = {.threads = 1, .needs_lines = true, .needs_contexts = true};
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, true, &error));
    CHECK_OK(error, read_profile(unit_test_data(name), NULL, &options, &profile, &error));
    return profile;
}

static const char *label(const struct profile *profile, size_t sample, enum label_key key)
{
    return profile_text(profile,
                        context_table_value(&profile->contexts, profile->samples[sample].context, key))
        .data;
}

static const struct frame *innermost(const struct profile *profile, size_t sample)
{
    return &profile->frames.frames[profile->stacks.nodes[profile->samples[sample].stack].frame];
}

TEST(reads_dumps_inside_a_log)
{
    struct profile profile = read_data("thread_dump/jstack_8.txt");
    CHECK_INT(profile.sample_count, 2);
    CHECK_TEXT(profile_text(&profile, innermost(&profile, 0)->name).data, "java/util/HashMap.getNode");
    CHECK_TEXT(profile_text(&profile, innermost(&profile, 0)->file).data, "HashMap.java");
    CHECK_INT(innermost(&profile, 0)->line, 571);
    CHECK_TEXT(label(&profile, 0, LABEL_STATE), "RUNNABLE");
    CHECK_TEXT(label(&profile, 0, LABEL_THREAD_ID), "6915");
    CHECK_TEXT(label(&profile, 0, LABEL_STAGE), "1");
    CHECK_TEXT(label(&profile, 0, LABEL_TASK), "4");
    CHECK_INT(profile.samples[1].time_ns - profile.samples[0].time_ns, 10000000000);
    CHECK_TEXT(label(&profile, 1, LABEL_THREAD), "Thread-1");
    CHECK_TEXT(label(&profile, 1, LABEL_STATE), "BLOCKED");
    profile_release(&profile);
}

TEST(reads_several_dumps_of_a_newer_virtual_machine)
{
    struct profile profile = read_data("thread_dump/jstack_17.txt");
    size_t main_threads = 0, quoted = 0;
    for (size_t i = 0; i < profile.sample_count; i++) {
        main_threads += strcmp(label(&profile, i, LABEL_THREAD), "main") == 0;
        quoted += strcmp(label(&profile, i, LABEL_THREAD), "holder \"quoted\"") == 0;
    }
    CHECK_INT(main_threads, 2);
    CHECK_INT(quoted, 2);
    profile_release(&profile);
}

TEST(reads_dump_to_file)
{
    struct profile profile = read_data("thread_dump/dump_to_file_25.txt");
    CHECK(profile.sample_count >= 4);
    CHECK_TEXT(label(&profile, 0, LABEL_THREAD), "main");
    CHECK_TEXT(label(&profile, 0, LABEL_STATE), "TIMED_WAITING");
    CHECK_TEXT(profile_text(&profile, innermost(&profile, 0)->name).data, "java/lang/Thread.sleepNanos0");
    profile_release(&profile);
}

TEST(reads_forced_dumps)
{
    struct profile profile = read_data("thread_dump/jstack_forced.txt");
    CHECK_INT(profile.sample_count, 1);
    CHECK_TEXT(profile_text(&profile, innermost(&profile, 0)->name).data, "java/lang/Object.wait");
    CHECK_INT(innermost(&profile, 0)->kind, FRAME_COMPILED);
    CHECK_TEXT(label(&profile, 0, LABEL_STATE), "BLOCKED");
    CHECK_TEXT(label(&profile, 0, LABEL_THREAD_ID), "4720");
    profile_release(&profile);
}

TEST(reads_thread_info)
{
    struct profile profile = read_data("thread_dump/thread_info.txt");
    CHECK_INT(profile.sample_count, 2);
    CHECK_TEXT(label(&profile, 0, LABEL_STATE), "TIMED_WAITING");
    CHECK_TEXT(label(&profile, 1, LABEL_STATE), "RUNNABLE");
    CHECK_TEXT(profile_text(&profile, innermost(&profile, 1)->name).data, "com/example/Job.main");
    profile_release(&profile);
}

TEST(takes_java_frames_apart)
{
    struct java_frame frame;
    CHECK(java_frame_parse(TEXT("loader/module@1/a.B.c(B.java:7)"), &frame));
    CHECK(text_equal(frame.method, TEXT("a.B.c")));
    CHECK_INT(frame.line, 7);
    CHECK(java_frame_parse(TEXT("java.base@17/a.B$$Lambda$1/0x8.run(Unknown Source)"), &frame));
    CHECK(text_equal(frame.method, TEXT("a.B$$Lambda$1/0x8.run")));
    CHECK_INT(frame.file.size, 0);
    CHECK(java_frame_parse(TEXT("a.B.<init>(java.base@17/B.java:99999999999)"), &frame));
    CHECK_INT(frame.line, 0);
    CHECK(!java_frame_parse(TEXT("no frame"), &frame));
    CHECK(!java_frame_parse(TEXT("a.b("), &frame));
    CHECK(!java_frame_parse(TEXT("word (x)"), &frame));
    CHECK(!java_frame_parse(TEXT(""), &frame));
}

TEST(refuses_a_text_without_threads)
{
    struct error error = {0};
    struct profile profile;
    struct read_options options = {.threads = 1};
    CHECK_OK(error, profile_init(&profile, false, &error));
    struct byte_source *source = byte_source_open_memory(TEXT("prose\n"), "memory", &error);
    CHECK(!reader_by_name(TEXT("thread_dump"))->read(source, &options, &profile, &error));
    CHECK_TEXT(error.message, "no thread in 1 lines");
    byte_source_close(source);
    profile_release(&profile);
}
