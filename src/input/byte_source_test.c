#include "input/byte_source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input/line_reader.h"
#include "unit_test.h"

/* "line 0\nline 1\n…", gzipped on wish, as a file that is gone when it is closed */
static char path[64];

static size_t write_lines(size_t count, bool packed)
{
    snprintf(path, sizeof(path), "/tmp/byte_source_test.%d", (int)getpid());
    gzFile file = gzopen(path, packed ? "wb1" : "wbT");
    CHECK(file != NULL);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += (size_t)gzprintf(file, "line %zu\n", i);
    CHECK_INT(gzclose(file), Z_OK);
    return size;
}

static void check_lines(size_t count)
{
    struct error error = {0};
    struct byte_source *source = byte_source_open(path, &error);
    CHECK(source != NULL);
    struct line_reader reader = {.source = source};
    struct text_view block;
    size_t number = 0;
    char expected[32];
    while (line_reader_next(&reader, &block, &error)) {
        while (block.size > 0) {
            struct text_view line = line_cut(&block);
            snprintf(expected, sizeof(expected), "line %zu", number++);
            CHECK(text_equal(line, text_of(expected)));
        }
    }
    CHECK(!reader.failed);
    CHECK_INT(number, count);
    byte_source_close(source);
    unlink(path);
}

TEST(plain_files_are_read_by_lines)
{
    write_lines(500000, false);
    check_lines(500000);
}

TEST(gzip_files_are_read_by_lines)
{
    write_lines(500000, true);
    check_lines(500000);
}

TEST(all_of_a_gzip_file_at_once)
{
    struct error error = {0};
    size_t size = write_lines(100000, true);
    struct byte_source *source = byte_source_open(path, &error);
    struct text_view all;
    CHECK(source != NULL && !byte_source_is_mapped(source));
    CHECK_OK(error, byte_source_all(source, SIZE_MAX, &all, &error));
    CHECK_INT(all.size, size);
    CHECK(text_starts_with(all, TEXT("line 0\nline 1\n")));
    CHECK(text_ends_with(all, TEXT("line 99999\n")));
    byte_source_close(source);
    source = byte_source_open(path, &error);
    CHECK(!byte_source_all(source, 1000, &all, &error));
    byte_source_close(source);
    unlink(path);
}

TEST(all_after_a_part_was_passed_over)
{
    struct error error = {0};
    size_t size = write_lines(100000, true);
    struct byte_source *source = byte_source_open(path, &error);
    struct text_view all;
    CHECK(text_starts_with(byte_source_peek(source, 7, &error), TEXT("line 0\n")));
    byte_source_skip(source, 7);
    CHECK_INT(byte_source_position(source), 7);
    CHECK_OK(error, byte_source_all(source, SIZE_MAX, &all, &error));
    CHECK_INT(all.size, size - 7);
    CHECK(text_starts_with(all, TEXT("line 1\n")));
    byte_source_close(source);
    unlink(path);
}

TEST(a_cut_file_gives_what_came_before_and_fails)
{
    struct error error = {0};
    write_lines(100000, true);
    CHECK_INT(truncate(path, 20000), 0);
    struct byte_source *source = byte_source_open(path, &error);
    struct line_reader reader = {.source = source};
    struct text_view block;
    size_t bytes = 0;
    while (line_reader_next(&reader, &block, &error))
        bytes += block.size;
    CHECK(reader.failed);
    CHECK(bytes > 20000);
    CHECK_TEXT(error.message, "the gzip data ends too early");
    byte_source_close(source);
    unlink(path);
}

TEST(a_bomb_is_refused)
{
    /* 5 GB of zeros in frames of zstd that say how large they are. */
    struct error error = {0};
    size_t size = (size_t)64 << 20, room = ZSTD_compressBound(size);
    char *zeros = calloc(1, size), *packed = malloc(room), *all;
    size_t frame = ZSTD_compress(packed, room, zeros, size, 1);
    CHECK(!ZSTD_isError(frame));
    size_t count = BYTE_SOURCE_BOMB_BYTES / size + 2;
    all = malloc(frame * count);
    for (size_t i = 0; i < count; i++)
        memcpy(all + i * frame, packed, frame);
    struct byte_source *source =
        byte_source_open_memory((struct text_view){all, frame * count}, "bomb", &error);
    uint64_t total = 0;
    for (;;) {
        struct text_view view = byte_source_peek(source, 1, &error);
        if (view.size == 0)
            break;
        total += view.size;
        byte_source_skip(source, view.size);
    }
    CHECK(byte_source_failed(source));
    CHECK(total <= BYTE_SOURCE_BOMB_BYTES + ((uint64_t)1 << 20));
    CHECK_TEXT(error.message, "refused: decompresses to more than 2000 times its size");
    byte_source_close(source);
    free(zeros);
    free(packed);
    free(all);
}

TEST(what_cannot_be_opened_is_said)
{
    struct error error = {0};
    CHECK(byte_source_open("/no/such/file", &error) == NULL);
    CHECK_TEXT(error.message, "cannot open: No such file or directory");
    CHECK(byte_source_open("/tmp", &error) == NULL);
    CHECK_TEXT(error.message, "is a directory");
}

TEST(empty_sources_are_empty)
{
    struct error error = {0};
    struct byte_source *source = byte_source_open("/dev/null", &error);
    CHECK(source != NULL);
    CHECK_INT(byte_source_peek(source, 10, &error).size, 0);
    CHECK(!byte_source_failed(source));
    byte_source_close(source);
    source = byte_source_open_memory(TEXT(""), "memory", &error);
    CHECK_INT(byte_source_peek(source, 10, &error).size, 0);
    byte_source_close(source);
}

TEST(parts_are_cut_at_line_ends)
{
    struct text_view parts[4];
    line_reader_split(TEXT("aaaa\nb\nccccccccccccc\nd"), 4, parts);
    CHECK(text_equal(parts[0], TEXT("aaaa\nb\n")));
    CHECK(text_equal(parts[1], TEXT("ccccccccccccc\n")));
    CHECK(text_equal(parts[2], TEXT("d")));
    CHECK_INT(parts[3].size, 0);
}
