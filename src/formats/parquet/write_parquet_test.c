/* Tables of small profiles; tests/test_parquet.py reads them. */
#include "failing_memory.h"
#include "folded_profile.h"
#include "formats/writer.h"
#include "unit_test.h"

static const char *const tables[] = {"samples",      "stack_frames", "frames",
                                     "method_costs", "applications", "events"};

#define SAMPLES                                                                                      \
    "stage=3/@1700000000000000000:a/b/C.d;e;e 1\nstage=x:a/b/C.d 2\nthread=worker-12/wall:f\xff 4\n" \
    "task=-9223372036854775807:e 8\nalloc/@-1:e;f 16\n"

static bool write_table(const struct profile *profile, const char *table, struct text_builder *text,
                        struct error *error)
{
    struct write_options options = {.table = table};
    struct output output;
    if (!output_open_memory(&output, text, error))
        return false;
    bool good = writer_by_name(TEXT("parquet"))->write(profile, &options, &output, error) &&
                output_finish(&output, error);
    output_release(&output);
    return good;
}

TEST(files_have_both_marks)
{
    struct profile profile;
    struct error error = {0};
    folded_profile_init(&profile, SAMPLES);
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct text_builder text;
        text_builder_init(&text, 1 << 20);
        CHECK_OK(error, write_table(&profile, tables[i], &text, &error));
        struct text_view file = text_builder_view(&text);
        CHECK(text_starts_with(file, TEXT("PAR1")) && text_ends_with(file, TEXT("PAR1")));
        CHECK(text_find(file, text_of(tables[i])) != TEXT_NOT_FOUND);
        text_builder_release(&text);
    }
    profile_release(&profile);
}

TEST(a_profile_without_samples_has_empty_tables)
{
    struct profile profile;
    struct error error = {0};
    folded_profile_init(&profile, "");
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct text_builder text;
        text_builder_init(&text, 1 << 20);
        CHECK_OK(error, write_table(&profile, tables[i], &text, &error));
        text_builder_release(&text);
    }
    profile_release(&profile);
}

TEST(out_of_memory_is_reported)
{
    struct profile profile;
    folded_profile_init(&profile, SAMPLES);
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        FAIL_EACH_ALLOCATION
        {
            struct error error = {0};
            struct text_builder text;
            text_builder_init(&text, 1 << 20);
            bool good = write_table(&profile, tables[i], &text, &error);
            CHECK(good || (failing_memory_failed() && error.code == ERROR_MEMORY));
            text_builder_release(&text);
        }
    }
    profile_release(&profile);
}
