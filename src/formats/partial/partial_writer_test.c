#include "formats/partial/partial_writer.h"

#include <string.h>

#include "failing_memory.h"
#include "folded_profile.h"
#include "model/merger.h"
#include "unit_test.h"

extern const struct reader reader_partial;

static const struct sum_options sum_options = {.labels = true};
static const struct read_options read_options = {
    .threads = 1, .needs_lines = true, .needs_contexts = true, .sum = &sum_options, .event = {"", 0}};

static void sum_up(struct profile *sum, const struct profile *part)
{
    struct error error = {0};
    struct merger merger;
    CHECK_OK(error, merger_init(&merger, &(struct merger_options){true, true, 0}, &error));
    CHECK_OK(error, merger_add(&merger, part, &error));
    CHECK_OK(error, merger_finish(&merger, sum, &error));
}

static struct text_view write_all(const struct profile *sum, struct text_builder *text)
{
    struct error error = {0};
    struct output output;
    text_builder_init(text, 1 << 20);
    CHECK_OK(error, output_open_memory(&output, text, &error));
    partial_write(sum, &read_options, &output);
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    return text_builder_view(text);
}

static bool read_all(struct text_view bytes, const struct read_options *options, struct profile *profile,
                     struct error *error)
{
    struct byte_source *source = byte_source_open_memory(bytes, "part", error);
    bool good = source != NULL && reader_partial.read(source, options, profile, error);
    byte_source_close(source);
    return good;
}

/* A sum with weights that no double holds. */
static void make_sum(struct profile *sum)
{
    struct profile part;
    folded_profile_init(&part, "stage=1/k=v/@5:a;b 1\nwall/stage=2:a;c;\xc3\xa4 2\n@9:a 3\n");
    part.times_are_absolute = true;
    part.start_ns = 4;
    part.end_ns = 10;
    sum_up(sum, &part);
    profile_release(&part);
    sum->exact[0] = (struct exact_weights){INT64_MAX, -3, UINT32_MAX, 0};
    sum->exact[1] = (struct exact_weights){(INT64_C(1) << 53) + 1, 7, 0, 1u << 31};
}

TEST(a_sum_comes_back_exactly)
{
    struct error error = {0};
    struct profile sum, back, again;
    struct text_builder first, second;
    make_sum(&sum);
    struct text_view bytes = write_all(&sum, &first);
    CHECK_INT(reader_partial.recognizes(bytes), 100);
    CHECK_OK(error, profile_init(&back, true, &error));
    CHECK_OK(error, read_all(bytes, &read_options, &back, &error));
    CHECK_INT(back.sample_count, 3);
    CHECK(memcmp(back.exact, sum.exact, 3 * sizeof(*sum.exact)) == 0);
    CHECK(back.start_ns == 4 && back.end_ns == 10 && back.times_are_absolute);
    sum_up(&again, &back);
    CHECK(text_equal(write_all(&again, &second), bytes));
    text_builder_release(&first);
    text_builder_release(&second);
    profile_release(&sum);
    profile_release(&back);
    profile_release(&again);
}

TEST(what_is_cut_short_is_refused)
{
    struct profile sum;
    struct text_builder text;
    make_sum(&sum);
    struct text_view bytes = write_all(&sum, &text);
    for (size_t size = 0; size < bytes.size; size++) {
        struct error error = {0};
        struct profile back;
        CHECK_OK(error, profile_init(&back, true, &error));
        CHECK(!read_all(text_part(bytes, 0, size), &read_options, &back, &error));
        CHECK(error.code == ERROR_BAD_INPUT);
        profile_release(&back);
    }
    text_builder_release(&text);
    profile_release(&sum);
}

TEST(without_memory_it_fails)
{
    struct profile sum;
    struct text_builder text;
    make_sum(&sum);
    struct text_view bytes = write_all(&sum, &text);
    FAIL_EACH_ALLOCATION
    {
        struct error error = {0};
        struct profile back;
        if (profile_init(&back, true, &error)) {
            CHECK(read_all(bytes, &read_options, &back, &error) || failing_memory_failed());
            profile_release(&back);
        }
    }
    text_builder_release(&text);
    profile_release(&sum);
}
