#include <stdio.h>
#include <string.h>

#include "formats/perf_options.h"
#include "formats/reader.h"
#include "unit_test.h"

static char notices[1024];

static void keep_notice(void *context, const char *text)
{
    (void)context;
    snprintf(notices + strlen(notices), sizeof(notices) - strlen(notices), "%s\n", text);
}

static bool read_text(struct profile *profile, const char *text, struct read_options options,
                      struct error *error)
{
    options.threads = 1;
    options.notice = keep_notice;
    struct byte_source *source = byte_source_open_memory(text_of(text), "memory", error);
    CHECK(source != NULL);
    bool good = reader_by_name(TEXT("perf"))->read(source, &options, profile, error);
    byte_source_close(source);
    return good;
}

static struct profile read_good(const char *text, struct read_options options, bool keep_times)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, keep_times, &error));
    CHECK_OK(error, read_text(&profile, text, options, &error));
    return profile;
}

static const char *innermost(const struct profile *profile, size_t sample)
{
    return profile_frame_name(profile, profile->stacks.nodes[profile->samples[sample].stack].frame).data;
}

static const char two_samples[] = "java 10/11 [000] 5.000000001: 100 cycles:\n\t 1f f (/x)\n\t 2f g (/x)\n\n"
                                  "java 10/12 [000] 6.5: 200 cycles:\n\t 1f f (/x)\n\t 2f g (/x)\n";

TEST(keeps_times_threads_and_periods)
{
    struct profile profile = read_good(two_samples, (struct read_options){.needs_contexts = true}, true);
    CHECK_INT(profile.sample_count, 2);
    CHECK_INT(profile.samples[0].time_ns, 5000000001);
    CHECK_INT(profile.samples[1].value, 200);
    CHECK_INT(profile.samples[1].count, 1);
    CHECK_INT(profile.samples[0].stack, profile.samples[1].stack);
    CHECK_TEXT(innermost(&profile, 0), "f");
    uint32_t thread = context_table_value(&profile.contexts, profile.samples[1].context, LABEL_THREAD_ID);
    CHECK_TEXT(profile_text(&profile, thread).data, "12");
    profile_release(&profile);
}

TEST(keeps_the_last_sample_without_a_blank_line)
{
    struct profile profile = read_good(two_samples, (struct read_options){.threads = 1}, false);
    CHECK_INT(profile.sample_count, 1);
    CHECK_INT(profile.samples[0].value, 300);
    profile_release(&profile);
}

TEST(keeps_samples_without_a_time_beside_others)
{
    struct profile profile = read_good("a 1 1.5: 7 cycles:\n\t 1f f (/x)\n\na 1 cycles:\n\t 1f f (/x)\n\n",
                                       (struct read_options){.threads = 1}, false);
    CHECK_INT(profile.event_count, 1);
    CHECK_INT(profile.samples[0].count, 2);
    profile_release(&profile);
}

TEST(filters_events)
{
    const char *text = "a 1 1.5: 7 cycles:u:\n\t 1f f (/x)\n\na 1 1.6: 1 faults:\n\t 1f g (/x)\n\n";
    struct perf_options perf = {.event_filter = NULL};
    struct read_options options = {.threads = 1, .perf = &perf};
    struct profile profile = read_good(text, options, false);
    CHECK_INT(profile.event_count, 2);
    profile_release(&profile);
    perf.event_filter = "faults";
    profile = read_good(text, options, false);
    CHECK_INT(profile.sample_count, 1);
    CHECK_TEXT(innermost(&profile, 0), "g");
    profile_release(&profile);
    perf.event_filter = "cycles";
    profile = read_good(text, options, false);
    CHECK_TEXT(innermost(&profile, 0), "f");
    profile_release(&profile);
}

TEST(java_and_other_threads_read_the_same_line_differently)
{
    struct profile profile =
        read_good("java 1 cycles:\n\t 1f La/B;::f (/x)\n\nc 1 cycles:\n\t 1f La/B;::f (/x)\n\n",
                  (struct read_options){.threads = 1}, false);
    CHECK_TEXT(innermost(&profile, 0), "a/B:::f");
    CHECK_TEXT(innermost(&profile, 1), "La/B:::f");
    profile_release(&profile);
}

TEST(tells_of_lines_it_does_not_understand)
{
    struct profile profile = read_good("a 1 cycles:\n\t 1f f (/x)\n\tWEIRD\n\nwhat is this\n",
                                       (struct read_options){.threads = 1}, false);
    CHECK_INT(profile.sample_count, 1);
    CHECK_TEXT(notices, "2 lines were not understood, the first is line 3\n");
    profile_release(&profile);
}

TEST(refuses_a_text_without_samples)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(!read_text(&profile, "some prose\nmore of it\n", (struct read_options){.threads = 1}, &error));
    CHECK_TEXT(error.message, "no sample of perf script in 2 lines");
    profile_release(&profile);
}

TEST(recognizes_perf_text_only)
{
    int (*recognizes)(struct text_view) = reader_by_name(TEXT("perf"))->recognizes;
    CHECK(recognizes(text_of(two_samples)) > 90);
    CHECK(recognizes(TEXT("# comment\n\njava 19983 cycles:\nffff f ([kernel])\n")) > 60);
    CHECK(recognizes(TEXT("  false 39654 19115.489713:  1 cycles:u:  ff9b [unknown] ([unknown])\n")) > 60);
    CHECK_INT(recognizes(TEXT("a;b 1\nc;d 2\n")), 0);
    CHECK_INT(recognizes(TEXT("")), 0);
}
