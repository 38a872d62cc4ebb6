#include "render/page_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "unit_test.h"

/* ---- a small profile ---- */

static uint32_t stack_of(struct profile *profile, const char *folded)
{
    struct text_view rest = text_of(folded);
    uint32_t node = STACK_ROOT;
    while (rest.size > 0) {
        uint32_t frame = profile_frame(profile, text_cut(&rest, ';'), TEXT("F.java"), 7, FRAME_COMPILED);
        node = stack_tree_child(&profile->stacks, node, frame);
    }
    return node;
}

static void add(struct profile *profile, const char *folded, double count, int64_t time_ns,
                const char *thread)
{
    struct label label = {LABEL_THREAD, profile_string(profile, text_of(thread))};
    struct sample sample = {.stack = stack_of(profile, folded),
                            .context = context_table_add(&profile->contexts, &label, 1),
                            .event = profile_event(profile, TEXT("samples"), UNIT_COUNT, false),
                            .time_ns = time_ns,
                            .value = count,
                            .count = count};
    CHECK(profile_add_sample(profile, &sample));
}

static void make_profile(struct profile *profile, bool keep_times)
{
    struct error error;
    CHECK_OK(error, profile_init(profile, keep_times, &error));
}

/* ---- reading the bytes back ---- */

struct bytes {
    const unsigned char *at;
    const unsigned char *end;
};

static uint64_t varint(struct bytes *bytes)
{
    uint64_t number = 0;
    for (unsigned shift = 0; bytes->at < bytes->end; shift += 7) {
        number |= (uint64_t)(*bytes->at & 127) << shift;
        if (*bytes->at++ < 128)
            return number;
    }
    unit_test_fail(__FILE__, __LINE__, "the bytes end within a number");
}

static struct bytes part(struct bytes *bytes)
{
    uint64_t size = varint(bytes);
    CHECK(size <= (uint64_t)(bytes->end - bytes->at));
    struct bytes inner = {bytes->at, bytes->at + size};
    bytes->at += size;
    return inner;
}

static struct bytes section(const struct text_builder *data, int wanted)
{
    struct bytes bytes = {(const unsigned char *)data->data, (const unsigned char *)data->data + data->size};
    CHECK(data->size > 5 && memcmp(data->data, "SFPD\1", 5) == 0);
    bytes.at += 5;
    while (bytes.at < bytes.end) {
        int tag = *bytes.at++;
        struct bytes inner = part(&bytes);
        if (tag == wanted)
            return inner;
    }
    unit_test_fail(__FILE__, __LINE__, "there is no part %d", wanted);
}

/* The numbers of the next column, blank-separated. */
static const char *column(struct bytes *bytes)
{
    static char text[8][4096];
    static int next;
    char *to = text[next++ % 8];
    struct bytes inner = part(bytes);
    size_t used = 0;
    to[0] = '\0';
    while (inner.at < inner.end) {
        int size = snprintf(to + used, sizeof(text[0]) - used, "%s%llu", used > 0 ? " " : "",
                            (unsigned long long)varint(&inner));
        used += (size_t)size;
    }
    return to;
}

static void build(const struct page_input *input, struct text_builder *data)
{
    struct error error;
    text_builder_init(data, PAGE_DATA_LIMIT_BYTES);
    CHECK_OK(error, page_data_build(input, data, &error));
}

static const char *meta_of(const struct text_builder *data)
{
    static char text[4096];
    struct bytes meta = section(data, 1);
    snprintf(text, sizeof(text), "%.*s", (int)(meta.end - meta.at), (const char *)meta.at);
    return text;
}

/* ---- tests ---- */

TEST(stacks_are_in_preorder_and_unused_ones_left_out)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, false);
    add(&profile, "m;a", 1, NO_TIME, "t");
    stack_of(&profile, "m;unused;deep");
    add(&profile, "m;b;c", 2, NO_TIME, "t");
    add(&profile, "m;a;x", 4, NO_TIME, "t");
    build(&(struct page_input){.profile = &profile}, &data);
    struct bytes nodes = section(&data, 4);
    CHECK_INT(varint(&nodes), 5); /* m, a, x, b, c */
    CHECK_TEXT(column(&nodes), "0 0 0 2 0");
    struct bytes rows = section(&data, 6);
    CHECK_INT(varint(&rows), 3);
    CHECK_TEXT(column(&rows), "2 1 2");
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(a_callee_that_was_called_last_costs_a_zero)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, false);
    add(&profile, "p;f;g", 1, NO_TIME, "t");
    add(&profile, "q;f;g", 1, NO_TIME, "t");
    build(&(struct page_input){.profile = &profile}, &data);
    struct bytes nodes = section(&data, 4);
    CHECK_INT(varint(&nodes), 6);
    CHECK_TEXT(column(&nodes), "0 0 0 3 0 0");
    /* f and g are the most frequent: 0 and 1; frame 0 is what an unknown caller is taken to have called. */
    CHECK_TEXT(column(&nodes), "3 0 2 4 0 0");
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(strings_are_sorted_and_share_their_beginnings)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, false);
    add(&profile, "org/b;org/a", 1, NO_TIME, "t");
    build(&(struct page_input){.profile = &profile}, &data);
    struct bytes strings = section(&data, 2);
    CHECK_INT(varint(&strings), 5); /* "", F.java, org/a, org/b, t */
    CHECK_TEXT(column(&strings), "0 0 0 4 0");
    CHECK_TEXT(column(&strings), "0 6 5 1 1");
    struct bytes suffixes = part(&strings);
    CHECK_INT(suffixes.end - suffixes.at, 13);
    CHECK(memcmp(suffixes.at, "F.javaorg/abt", 13) == 0);
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(times_become_ticks_and_equal_rows_one)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, true);
    add(&profile, "m", 1, 1000000000, "t");
    add(&profile, "m", 2, 1000000001, "t");
    add(&profile, "m", 4, 5000000000, "t");
    add(&profile, "m", 8, NO_TIME, "u");
    build(&(struct page_input){.profile = &profile}, &data);
    CHECK(strstr(meta_of(&data), "\"tick_ns\":5000000,\"ticks\":801") != NULL);
    struct bytes rows = section(&data, 6);
    CHECK_INT(varint(&rows), 3);
    CHECK_TEXT(column(&rows), "1 0 0");       /* node */
    CHECK_TEXT(column(&rows), "0 0 1");       /* label set */
    CHECK_TEXT(column(&rows), "2 1600 1601"); /* tick: 1, +800, back to "no time" */
    CHECK_TEXT(column(&rows), "3 4 8");       /* count */
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(a_comparison_marks_sides)
{
    struct profile before, after;
    struct text_builder data;
    make_profile(&before, false);
    make_profile(&after, false);
    add(&before, "m;a", 3, NO_TIME, "t");
    add(&after, "m;b", 5, NO_TIME, "t");
    add(&after, "m;a", 6, NO_TIME, "t");
    build(&(struct page_input){.profile = &after, .before = &before, .before_name = "x"}, &data);
    CHECK(strstr(meta_of(&data), "\"sides\":[\"x\",\"after\"]") != NULL);
    struct bytes rows = section(&data, 6);
    CHECK_INT(varint(&rows), 3);
    CHECK_TEXT(column(&rows), "2 0 1");
    CHECK_TEXT(column(&rows), "0 1 1");
    column(&rows);
    CHECK_TEXT(column(&rows), "3 6 5");
    text_builder_release(&data);
    profile_release(&before);
    profile_release(&after);
}

TEST(sides_made_on_different_days_begin_together)
{
    struct profile before, after;
    struct text_builder data;
    make_profile(&before, true);
    make_profile(&after, true);
    before.times_are_absolute = after.times_are_absolute = true;
    add(&before, "m;a", 1, 1600000000000000000, "t");
    add(&before, "m;a", 1, 1600000000000000004, "t");
    add(&after, "m;a", 1, NO_TIME, "t");
    add(&after, "m;a", 1, 1700000000000000000, "t");
    add(&after, "m;a", 1, 1700000000000000007, "t");
    build(&(struct page_input){.profile = &after, .before = &before}, &data);
    CHECK(strstr(meta_of(&data), "\"start_ms\":0,\"tick_ns\":1,\"ticks\":8,\"absolute\":false") != NULL);
    text_builder_release(&data);
    profile_release(&before);
    profile_release(&after);
}

TEST(values_are_stored_beside_counts)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, false);
    struct sample sample = {.stack = stack_of(&profile, "m"),
                            .event = profile_event(&profile, TEXT("alloc"), UNIT_BYTES, true),
                            .time_ns = NO_TIME,
                            .value = 4096,
                            .count = 2};
    CHECK(profile_add_sample(&profile, &sample));
    build(&(struct page_input){.profile = &profile}, &data);
    CHECK(strstr(meta_of(&data), "\"unit\":\"bytes\",\"value_scale\":4096,\"by_value\":true") != NULL);
    struct bytes rows = section(&data, 6);
    CHECK_INT(varint(&rows), 1);
    column(&rows);
    CHECK_TEXT(column(&rows), "1"); /* count, in twos */
    CHECK_TEXT(column(&rows), "1"); /* value, in 4096s */
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(an_empty_profile_has_all_parts)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, true);
    build(&(struct page_input){.profile = &profile}, &data);
    struct bytes nodes = section(&data, 4), rows = section(&data, 6);
    CHECK_INT(varint(&nodes), 0);
    CHECK_INT(varint(&rows), 0);
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(a_stack_of_a_million_frames_needs_no_recursion)
{
    struct profile profile;
    struct text_builder data;
    make_profile(&profile, false);
    uint32_t frame = profile_frame(&profile, TEXT("f"), TEXT(""), 0, FRAME_UNKNOWN), node = STACK_ROOT;
    for (int i = 0; i < 1000000; i++)
        node = stack_tree_append(&profile.stacks, node, frame);
    struct sample sample = {.stack = node,
                            .event = profile_event(&profile, TEXT("samples"), UNIT_COUNT, false),
                            .time_ns = NO_TIME,
                            .value = 1,
                            .count = 1};
    CHECK(profile_add_sample(&profile, &sample));
    build(&(struct page_input){.profile = &profile}, &data);
    struct bytes nodes = section(&data, 4);
    CHECK_INT(varint(&nodes), 1000000);
    text_builder_release(&data);
    profile_release(&profile);
}

TEST(out_of_memory_is_told)
{
    struct profile before, after;
    make_profile(&before, true);
    make_profile(&after, true);
    add(&before, "m;a", 3, 1000, "t");
    add(&after, "m;b", 5, 2000, "u");
    add(&after, "m;a", 6, 3000, "t");
    FAIL_EACH_ALLOCATION
    {
        struct error error = {.code = ERROR_NONE};
        struct text_builder data;
        text_builder_init(&data, PAGE_DATA_LIMIT_BYTES);
        bool good =
            page_data_build(&(struct page_input){.profile = &after, .before = &before}, &data, &error);
        CHECK(good != failing_memory_failed());
        CHECK(good || error.code == ERROR_MEMORY);
        text_builder_release(&data);
    }
    profile_release(&before);
    profile_release(&after);
}
