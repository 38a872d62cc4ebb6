#include "commands/record/host_merge.h"

#include "folded_profile.h"
#include "unit_test.h"

static void make(struct profile *profile)
{
    folded_profile_init(profile,
                        "process=12/@1:process 12: java;thread (13): main;run;process 1: no group 2\n"
                        "process=14/@2:process 14: java;run 3\n"
                        "host=another/@3:process 15;run 5\n");
    for (size_t i = 0; i < profile->frames.size; i++) {
        struct text_view name = profile_frame_name(profile, (uint32_t)i);
        if (text_starts_with(name, TEXT("thread (")) ||
            (text_starts_with(name, TEXT("process ")) && !text_ends_with(name, TEXT("no group"))))
            profile->frames.frames[i].kind = FRAME_GROUP;
    }
}

static const char *prepare(enum host_grouping grouping)
{
    struct profile profile;
    struct error error = {0};
    make(&profile);
    CHECK_OK(error, host_merge_prepare(&profile, TEXT("h1"), grouping, &error));
    const char *text = folded_profile_text(&profile);
    profile_release(&profile);
    return text;
}

TEST(below_the_host)
{
    CHECK_TEXT(prepare(HOST_GROUPING_HOST),
               "host h1;process 12: java;thread (13): main;run;process 1: no group 2\n"
               "host h1;process 14: java;run 3\n"
               "host h1;process 15;run 5\n");
}

TEST(below_processes_of_the_same_name)
{
    CHECK_TEXT(prepare(HOST_GROUPING_PROCESS), "process 15;run 5\n"
                                               "process java;run 3\n"
                                               "process java;thread main;run;process 1: no group 2\n");
}

TEST(all_in_one)
{
    CHECK_TEXT(prepare(HOST_GROUPING_CLUSTER), "run 8\nthread main;run;process 1: no group 2\n");
}

/* Also those that say that they are of another host. */
TEST(all_samples_have_the_label)
{
    struct profile profile;
    struct error error = {0};
    make(&profile);
    CHECK_OK(error, host_merge_prepare(&profile, TEXT("h1"), HOST_GROUPING_CLUSTER, &error));
    uint32_t key = profile_label_key(&profile, HOST_LABEL);
    CHECK_INT(profile.sample_count, 3);
    for (size_t i = 0; i < profile.sample_count; i++) {
        uint32_t context = profile.samples[i].context;
        uint32_t value = context_table_value(&profile.contexts, context, key);
        CHECK(text_equal(profile_text(&profile, value), TEXT("h1")));
        CHECK(i == 2 || context_table_value(&profile.contexts, context, LABEL_PROCESS) != 0);
    }
    profile_release(&profile);
}
