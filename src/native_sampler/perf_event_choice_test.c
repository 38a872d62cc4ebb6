#include "native_sampler/perf_event_choice.h"

#include <linux/perf_event.h>
#include <string.h>

#include "unit_test.h"

static struct perf_event_choice parse(const char *name)
{
    struct perf_event_choice choice;
    struct error error = {0};
    CHECK(perf_event_choice_parse(&choice, text_of(name), &error));
    return choice;
}

TEST(knows_the_names_of_perf)
{
    struct perf_event_choice choice = parse("cpu");
    CHECK(choice.is_clock && choice.type == PERF_TYPE_SOFTWARE && choice.config == PERF_COUNT_SW_CPU_CLOCK);
    choice = parse("task-clock");
    CHECK(choice.is_clock && choice.config == PERF_COUNT_SW_TASK_CLOCK);
    choice = parse("page-faults");
    CHECK(!choice.is_clock && !choice.is_of_kernel && choice.config == PERF_COUNT_SW_PAGE_FAULTS);
    CHECK(parse("cs").is_of_kernel);
    choice = parse("instructions");
    CHECK(choice.is_of_hardware && choice.type == PERF_TYPE_HARDWARE);
    CHECK_INT(choice.config, PERF_COUNT_HW_INSTRUCTIONS);
    choice = parse("r1a8");
    CHECK(choice.type == PERF_TYPE_RAW && choice.config == 0x1a8 && choice.is_of_hardware);
    choice = parse("dTLB-store-misses");
    CHECK(choice.type == PERF_TYPE_HW_CACHE && choice.config == (3 | 1 << 8 | 1 << 16));
    CHECK_INT(parse("LLC-loads").config, 2);
}

TEST(modifiers_choose_programs_or_the_kernel)
{
    struct perf_event_choice choice = parse("cycles:u");
    CHECK(choice.excludes_kernel && !choice.excludes_user);
    CHECK_TEXT(choice.name, "cycles:u");
    choice = parse("page-faults:k");
    CHECK(choice.excludes_user && !choice.excludes_kernel);
    choice = parse("page-faults:uk");
    CHECK(!choice.excludes_user && !choice.excludes_kernel);
}

TEST(other_names_are_refused)
{
    static const char *const names[] = {"",
                                        "alloc",
                                        "cycles:",
                                        "cycles:x",
                                        "cycles:ppp",
                                        "L1-dcache-misses",
                                        "r",
                                        "rxyz",
                                        "r12345678901234567",
                                        "a/b:c",
                                        "../../etc:passwd",
                                        "sched:../../x",
                                        "sched:",
                                        ":sched_switch"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct perf_event_choice choice;
        struct error error = {0};
        CHECK(!perf_event_choice_parse(&choice, text_of(names[i]), &error));
        CHECK(error.code == ERROR_USAGE && strstr(error.message, "unknown event") != NULL);
    }
}

TEST(a_tracepoint_that_is_not_there_is_explained)
{
    struct perf_event_choice choice;
    struct error error = {0};
    CHECK(!perf_event_choice_parse(&choice, TEXT("nothing:of_that_name"), &error));
    CHECK(error.code != ERROR_USAGE && strstr(error.message, "tracepoint nothing:of_that_name") != NULL);
    char long_name[2 * PERF_EVENT_NAME_BYTES];
    memset(long_name, 'a', sizeof(long_name));
    CHECK(!perf_event_choice_parse(&choice, (struct text_view){long_name, sizeof(long_name)}, &error));
}
