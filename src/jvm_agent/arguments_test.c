#include "jvm_agent/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit_test.h"

static struct arguments parse(const char *text)
{
    struct arguments arguments;
    struct error error = {0};
    CHECK_OK(error, arguments_parse(&arguments, text, &error));
    return arguments;
}

static void check_refused(const char *text, const char *message)
{
    struct arguments arguments;
    struct error error = {0};
    CHECK(!arguments_parse(&arguments, text, &error));
    CHECK_TEXT(error.message, message);
}

TEST(reads_actions_events_and_units)
{
    struct arguments arguments =
        parse("start,event=cpu,interval=1ms,file=/tmp/x.jfr,alloc=2m,lock=10ms,wall,jstackdepth=64");
    CHECK_INT(arguments.action, ACTION_START);
    CHECK_TEXT(arguments.event, "cpu");
    CHECK_INT(arguments.interval, 1000000);
    CHECK_TEXT(arguments.file, "/tmp/x.jfr");
    CHECK_INT(arguments.alloc_bytes, 2 << 20);
    CHECK_INT(arguments.lock_ns, 10000000);
    CHECK_INT(arguments.wall_ns, 0);
    CHECK_INT(arguments.depth, 64);
    CHECK_INT(arguments.timeout_s, ARGUMENT_UNSET);
    arguments_release(&arguments);
}

TEST(units_of_each_number)
{
    static const struct {
        const char *text;
        long long interval;
    } cases[] = {
        {"interval=7", 7}, {"interval=20us", 20000}, {"interval=2s", 2000000000}, {"interval=512k", 524288}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arguments arguments = parse(cases[i].text);
        CHECK_INT(arguments.interval, cases[i].interval);
        arguments_release(&arguments);
    }
    struct arguments arguments = parse("chunktime=5m,loop=1h,chunksize=64k,memlimit=1g");
    CHECK_INT(arguments.chunk_s, 300);
    CHECK_INT(arguments.loop_s, 3600);
    CHECK_INT(arguments.chunk_bytes, 65536);
    CHECK_INT(arguments.memory_limit_bytes, 1 << 30);
    arguments_release(&arguments);
}

TEST(the_file_name_picks_the_format)
{
    static const struct {
        const char *text;
        enum output_format format;
    } cases[] = {
        {"file=a.jfr", FORMAT_JFR},
        {"file=a.collapsed", FORMAT_FOLDED},
        {"file=a.html", FORMAT_FLAMEGRAPH},
        {"file=a.txt", FORMAT_TEXT},
        {"collapsed,file=a.txt", FORMAT_FOLDED},
        {"stop", FORMAT_NONE},
        {"traces=5", FORMAT_TEXT},
        {"flat", FORMAT_TEXT},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arguments arguments = parse(cases[i].text);
        CHECK_INT(arguments_format(&arguments), cases[i].format);
        arguments_release(&arguments);
    }
}

TEST(names_with_dashes)
{
    struct arguments arguments = parse("record-cpu,target-cpu=3");
    CHECK(arguments.record_cpu);
    CHECK_INT(arguments.target_cpu, 3);
    arguments_release(&arguments);
}

TEST(remembers_unknown_names)
{
    struct arguments arguments = parse("start,frobnicate=3,other");
    CHECK_TEXT(arguments.unknown, "frobnicate");
    arguments_release(&arguments);
}

TEST(refuses_values_that_cannot_be)
{
    check_refused("interval=fast", "interval=fast is not a number with a valid unit");
    check_refused("chunktime=9q", "chunktime=9q is not a number with a valid unit");
    check_refused("interval=99999999999999999999",
                  "interval=99999999999999999999 is not a number with a valid unit");
    check_refused("interval=9999999999999s", "interval=9999999999999s is not a number with a valid unit");
    check_refused("interval", "interval needs a value");
}

TEST(patterns_may_be_repeated)
{
    struct arguments arguments = parse("include=*Foo*,include=Bar*,exclude=*baz");
    CHECK_INT(arguments.include.count, 2);
    CHECK_TEXT(arguments.include.items[1], "Bar*");
    CHECK_INT(arguments.exclude.count, 1);
    arguments_release(&arguments);
}

TEST(expands_file_names)
{
    char path[64], expected[64];
    setenv("SPARKFLAME_TEST_NAME", "exec7", 1);
    CHECK(arguments_expand_file("/tmp/%{SPARKFLAME_TEST_NAME}-%p-%n{3}.jfr", 2, path, sizeof(path)));
    snprintf(expected, sizeof(expected), "/tmp/exec7-%d-2.jfr", (int)getpid());
    CHECK_TEXT(path, expected);
    CHECK(arguments_expand_file("100%", 1, path, sizeof(path)));
    CHECK_TEXT(path, "100%");
    CHECK(!arguments_expand_file("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                 1, path, sizeof(path)));
}
