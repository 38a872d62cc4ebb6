#include "model/main_event.h"

#include "unit_test.h"

static void add(struct profile *profile, const char *event, double count)
{
    struct sample sample = {.stack = STACK_ROOT, .time_ns = NO_TIME, .value = count, .count = count};
    sample.event = profile_event(profile, text_of(event), UNIT_COUNT, false);
    CHECK(profile_add_sample(profile, &sample));
}

static const char *main_event(const struct profile *profile)
{
    return profile_text(profile, profile->events[main_event_of(profile)].name).data;
}

TEST(prefers_cpu_then_wall_then_allocations)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_INT(main_event_of(&profile), 0);
    add(&profile, "exceptions", 10);
    add(&profile, "page-faults", 30);
    add(&profile, "context-switches", 20);
    CHECK_TEXT(main_event(&profile), "page-faults");
    add(&profile, "lock", 3);
    CHECK_TEXT(main_event(&profile), "lock");
    add(&profile, "live", 1);
    add(&profile, "alloc", 2);
    CHECK_TEXT(main_event(&profile), "alloc");
    add(&profile, "wall", 1);
    CHECK_TEXT(main_event(&profile), "wall");
    add(&profile, "cpu", 1);
    CHECK_TEXT(main_event(&profile), "cpu");
    profile_release(&profile);
}

TEST(an_event_without_samples_is_not_chosen)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(profile_event(&profile, TEXT("cpu"), UNIT_COUNT, false) != EVENT_LIMIT);
    add(&profile, "lock", 1);
    CHECK_TEXT(main_event(&profile), "lock");
    profile_release(&profile);
}
