#include "collector/store/rollup_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "failing_memory.h"
#include "unit_test.h"

static char folder[] = "/tmp/rollup_file_test_XXXXXX";
static int descriptor;

static void make_folder(void)
{
    CHECK(mkdtemp(folder) != NULL);
    descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    CHECK(descriptor >= 0);
}

static void remove_folder(void)
{
    CHECK_INT(unlinkat(descriptor, "0000000007.rollup", 0), 0);
    close(descriptor);
    CHECK_INT(rmdir(folder), 0);
}

static bool write_sections(struct output *output, struct error *error)
{
    static const struct stored_rollup rollup = {.group = "etl",
                                                .level = ROLLUP_1_HOUR,
                                                .first = 5,
                                                .last = 50,
                                                .first_ms = 1000,
                                                .last_ms = 2000,
                                                .recordings = 40,
                                                .fingerprint = 12345};
    struct rollup_section series = {
        .series = {.application = "app-1", .executor = "-", .kind = "partial", .labels = "release=1.2\n"},
        .drops = TEXT("color\n"),
        .recordings = 40,
        .broken = 3,
        .unpacked_bytes = 10};
    struct rollup_section all = {.is_union = true, .recordings = 40};
    struct rollup_writer writer;
    rollup_writer_begin(&writer, output);
    bool good = rollup_writer_add(&writer, &series, TEXT("first section"), error) &&
                rollup_writer_add(&writer, &all, TEXT("second"), error) &&
                rollup_writer_end(&writer, &rollup, error);
    rollup_writer_release(&writer);
    return good;
}

static void write_file(struct text_view bytes)
{
    int file = openat(descriptor, "0000000007.rollup", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_INT(write(file, bytes.data, bytes.size), (long long)bytes.size);
    close(file);
}

static struct text_view make_bytes(struct text_builder *bytes)
{
    struct error error = {0};
    struct output output;
    text_builder_init(bytes, 1 << 16);
    CHECK_OK(error, output_open_memory(&output, bytes, &error));
    CHECK_OK(error, write_sections(&output, &error));
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    return text_builder_view(bytes);
}

TEST(what_was_written_is_read)
{
    struct error error = {0};
    struct text_builder bytes, section;
    struct rollup_file file;
    make_folder();
    write_file(make_bytes(&bytes));
    CHECK_OK(error, rollup_file_open(&file, descriptor, 7, &error));
    CHECK_TEXT(file.rollup.group, "etl");
    CHECK_INT(file.rollup.level, ROLLUP_1_HOUR);
    CHECK_INT(file.rollup.number, 7);
    CHECK_INT(file.rollup.bytes, (long long)bytes.size);
    CHECK(file.rollup.first == 5 && file.rollup.last == 50 && file.rollup.fingerprint == 12345);
    CHECK_OK(error, rollup_file_check(&file, "etl", 5, 50, &error));
    CHECK(!rollup_file_check(&file, "etl2", 5, 50, &error) && error.code == ERROR_BAD_INPUT);
    CHECK(!rollup_file_check(&file, "etl", 4, 50, &error) && !rollup_file_check(&file, "etl", 5, 51, &error));
    CHECK_INT(file.section_count, 2);
    CHECK_TEXT(file.sections[0].series.application, "app-1");
    CHECK_TEXT(file.sections[0].series.labels, "release=1.2\n");
    CHECK(text_equal(file.sections[0].drops, TEXT("color\n")));
    CHECK(file.sections[0].recordings == 40 && file.sections[0].broken == 3);
    CHECK(!file.sections[0].is_union && file.sections[1].is_union);
    text_builder_init(&section, 100);
    CHECK_OK(error, rollup_file_read(&file, &file.sections[1], &section, &error));
    CHECK(text_equal(text_builder_view(&section), TEXT("second")));
    text_builder_release(&section);
    rollup_file_close(&file);
    CHECK_OK(error, rollup_file_open_end(&file, descriptor, 7, &error));
    CHECK_INT(file.section_count, 0);
    CHECK_OK(error, rollup_file_check(&file, "etl", 5, 50, &error));
    rollup_file_close(&file);
    CHECK(!rollup_file_open(&file, descriptor, 8, &error));
    CHECK_INT(error.code, ERROR_SYSTEM);
    text_builder_release(&bytes);
    remove_folder();
}

/* True if the file opens and all sections can be read. */
static bool reads_all(void)
{
    struct rollup_file file;
    struct text_builder section;
    struct error error = {0};
    if (!rollup_file_open(&file, descriptor, 7, &error)) {
        CHECK_INT(error.code, ERROR_BAD_INPUT);
        return false;
    }
    bool good = true;
    text_builder_init(&section, 1000);
    for (size_t i = 0; good && i < file.section_count; i++)
        good = rollup_file_read(&file, &file.sections[i], &section, &error);
    text_builder_release(&section);
    rollup_file_close(&file);
    return good;
}

TEST(damage_is_found_wherever_it_is)
{
    struct text_builder bytes;
    make_folder();
    make_bytes(&bytes);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= 1;
        write_file(text_builder_view(&bytes));
        CHECK(!reads_all());
        bytes.data[i] ^= 1;
        write_file(text_part(text_builder_view(&bytes), 0, i));
        CHECK(!reads_all());
    }
    write_file(text_builder_view(&bytes));
    CHECK(reads_all());
    text_builder_release(&bytes);
    remove_folder();
}

TEST(out_of_memory_is_reported)
{
    struct text_builder bytes;
    make_folder();
    write_file(make_bytes(&bytes));
    FAIL_EACH_ALLOCATION
    {
        struct rollup_file file;
        struct error error = {0};
        if (rollup_file_open(&file, descriptor, 7, &error)) {
            CHECK_INT(file.section_count, 2);
            rollup_file_close(&file);
        } else {
            CHECK(error.code == ERROR_MEMORY);
        }
    }
    text_builder_release(&bytes);
    remove_folder();
}

TEST(names_of_files)
{
    uint64_t number;
    CHECK(rollup_file_number("0000000007.rollup", &number) && number == 7);
    CHECK(!rollup_file_number("7.rollup", &number));
    CHECK(!rollup_file_number("0000000000.rollup", &number));
    CHECK(!rollup_file_number("0000000007.segment", &number));
    CHECK(!rollup_file_number("0000000007.rollup.part-abcdef", &number));
}
