#include "model/profile.h"

#include "failing_memory.h"
#include "folded_profile.h"
#include "unit_test.h"

TEST(samples_that_differ_only_in_time_are_summed_up)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(folded_profile_add(&profile, "@1:a;b 1\n@2:a;b 2\n@3:a 4\nwall/@4:a;b 8\nthread=x/@5:a;b 16\n"));
    CHECK_INT(profile.sample_count, 4);
    CHECK(profile.samples[0].count == 3 && profile.samples[0].time_ns == NO_TIME);
    CHECK_TEXT(folded_profile_text(&profile), "a 4\na;b 19\nwall:a;b 8\n");
    profile_release(&profile);
}

TEST(times_are_kept_on_wish)
{
    struct profile profile;
    folded_profile_init(&profile, "@1:a 1\n@2:a 1\n");
    CHECK_INT(profile.sample_count, 2);
    CHECK_INT(profile.samples[1].time_ns, 2);
    profile_release(&profile);
}

TEST(what_failed_before_is_refused)
{
    struct profile profile;
    folded_profile_init(&profile, "a 1\n");
    CHECK(!profile_add_sample(&profile, &(struct sample){.stack = NO_STACK}));
    CHECK(!profile_add_sample(&profile, &(struct sample){.context = NO_CONTEXT}));
    CHECK(!profile_add_sample(&profile, &(struct sample){.event = EVENT_LIMIT}));
    CHECK_INT(profile.sample_count, 1);
    profile_release(&profile);
}

TEST(too_many_events_and_keys_are_refused)
{
    struct profile profile;
    folded_profile_init(&profile, "");
    char name[2] = {0};
    for (int i = 0; i < EVENT_LIMIT; i++) {
        name[0] = (char)(' ' + i);
        CHECK_INT(profile_event(&profile, text_of(name), UNIT_COUNT, false), i);
    }
    CHECK_INT(profile_event(&profile, TEXT("more"), UNIT_COUNT, false), EVENT_LIMIT);
    CHECK_INT(profile_event(&profile, TEXT("!"), UNIT_COUNT, false), 1);
    for (int i = LABEL_KNOWN_COUNT; i < LABEL_KEY_LIMIT; i++) {
        name[0] = (char)(' ' + i);
        CHECK_INT(profile_label_key(&profile, text_of(name)), i);
    }
    CHECK_INT(profile_label_key(&profile, TEXT("more")), LABEL_KEY_LIMIT);
    CHECK_INT(profile_label_key(&profile, TEXT("stage")), LABEL_STAGE);
    CHECK(text_equal(profile_label_key_name(&profile, LABEL_STAGE), TEXT("stage")));
    profile_release(&profile);
}

TEST(merging_is_like_reading_both)
{
    struct profile first, second;
    struct error error = {0};
    folded_profile_init(&first, "x;a 1\nwall:x 1\nstage=1:x;a 4\n");
    folded_profile_init(&second, "own=v:y;x 5\nwall:x 2\nx;a 8\nstage=1:x;a 16\n");
    CHECK_OK(error, profile_merge(&first, &second, &error));
    CHECK_TEXT(folded_profile_text(&first), "wall:x 3\nx;a 29\ny;x 5\n");
    CHECK_TEXT(folded_profile_text(&second), "wall:x 2\nx;a 24\ny;x 5\n");
    uint32_t key = profile_label_key(&first, TEXT("own"));
    bool found = false;
    for (uint32_t i = 0; i < first.contexts.size; i++)
        found = found ||
                text_equal(profile_text(&first, context_table_value(&first.contexts, i, key)), TEXT("v"));
    CHECK(found);
    profile_release(&first);
    profile_release(&second);
}

TEST(out_of_memory_is_told)
{
    FAIL_EACH_ALLOCATION
    {
        struct profile first, second;
        struct error error = {0};
        bool good = profile_init(&first, false, &error);
        if (!good) {
            CHECK(failing_memory_failed());
            continue;
        }
        if (profile_init(&second, true, &error)) {
            good = folded_profile_add(&first, "stage=1:a;b;c 1\n") &&
                   folded_profile_add(&second, "k=v/e:d;e 2\n") && profile_merge(&first, &second, &error);
            CHECK(good || failing_memory_failed());
            profile_release(&second);
        }
        profile_release(&first);
    }
}
