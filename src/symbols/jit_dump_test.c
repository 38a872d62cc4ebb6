#include "symbols/jit_dump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

/* A file that grows. */
struct growing_dump {
    char path[32];
    int file;
    struct jit_dump dump;
};

static void put(struct growing_dump *made, const void *data, size_t size)
{
    CHECK(write(made->file, data, size) == (ssize_t)size);
}

static void begin(struct growing_dump *made, uint32_t magic)
{
    const uint32_t header[10] = {magic, 1, 40};
    snprintf(made->path, sizeof(made->path), "/tmp/jit_dump_test.XXXXXX");
    made->file = mkstemp(made->path);
    CHECK(made->file >= 0);
    put(made, header, sizeof(header));
    jit_dump_init(&made->dump);
    CHECK(jit_dump_open(&made->dump, made->path, geteuid()));
}

static void end(struct growing_dump *made)
{
    jit_dump_release(&made->dump);
    close(made->file);
    unlink(made->path);
}

static void head(struct growing_dump *made, uint32_t kind, uint32_t body)
{
    const uint32_t words[4] = {kind, body + 16};
    put(made, words, sizeof(words));
}

static void load(struct growing_dump *made, uint64_t address, uint64_t size, const char *name)
{
    const uint64_t numbers[5] = {1, address, address, size, 0};
    head(made, 0, (uint32_t)(sizeof(numbers) + strlen(name) + 1 + size));
    put(made, numbers, sizeof(numbers));
    put(made, name, strlen(name) + 1);
    for (uint64_t i = 0; i < size; i++)
        put(made, "\xcc", 1);
}

static bool finds(const struct growing_dump *made, uint64_t address, const char *expected)
{
    struct text_view name;
    return jit_dump_find(&made->dump, address, &name) && text_equal(name, text_of(expected));
}

TEST(reads_what_is_added)
{
    struct growing_dump made;
    struct text_view name;
    begin(&made, 0x4A695444);
    CHECK(!jit_dump_read(&made.dump));
    load(&made, 0x1000, 16, "first(int)");
    head(&made, 2, 8); /* lines: skipped */
    put(&made, "12345678", 8);
    CHECK(jit_dump_read(&made.dump));
    CHECK(finds(&made, 0x100f, "first(int)") && !jit_dump_find(&made.dump, 0x1010, &name));
    CHECK(!jit_dump_read(&made.dump));
    load(&made, 0x1000, 8, "second\nline");
    CHECK(jit_dump_read(&made.dump));
    CHECK(finds(&made, 0x1004, "second?line")); /* its place is used again */
    end(&made);
}

TEST(code_that_moves_keeps_its_name)
{
    struct growing_dump made;
    const uint64_t numbers[6] = {1, 0x1000, 0x1000, 0x5000, 16, 0};
    begin(&made, 0x4A695444);
    load(&made, 0x1000, 16, "moved");
    head(&made, 1, sizeof(numbers));
    put(&made, numbers, sizeof(numbers));
    CHECK(jit_dump_read(&made.dump));
    CHECK(finds(&made, 0x5008, "moved"));
    end(&made);
}

TEST(a_record_that_is_not_whole_is_read_later)
{
    struct growing_dump made;
    const uint64_t numbers[5] = {1, 0x1000, 0x1000, 4, 0};
    begin(&made, 0x4A695444);
    head(&made, 0, sizeof(numbers) + 6);
    put(&made, numbers, sizeof(numbers));
    CHECK(!jit_dump_read(&made.dump));
    put(&made, "a\0code", 6);
    CHECK(jit_dump_read(&made.dump) && finds(&made, 0x1000, "a"));
    end(&made);
}

TEST(damage_ends_the_reading)
{
    struct growing_dump made;
    begin(&made, 0x12345678);
    load(&made, 0x1000, 16, "first");
    CHECK(!jit_dump_read(&made.dump) && made.dump.is_damaged);
    end(&made);
    begin(&made, 0x4A695444);
    const uint32_t words[4] = {0, 3};
    put(&made, words, sizeof(words));
    CHECK(!jit_dump_read(&made.dump));
    end(&made);
}

TEST(names_of_files)
{
    CHECK(jit_dump_is_name(TEXT("/root/.debug/jit/x/jit-4711.dump")) && jit_dump_is_name(TEXT("jit-1.dump")));
    CHECK(!jit_dump_is_name(TEXT("/tmp/jit-.dump")) && !jit_dump_is_name(TEXT("/tmp/jit-x.dump")) &&
          !jit_dump_is_name(TEXT("/tmp/git-1.dump")));
}

TEST(files_of_others_are_not_read)
{
    struct jit_dump dump;
    jit_dump_init(&dump);
    CHECK(!jit_dump_open(&dump, "/dev/null", geteuid()) && !jit_dump_open(&dump, "/tmp", geteuid()));
    CHECK(!jit_dump_open(&dump, "/no/such/file", geteuid()));
    jit_dump_release(&dump);
}
