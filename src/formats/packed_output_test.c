#include "formats/packed_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "failing_memory.h"
#include "input/byte_source.h"
#include "unit_test.h"

#define LINE "a line of text\n"
#define LINES 20000

static char path[64];

static void make_path(const char *ending)
{
    snprintf(path, sizeof(path), "/tmp/packed-output-%ld%s", (long)getpid(), ending);
}

static bool write_lines(bool is_packed, struct error *error)
{
    struct packed_output packed;
    if (!packed_output_open(&packed, path, is_packed, error))
        return false;
    for (size_t i = 0; i < LINES; i++)
        output_c_string(&packed.output, LINE);
    return packed_output_finish(&packed, error);
}

static size_t size_on_disk(void)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    fclose(file);
    return (size_t)size;
}

TEST(a_name_that_ends_in_gz_is_packed)
{
    struct error error = {0};
    struct text_view text;
    make_path(".txt.gz");
    CHECK_OK(error, write_lines(false, &error));
    CHECK(size_on_disk() < LINES);
    struct byte_source *source = byte_source_open(path, &error);
    CHECK(source != NULL);
    CHECK_OK(error, byte_source_all(source, (size_t)1 << 20, &text, &error));
    CHECK_INT(text.size, LINES * strlen(LINE));
    CHECK(memcmp(text.data + text.size - strlen(LINE), LINE, strlen(LINE)) == 0);
    byte_source_close(source);
    unlink(path);
}

TEST(other_names_and_what_is_packed_already_stay_as_they_are)
{
    struct error error = {0};
    make_path(".txt");
    CHECK_OK(error, write_lines(false, &error));
    CHECK_INT(size_on_disk(), LINES * strlen(LINE));
    unlink(path);
    make_path(".pb.gz");
    CHECK_OK(error, write_lines(true, &error));
    CHECK_INT(size_on_disk(), LINES * strlen(LINE));
    unlink(path);
}

TEST(what_is_given_up_leaves_no_file)
{
    struct error error = {0};
    struct packed_output packed;
    make_path(".txt.gz");
    CHECK_OK(error, packed_output_open(&packed, path, false, &error));
    output_c_string(&packed.output, LINE);
    packed_output_release(&packed);
    CHECK(access(path, F_OK) != 0);
}

TEST(out_of_memory_is_told)
{
    make_path(".txt.gz");
    FAIL_EACH_ALLOCATION
    {
        struct error error = {0};
        bool good = write_lines(false, &error);
        CHECK(good || failing_memory_failed());
        CHECK(good || error.message[0] != '\0');
        CHECK(good || access(path, F_OK) != 0);
        unlink(path);
    }
}
