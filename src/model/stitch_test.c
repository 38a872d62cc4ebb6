#include "model/stitch.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

#define RUNNER "org/apache/spark/api/python/PythonRunner$$anon$3.read"

static struct profile profile;
static struct error error;

static void begin(void)
{
    CHECK_OK(error, profile_init(&profile, false, &error));
}

static uint32_t context_of(const char *task, const char *state)
{
    struct label labels[] = {{LABEL_TASK, profile_string(&profile, text_of(task))},
                             {LABEL_STATE, profile_string(&profile, text_of(state))}};
    return context_table_add(&profile.contexts, labels, 2);
}

/* Frames outermost first; those whose name ends in ".py" are Python's. */
static void add(const char *event, const char *path, const char *task, const char *state, double count)
{
    struct text_view rest = text_of(path);
    uint32_t node = STACK_ROOT;
    while (rest.size > 0) {
        struct text_view name = text_cut(&rest, ';');
        enum frame_kind kind = text_ends_with(name, TEXT(".py")) ? FRAME_PYTHON : FRAME_UNKNOWN;
        node = stack_tree_child(&profile.stacks, node, profile_frame(&profile, name, TEXT(""), 0, kind));
    }
    struct sample sample = {.stack = node, .time_ns = NO_TIME, .value = count, .count = count};
    sample.event = profile_event(&profile, text_of(event), UNIT_COUNT, false);
    sample.context = context_of(task, state);
    CHECK(profile_add_sample(&profile, &sample));
}

/* The sum of samples with that path. */
static double count_of(const char *event, const char *path)
{
    double count = 0;
    for (size_t i = 0; i < profile.sample_count; i++) {
        const struct sample *sample = &profile.samples[i];
        char text[400] = "";
        for (uint32_t node = sample->stack; node != STACK_ROOT; node = profile.stacks.nodes[node].parent) {
            struct text_view name = profile_frame_name(&profile, profile.stacks.nodes[node].frame);
            char before[400];
            snprintf(before, sizeof(before), "%s", text);
            snprintf(text, sizeof(text), "%.*s%s%.300s", TEXT_FORMAT(name), before[0] == '\0' ? "" : ";",
                     before);
        }
        if (strcmp(text, path) == 0 &&
            text_equal(profile_text(&profile, profile.events[sample->event].name), text_of(event)))
            count += sample->count;
    }
    return count;
}

static double total_of(const char *event)
{
    double total = 0;
    for (size_t i = 0; i < profile.sample_count; i++)
        if (text_equal(profile_text(&profile, profile.events[profile.samples[i].event].name), text_of(event)))
            total += profile.samples[i].count;
    return total;
}

TEST(waits_become_what_the_worker_did)
{
    begin();
    add("wall", "run;" RUNNER ";java/io/DataInputStream.readInt", "7", "sleeping", 30);
    add("wall", "run;" RUNNER ";decode", "7", "sleeping", 5); /* not at the boundary */
    add("wall", "run;" RUNNER ";java/io/DataInputStream.readInt", "7", "runnable", 2);
    add("wall", "main.py;work.py", "7", "runnable", 40);
    add("wall", "main.py;pack.py", "7", "runnable", 20);
    add("wall", "main.py;other.py", "8", "runnable", 9); /* nobody waits for it here */
    CHECK_OK(error, stitch_profile(&profile, &error));
    CHECK(count_of("wall", "run;" RUNNER ";main.py;work.py") == 20);
    CHECK(count_of("wall", "run;" RUNNER ";main.py;pack.py") == 10);
    CHECK(count_of("wall", "run;" RUNNER ";decode") == 5);
    CHECK(count_of("wall", "run;" RUNNER ";java/io/DataInputStream.readInt") == 2);
    CHECK(count_of("wall", "main.py;other.py") == 9);
    CHECK(total_of("wall") == 30 + 5 + 2 + 9);
    profile_release(&profile);
}

TEST(processor_time_of_python_comes_below_the_boundary)
{
    begin();
    add("wall", "run;" RUNNER ";java/io/DataInputStream.readInt", "7", "sleeping", 3);
    add("wall", "run;b;" RUNNER ";java/io/DataInputStream.readInt", "7", "sleeping", 1);
    add("cpu", "run;compute", "7", "", 11);
    add("cpu", "main.py;work.py", "7", "", 40);
    add("cpu", "run;" RUNNER ";decode", "8", "", 6);
    add("cpu", "main.py;work.py", "8", "", 5); /* no wait was seen, but Java reads there */
    add("cpu", "main.py;work.py", "9", "", 4); /* its Java is not known */
    CHECK_OK(error, stitch_profile(&profile, &error));
    CHECK(count_of("cpu", "run;" RUNNER ";main.py;work.py") == 30 + 5);
    CHECK(count_of("cpu", "run;b;" RUNNER ";main.py;work.py") == 10);
    CHECK(count_of("cpu", "main.py;work.py") == 4);
    CHECK(count_of("cpu", "run;compute") == 11);
    CHECK(total_of("cpu") == 11 + 40 + 6 + 5 + 4);
    CHECK(total_of("wall") == 4); /* there is no Python to show */
    profile_release(&profile);
}

TEST(python_beside_a_task_that_does_not_wait_is_not_counted_again)
{
    begin();
    add("wall", "run;compute", "7", "runnable", 50);
    add("wall", "main.py;work.py", "7", "runnable", 50);
    CHECK_OK(error, stitch_profile(&profile, &error));
    CHECK(total_of("wall") == 50 && count_of("wall", "run;compute") == 50);
    profile_release(&profile);
}

TEST(totals_stay_whole_whatever_the_scale)
{
    begin();
    char name[32];
    for (int i = 0; i < 97; i++) {
        snprintf(name, sizeof(name), "main.py;f%d.py", i);
        add("wall", name, "7", "runnable", 3);
        snprintf(name, sizeof(name), "run%d;", i % 13);
        char path[200];
        snprintf(path, sizeof(path), "%s" RUNNER ";java/net/Socket.read", name);
        add("wall", path, "7", "sleeping", 1);
    }
    CHECK_OK(error, stitch_profile(&profile, &error));
    CHECK(total_of("wall") == 97);
    profile_release(&profile);
}
