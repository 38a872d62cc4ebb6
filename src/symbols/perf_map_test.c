#include "symbols/perf_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static bool has_name(const struct perf_map *map, uint64_t address, struct text_view expected)
{
    struct text_view name;
    return perf_map_find(map, address, &name) && text_equal(name, expected);
}

TEST(finds_names_by_address)
{
    struct perf_map map;
    struct text_view name;
    perf_map_init(&map);
    CHECK(perf_map_parse(&map, TEXT("7f0020 10 second::call with blanks\n0x7f0000 0x8 first\r\n")));
    CHECK(has_name(&map, 0x7f0000, TEXT("first")));
    CHECK(has_name(&map, 0x7f0007, TEXT("first")));
    CHECK(!perf_map_find(&map, 0x7f0008, &name));
    CHECK(has_name(&map, 0x7f002f, TEXT("second::call with blanks")));
    CHECK(!perf_map_find(&map, 0x7effff, &name));
    perf_map_release(&map);
}

/* Code is discarded and its memory is used again: the later line is right. */
TEST(the_later_of_two_overlapping_lines_counts)
{
    struct perf_map map;
    perf_map_init(&map);
    CHECK(perf_map_parse(&map, TEXT("100 100 old\n180 10 inner\n100 40 new\n")));
    CHECK(has_name(&map, 0x120, TEXT("new")));
    CHECK(has_name(&map, 0x150, TEXT("old")));
    CHECK(has_name(&map, 0x185, TEXT("inner")));
    perf_map_release(&map);
}

TEST(damaged_lines_are_skipped)
{
    struct perf_map map;
    struct text_view name;
    perf_map_init(&map);
    CHECK(perf_map_parse(&map,
                         TEXT("\n \nzz 10 a\n10 zz b\n10 10\n10 10 \n20 0 empty\nffffffffffffffff 10 over\n"
                              "30 fffffffffffffff huge\n40 8 good\n50 8")));
    CHECK_INT(map.count, 1);
    CHECK(has_name(&map, 0x40, TEXT("good")));
    CHECK(!perf_map_find(&map, 0x10, &name) && !perf_map_find(&map, 0x30, &name));
    CHECK(perf_map_parse(&map, TEXT("")));
    CHECK_INT(map.count, 0);
    CHECK(!perf_map_find(&map, 0x40, &name));
    perf_map_release(&map);
}

TEST(reads_the_file_of_a_process_but_no_link)
{
    char path[64];
    struct perf_map map;
    perf_map_init(&map);
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    CHECK(!perf_map_read(&map, getpid()));
    FILE *stream = fopen(path, "we");
    CHECK(stream != NULL && fputs("1000 20 generated\n", stream) >= 0 && fclose(stream) == 0);
    bool good = perf_map_read(&map, getpid());
    bool again = perf_map_read(&map, getpid()); /* has not changed */
    unlink(path);
    CHECK(good && !again && has_name(&map, 0x1010, TEXT("generated")));
    CHECK(symlink("/proc/self/maps", path) == 0);
    good = perf_map_read(&map, getpid());
    unlink(path);
    CHECK(!good);
    CHECK(mkfifo(path, 0600) == 0); /* would wait for a writer */
    good = perf_map_read(&map, getpid());
    unlink(path);
    CHECK(!good);
    perf_map_release(&map);
}
