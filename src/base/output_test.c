#include "base/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failing_memory.h"
#include "unit_test.h"

struct test_place {
    char folder[64];
    char path[96];
};

static struct test_place place_new(void)
{
    struct test_place place = {.folder = "/tmp/output_test_XXXXXX"};
    CHECK(mkdtemp(place.folder) != NULL);
    snprintf(place.path, sizeof(place.path), "%s/out", place.folder);
    return place;
}

/* Fails when anything but the file is left in the folder. */
static void place_remove(struct test_place *place)
{
    unlink(place->path);
    CHECK_INT(rmdir(place->folder), 0);
}

static size_t read_file(const char *path, char *text, size_t room)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return SIZE_MAX;
    ssize_t size = read(descriptor, text, room);
    close(descriptor);
    return (size_t)size;
}

/* Somebody who guesses the name of the unfinished file could have what is written end up elsewhere. */
TEST(a_planted_link_is_not_followed)
{
    struct test_place place = place_new();
    struct output output;
    struct error error = {0};
    char link[128], victim[128], text[16] = {0};
    snprintf(link, sizeof(link), "%s.part-%ld", place.path, (long)getpid());
    snprintf(victim, sizeof(victim), "%s/victim", place.folder);
    CHECK_INT(symlink(victim, link), 0);
    CHECK_OK(error, output_open(&output, place.path, &error));
    output_c_string(&output, "text");
    CHECK_OK(error, output_finish(&output, &error));
    CHECK(access(victim, F_OK) != 0);
    CHECK_INT(read_file(place.path, text, sizeof(text)), 4);
    CHECK_INT(unlink(link), 0);
    place_remove(&place);
}

static int mode_of_written(const struct test_place *place)
{
    struct output output;
    struct error error = {0};
    struct stat status;
    CHECK_OK(error, output_open(&output, place->path, &error));
    CHECK_OK(error, output_finish(&output, &error));
    CHECK_INT(stat(place->path, &status), 0);
    return (int)(status.st_mode & 07777);
}

TEST(a_new_file_is_for_its_user_alone_unless_asked_otherwise)
{
    struct test_place place = place_new();
    CHECK_INT(mode_of_written(&place), 0600);
    CHECK_INT(chmod(place.path, 0640), 0);
    CHECK_INT(mode_of_written(&place), 0640);
    CHECK_INT(unlink(place.path), 0);
    CHECK_INT(setenv("SPARKFLAME_FILE_MODE", "0644", 1), 0);
    CHECK_INT(mode_of_written(&place), 0644);
    CHECK_INT(unlink(place.path), 0);
    CHECK_INT(setenv("SPARKFLAME_FILE_MODE", "rw", 1), 0);
    CHECK_INT(mode_of_written(&place), 0600);
    place_remove(&place);
}

TEST(file_appears_whole)
{
    struct test_place place = place_new();
    struct output output;
    struct error error = {0};
    CHECK_OK(error, output_open(&output, place.path, &error));
    output_c_string(&output, "a");
    output_u64(&output, 12);
    output_i64(&output, -3);
    output_format(&output, "%s", "x");
    CHECK_INT(output_position(&output), 6);
    char text[16] = {0};
    CHECK(read_file(place.path, text, sizeof(text)) == SIZE_MAX);
    CHECK_OK(error, output_finish(&output, &error));
    CHECK_INT(read_file(place.path, text, sizeof(text)), 6);
    CHECK_TEXT(text, "a12-3x");
    place_remove(&place);
}

TEST(unfinished_file_leaves_the_old_one)
{
    struct test_place place = place_new();
    struct output output;
    struct error error = {0};
    CHECK_OK(error, output_open(&output, place.path, &error));
    output_c_string(&output, "old");
    CHECK_OK(error, output_finish(&output, &error));
    CHECK_OK(error, output_open(&output, place.path, &error));
    output_c_string(&output, "new");
    output_release(&output);
    char text[16] = {0};
    CHECK_INT(read_file(place.path, text, sizeof(text)), 3);
    CHECK_TEXT(text, "old");
    place_remove(&place);
}

TEST(large_pieces_go_through)
{
    struct text_builder builder;
    struct output output;
    struct error error = {0};
    text_builder_init(&builder, (size_t)64 << 20);
    CHECK_OK(error, output_open_memory(&output, &builder, &error));
    static char piece[3 << 20];
    memset(piece, 'x', sizeof(piece));
    size_t total = 0;
    for (size_t size = 1; size <= sizeof(piece); size = size * 3 + 1) {
        output_write(&output, piece, size);
        total += size;
    }
    output_format(&output, "%*d", 20000, 7);
    CHECK_INT(output_position(&output), total + 20000);
    CHECK_OK(error, output_finish(&output, &error));
    CHECK_INT(builder.size, total + 20000);
    CHECK_INT(builder.data[builder.size - 1], '7');
    text_builder_release(&builder);
}

TEST(failure_is_told_at_the_end)
{
    struct output output;
    struct error error = {0};
    CHECK_OK(error, output_open(&output, "/dev/full", &error));
    output_c_string(&output, "lost");
    CHECK(!output_finish(&output, &error));
    CHECK_INT(error.code, ERROR_SYSTEM);
    CHECK(strstr(error.message, "/dev/full") != NULL);
    CHECK(strstr(error.message, "No space left") != NULL);
}

TEST(impossible_places_are_refused)
{
    struct output output;
    struct error error = {0};
    CHECK(!output_open(&output, "/nowhere/at/all", &error));
    CHECK(strstr(error.message, "/nowhere/at/all") != NULL);
    CHECK(!output_open(&output, "/tmp", &error));
    CHECK(strstr(error.message, "directory") != NULL);
}

TEST(a_place_is_checked_without_a_trace)
{
    struct error error = {0};
    char path[] = "/tmp/output_check_XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0 && close(descriptor) == 0);
    CHECK_OK(error, output_check(path, &error));
    CHECK(access(path, F_OK) == 0);
    CHECK(unlink(path) == 0);
    CHECK_OK(error, output_check(path, &error));
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(error, output_check("-", &error));
    CHECK(!output_check("/", &error));
    CHECK(!output_check("/nonexistent/file", &error));
}

TEST(limit_of_memory_is_told)
{
    struct text_builder builder;
    struct output output;
    struct error error = {0};
    text_builder_init(&builder, 10);
    CHECK_OK(error, output_open_memory(&output, &builder, &error));
    output_c_string(&output, "more than ten bytes");
    CHECK(!output_finish(&output, &error));
    CHECK_INT(error.code, ERROR_MEMORY);
    text_builder_release(&builder);
}

TEST(out_of_memory_leaves_nothing_behind)
{
    struct test_place place = place_new();
    FAIL_EACH_ALLOCATION
    {
        struct output output;
        struct error error = {0};
        bool good = output_open(&output, place.path, &error);
        if (good) {
            output_c_string(&output, "text");
            good = output_finish(&output, &error);
        }
        CHECK(good || failing_memory_failed());
        CHECK(good || error.message[0] != '\0');
    }
    place_remove(&place);
}

TEST(a_complete_file_has_its_name_when_it_is_finished)
{
    struct test_place place = place_new();
    struct output output;
    struct error error = {0};
    char text[16];
    for (int finishes = 0; finishes < 2; finishes++) {
        CHECK_OK(error, output_open(&output, place.path, &error));
        output_c_string(&output, "text");
        CHECK_OK(error, output_complete(&output, &error));
        CHECK(access(place.path, F_OK) != 0);
        if (finishes)
            CHECK_OK(error, output_finish(&output, &error));
        else
            output_release(&output);
    }
    CHECK_INT(read_file(place.path, text, sizeof(text)), 4);
    place_remove(&place);
}

TEST(a_full_disk_is_noticed_before_the_file_is_finished)
{
    struct output output;
    struct error error = {0};
    CHECK_OK(error, output_open(&output, "/dev/full", &error));
    output_c_string(&output, "text");
    CHECK(!output_complete(&output, &error));
    CHECK(error.message[0] != '\0');
    output_release(&output);
}
