#include "model/merger.h"

#include <math.h>
#include <stdio.h>

#include "failing_memory.h"
#include "folded_profile.h"
#include "unit_test.h"

static const char *const parts[] = {
    "@3:main;b 1\nstage=1:main;a 2\nwall:main;wait 7\n",
    "@3:main;b 4\nown=x/zeta=y:a;main 8\n@3000000000:main;b 16\n",
    "zeta=y:a 32\nalloc:main;a;b 64\nstage=10/thread=t:main;a 128\n",
    "@3:main;b 256\nstage=1:main;a 512\n",
};

/* All numbers and texts of a profile. */
static const char *dump(const struct profile *profile)
{
    static char text[8000];
    size_t used = 0;
#define PRINT(...) used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__)
    for (uint32_t i = 0; i < profile->strings.size; i++)
        PRINT("string %.*s\n", TEXT_FORMAT(profile_text(profile, i)));
    for (size_t i = 0; i < profile->frames.size; i++)
        PRINT("frame %u %u\n", profile->frames.frames[i].name, profile->frames.frames[i].file);
    for (size_t i = 1; i < profile->stacks.size; i++)
        PRINT("node %u %u\n", profile->stacks.nodes[i].parent, profile->stacks.nodes[i].frame);
    for (uint32_t i = 0; i < profile->contexts.size; i++) {
        struct context context = context_table_get(&profile->contexts, i);
        for (size_t j = 0; j < context.size; j++)
            PRINT("label %u: %u=%u\n", i, context.labels[j].key, context.labels[j].value);
    }
    for (size_t i = 0; i < profile->event_count; i++)
        PRINT("event %u %d\n", profile->events[i].name, profile->events[i].shows_value);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        PRINT("sample %lld %u %u %u %g\n", (long long)sample->time_ns, sample->event, sample->stack,
              sample->context, sample->count);
    }
#undef PRINT
    return text;
}

/* The sum of the parts in the order of the digits; those after the space are joined as a merger of their own. */
static void merge(struct profile *sum, const char *order, const struct merger_options *options)
{
    struct error error = {0};
    struct merger mergers[2];
    size_t current = 0;
    CHECK_OK(error, merger_init(&mergers[0], options, &error));
    CHECK_OK(error, merger_init(&mergers[1], options, &error));
    for (const char *at = order; *at != '\0'; at++) {
        struct profile part;
        if (*at == ' ') {
            current = 1;
            continue;
        }
        folded_profile_init(&part, parts[*at - '0']);
        part.times_are_absolute = true;
        CHECK_OK(error, merger_add(&mergers[current], &part, &error));
        profile_release(&part);
    }
    CHECK_OK(error, merger_join(&mergers[0], &mergers[1], &error));
    merger_release(&mergers[1]);
    CHECK_OK(error, merger_finish(&mergers[0], sum, &error));
}

TEST(the_sum_does_not_depend_on_the_order)
{
    static const char *const orders[] = {"0123", "3210", "2 031", "13 20", " 1302", "1032 "};
    static const struct merger_options variants[] = {
        {true, true, 0}, {true, true, 1000000000}, {false, true, 0}, {true, false, 0}, {false, false, 0}};
    for (size_t i = 0; i < COUNT_OF(variants); i++) {
        char first[8000];
        for (size_t j = 0; j < COUNT_OF(orders); j++) {
            struct profile sum;
            merge(&sum, orders[j], &variants[i]);
            if (j == 0)
                snprintf(first, sizeof(first), "%s", dump(&sum));
            else
                CHECK_TEXT(dump(&sum), first);
            CHECK_TEXT(folded_profile_text(&sum),
                       "a 32\na;main 8\nalloc:main;a;b 64\nmain;a 642\nmain;b 277\nwall:main;wait 7\n");
            profile_release(&sum);
        }
    }
}

TEST(numbers_are_those_of_the_content)
{
    struct profile sum;
    merge(&sum, "01", &(struct merger_options){true, true, 1000000000});
    CHECK_TEXT(dump(&sum), "string \nstring 1\nstring a\nstring b\nstring cpu\nstring main\n"
                           "string wait\nstring wall\nstring y\nstring zeta\n"
                           "frame 2 0\nframe 3 0\nframe 5 0\nframe 6 0\n"
                           "node 0 0\nnode 1 2\nnode 0 2\nnode 3 0\nnode 3 1\nnode 3 3\n"
                           "label 1: 7=1\nlabel 2: 13=8\nevent 4 0\nevent 7 0\n"
                           "sample -9223372036854775808 0 2 2 8\nsample -9223372036854775808 0 4 1 2\n"
                           "sample -9223372036854775808 1 6 0 7\nsample 0 0 5 0 5\n"
                           "sample 3000000000 0 5 0 16\n");
    profile_release(&sum);
}

TEST(relative_times_are_dropped)
{
    struct error error = {0};
    struct profile part, sum;
    struct merger merger;
    folded_profile_init(&part, "@3:a 1\n@4:a 2\n");
    CHECK_OK(error, merger_init(&merger, &(struct merger_options){true, true, 0}, &error));
    CHECK_OK(error, merger_add(&merger, &part, &error));
    CHECK_OK(error, merger_finish(&merger, &sum, &error));
    CHECK_INT(sum.sample_count, 1);
    CHECK(sum.samples[0].count == 3 && sum.samples[0].time_ns == NO_TIME);
    profile_release(&part);
    profile_release(&sum);
}

TEST(weights_are_exact_beyond_doubles)
{
    struct error error = {0};
    struct profile part, sum;
    struct merger merger;
    folded_profile_init(&part, "a 1\nb 1\n");
    CHECK_OK(error, merger_init(&merger, &(struct merger_options){false, true, 0}, &error));
    static const double values[][2] = {{9007199254740992, 9e18}, {1, 9e18}, {1, 0.25}, {0.5, 0.5}};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        part.samples[0].value = values[i][0];
        part.samples[1].value = values[i][1];
        CHECK_OK(error, merger_add(&merger, &part, &error));
    }
    CHECK_OK(error, merger_finish(&merger, &sum, &error));
    CHECK_INT(sum.exact[0].value, 9007199254740994);
    CHECK_INT(sum.exact[0].value_fraction, UINT32_C(1) << 31);
    CHECK_INT(sum.exact[0].count, 4);
    CHECK_INT(sum.exact[1].value, INT64_MAX);
    CHECK_OK(error, merger_init(&merger, &(struct merger_options){false, true, 0}, &error));
    CHECK_OK(error, merger_add(&merger, &sum, &error));
    CHECK_OK(error, merger_add(&merger, &sum, &error));
    profile_release(&sum);
    CHECK_OK(error, merger_finish(&merger, &sum, &error));
    CHECK_INT(sum.exact[0].value, 18014398509481989);
    CHECK_INT(sum.exact[0].value_fraction, 0);
    CHECK_INT(sum.exact[1].value, INT64_MAX);
    profile_release(&part);
    profile_release(&sum);
}

TEST(fixed_points_are_the_nearest)
{
    static const struct {
        double number;
        struct fixed_point expected;
        int64_t rounded;
    } cases[] = {{0, {0, 0}, 0},
                 {1.25, {1, 1u << 30}, 1},
                 {-1.25, {-2, 3u << 30}, -1},
                 {2.5, {2, 1u << 31}, 3},
                 {0.9999999999999999, {1, 0}, 1},
                 {NAN, {0, 0}, 0},
                 {INFINITY, {9223372036854774784, 0}, 9223372036854774784},
                 {-INFINITY, {-9223372036854774784, 0}, -9223372036854774784}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixed_point found = fixed_point_of(cases[i].number);
        CHECK_INT(found.whole, cases[i].expected.whole);
        CHECK_INT(found.fraction, cases[i].expected.fraction);
        CHECK_INT(fixed_point_round(found), cases[i].rounded);
    }
    CHECK(fixed_point_double((struct fixed_point){-2, 3u << 30}) == -1.25);
}

static bool is_stage(const void *context, struct text_view name)
{
    return text_equal(name, TEXT("stage"));
}

TEST(labels_that_are_not_kept_make_no_difference)
{
    struct profile sum;
    merge(&sum, "0123", &(struct merger_options){.keep_labels = true, .labels = {is_stage, NULL, false}});
    CHECK_INT(sum.contexts.size, 2);
    for (uint32_t i = 1; i < sum.contexts.size; i++) {
        struct context context = context_table_get(&sum.contexts, i);
        CHECK(context.size == 1 && context.labels[0].key == LABEL_STAGE);
    }
    double count = 0;
    for (size_t i = 0; i < sum.sample_count; i++)
        count += sum.samples[i].count;
    CHECK_INT((long long)count, 1 + 2 + 7 + 4 + 8 + 16 + 32 + 64 + 128 + 256 + 512);
    profile_release(&sum);
}

/* 70 profiles with a label each that no other has. */
static bool merge_many_labels(bool may_drop, size_t *keys, struct error *error)
{
    struct merger merger;
    struct profile sum;
    const struct merger_options options = {.keep_labels = true, .labels = {.may_drop = may_drop}};
    CHECK_OK(*error, merger_init(&merger, &options, error));
    bool good = true;
    for (int i = 0; good && i < 70; i++) {
        char text[64];
        struct profile part;
        snprintf(text, sizeof(text), "label%d=v:main;a 1\n", i);
        folded_profile_init(&part, text);
        good = merger_add(&merger, &part, error);
        profile_release(&part);
    }
    if (!good) {
        merger_release(&merger);
        return false;
    }
    CHECK_OK(*error, merger_finish(&merger, &sum, error));
    double count = 0;
    for (size_t i = 0; i < sum.sample_count; i++)
        count += sum.samples[i].count;
    CHECK_INT((long long)count, 70);
    *keys = sum.contexts.key_count;
    profile_release(&sum);
    return true;
}

TEST(of_too_many_labels_some_may_be_left_out)
{
    struct error error = {0};
    size_t keys = 0;
    CHECK(!merge_many_labels(false, &keys, &error));
    CHECK_INT(error.code, ERROR_MEMORY);
    error = (struct error){0};
    CHECK(merge_many_labels(true, &keys, &error));
    CHECK_INT(keys, LABEL_KEY_LIMIT);
}

TEST(out_of_memory_is_reported)
{
    FAIL_EACH_ALLOCATION
    {
        struct error error = {0};
        struct profile part, sum;
        struct merger merger;
        if (!profile_init(&part, true, &error)) {
            CHECK(failing_memory_failed());
            continue;
        }
        bool good = merger_init(&merger, &(struct merger_options){true, true, 0}, &error);
        if (good && folded_profile_add(&part, "stage=1/k=v:a;b 1\nwall:c 2\n") &&
            merger_add(&merger, &part, &error)) {
            good = merger_finish(&merger, &sum, &error);
            CHECK(good || failing_memory_failed());
            if (good)
                profile_release(&sum);
        } else {
            CHECK(failing_memory_failed());
            if (good)
                merger_release(&merger);
        }
        profile_release(&part);
    }
}
