#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reader.h"
#include "formats/writer.h"
#include "unit_test.h"

static char notices[1024];

static void keep_notice(void *context, const char *text)
{
    (void)context;
    snprintf(notices + strlen(notices), sizeof(notices) - strlen(notices), "%s\n", text);
}

static bool read_bytes(struct profile *profile, const char *bytes, size_t size, size_t threads,
                       struct error *error)
{
    struct read_options options = {.threads = threads, .needs_lines = true, .notice = keep_notice};
    struct byte_source *source = byte_source_open_memory((struct text_view){bytes, size}, "memory", error);
    CHECK(source != NULL);
    bool good = reader_by_name(TEXT("folded"))->read(source, &options, profile, error);
    byte_source_close(source);
    return good;
}

/* The text lives until the next call. */
static const char *write_text(const struct profile *profile)
{
    static char *written;
    struct text_builder text;
    struct output output;
    struct error error = {0};
    struct write_options options = {.names = {.lines = true, .kinds = true}};
    text_builder_init(&text, (size_t)1 << 30);
    CHECK_OK(error, output_open_memory(&output, &text, &error));
    CHECK_OK(error, writer_by_name(TEXT("folded"))->write(profile, &options, &output, &error));
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    free(written);
    written = strdup(text_builder_c_string(&text));
    text_builder_release(&text);
    return written;
}

static void check_round(const char *input, const char *expected)
{
    for (size_t threads = 1; threads <= 2; threads++) {
        struct profile profile;
        struct error error = {0};
        CHECK_OK(error, profile_init(&profile, false, &error));
        CHECK_OK(error, read_bytes(&profile, input, strlen(input), threads, &error));
        CHECK_TEXT(write_text(&profile), expected);
        profile_release(&profile);
    }
}

static void check_error(const char *input, const char *message)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(!read_bytes(&profile, input, strlen(input), 1, &error));
    CHECK_TEXT(error.message, message);
    profile_release(&profile);
}

TEST(sums_up_equal_stacks_and_sorts_them)
{
    check_round("b;c 2\na;x 1\nb;c 3\nb 4\n", "a;x 1\nb 4\nb;c 5\n");
}

TEST(sorts_as_bytes_where_names_begin_alike)
{
    check_round("F.apply;y 1\nF.apply$mcV$sp 2\nF.apply 3\n", "F.apply 3\nF.apply$mcV$sp 2\nF.apply;y 1\n");
}

TEST(one_method_is_one_node_whatever_sorts_between)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    const char *text = "F.apply 3\nF.apply$mcV$sp 2\nF.apply$mcV$sp;z 2\nF.apply;y 1\n";
    CHECK_OK(error, read_bytes(&profile, text, strlen(text), 1, &error));
    CHECK_INT(profile.stacks.size, 1 + 4);
    profile_release(&profile);
}

TEST(takes_line_ends_of_all_systems_and_a_missing_last_one)
{
    check_round("a;b 1\r\na;c 2\r\n\r\na;d 3", "a;b 1\na;c 2\na;d 3\n");
}

TEST(passes_over_comments_and_byte_order_mark)
{
    check_round("\xef\xbb\xbf# made by hand\na;b 1\n#\n#!x\n#private;b 3\n", "#private;b 3\na;b 1\n");
}

TEST(keeps_blanks_in_names)
{
    check_round("java thread 1;do it now 7\nswapper;[unknown] x 1\n",
                "java thread 1;do it now 7\nswapper;[unknown] x 1\n");
}

TEST(keeps_fractions)
{
    check_round("a 0.5\na 0.25\nb 1e3\nc 0.1\n", "a 0.75\nb 1000\nc 0.1\n");
}

TEST(reads_two_counts_as_before_and_after)
{
    check_round("a;b 1 2\na;c 0 5\na;d 3 0\n", "a;b 1 2\na;c 0 5\na;d 3 0\n");
}

TEST(a_number_at_the_end_of_one_name_is_no_second_count)
{
    check_round("a;b 1 2\na;c 3\n", "a;b 1 2\na;c 3\n");
}

TEST(knows_kinds_and_lines)
{
    const char *text = "java/lang/Thread.run:12_[j];read_[k];f (a/b.py:3);g (<stdin>:4);h (main.rs:5) 1\n";
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_OK(error, read_bytes(&profile, text, strlen(text), 1, &error));
    const struct frame *frames = profile.frames.frames;
    CHECK_INT(profile.frames.size, 5);
    CHECK_INT(frames[0].kind, FRAME_COMPILED);
    CHECK_INT(frames[0].line, 12);
    CHECK_TEXT(profile_frame_name(&profile, 0).data, "java/lang/Thread.run");
    CHECK_INT(frames[1].kind, FRAME_KERNEL);
    CHECK_INT(frames[2].kind, FRAME_PYTHON);
    CHECK_INT(frames[2].line, 3);
    CHECK_TEXT(profile_text(&profile, frames[2].file).data, "a/b.py");
    CHECK_INT(frames[3].line, 4);
    CHECK_TEXT(profile_frame_name(&profile, 4).data, "h (main.rs:5)");
    CHECK_TEXT(write_text(&profile), text);
    profile_release(&profile);
}

TEST(says_where_a_count_cannot_be)
{
    check_error("a 1\nb -3\n", "line 2: a negative count: -3");
    check_error("a 1\n\nb 99999999999999999999\n", "line 3: a count that is too large: 99999999999999999999");
    check_error("a 1\nb 1e400\n", "line 2: a count that is too large: 1e400");
    check_error("only words\n", "no line consists of a stack and a count");
    check_error("", "no line consists of a stack and a count");
}

TEST(tells_of_lines_without_a_count)
{
    check_round("a 1\nwarning: lost\nb 0x12\n", "a 1\n");
    CHECK(strstr(notices, "2 lines without a count were skipped, the first is line 2\n") != NULL);
}

TEST(mends_invalid_utf8_and_control_characters_at_output)
{
    check_round("a\xff"
                "b;c\x01 3\n",
                "a\xef\xbf\xbd"
                "b;c  3\n");
}

TEST(reads_100000_frames_deep)
{
    size_t size = 100000 * 2;
    char *text = malloc(size + 3);
    for (size_t i = 0; i < size; i += 2)
        text[i] = i % 4 == 0 ? 'f' : 'g', text[i + 1] = ';';
    memcpy(text + size - 1, " 7\n", 4);
    check_round(text, text);
    free(text);
}

TEST(cuts_a_stack_over_the_limit_and_says_so)
{
    size_t size = (READER_DEPTH_LIMIT + 5) * 2;
    char *text = malloc(size + 3);
    for (size_t i = 0; i < size; i += 2)
        text[i] = 'f', text[i + 1] = ';';
    memcpy(text + size - 1, " 7\n", 4);
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_OK(error, read_bytes(&profile, text, strlen(text), 1, &error));
    CHECK_INT(profile.stacks.size, READER_DEPTH_LIMIT + 1);
    CHECK(strstr(notices, "1 stack was cut after 1048576 frames\n") != NULL);
    profile_release(&profile);
    free(text);
}

TEST(recognizes_folded_text_only)
{
    CHECK(reader_by_name(TEXT("folded"))->recognizes(TEXT("a;b 1\nc;d 2\n")) > 50);
    CHECK(reader_by_name(TEXT("folded"))->recognizes(TEXT("a 1\n")) > 0);
    CHECK_INT(reader_by_name(TEXT("folded"))->recognizes(TEXT("some prose\nand more\n")), 0);
    CHECK_INT(reader_by_name(TEXT("folded"))->recognizes(TEXT("a;b 1\n\0\0")), 0);
    CHECK_INT(reader_by_name(TEXT("folded"))->recognizes(TEXT("")), 0);
    static char long_line[READER_HEAD_BYTES];
    memset(long_line, 'x', sizeof(long_line));
    long_line[1] = ';';
    CHECK(reader_by_name(TEXT("folded"))->recognizes((struct text_view){long_line, sizeof(long_line)}) > 0);
}
