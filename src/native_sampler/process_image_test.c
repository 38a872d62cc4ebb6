#include "native_sampler/process_image.h"

#include <unistd.h>

#include "unit_test.h"

static bool map_at(struct process_image *image, struct program_files *files, uint64_t start, uint64_t end,
                   uint64_t offset, struct text_view path)
{
    struct perf_mapping mapping = {
        .start = start, .end = end, .offset = offset, .inode = 5, .executable = true, .path = path};
    return process_image_map(image, files, &mapping);
}

static const char *file_at(const struct process_image *image, const struct program_files *files,
                           uint64_t address)
{
    const struct code_range *range = process_image_find(image, address);
    return range == NULL ? "none" : range->file == NO_FILE ? "generated" : files->all[range->file]->name;
}

TEST(a_mapping_replaces_what_was_there)
{
    struct process_image image;
    struct program_files files;
    process_image_init(&image, 1);
    program_files_init(&files);
    CHECK(map_at(&image, &files, 0x1000, 0x9000, 0, TEXT("/lib/a.so")));
    CHECK(map_at(&image, &files, 0xa000, 0xb000, 0, TEXT("//anon")));
    CHECK(map_at(&image, &files, 0x3000, 0x5000, 0x700, TEXT("/lib/b.so")));
    CHECK_INT(image.ranges.count, 4);
    CHECK_TEXT(file_at(&image, &files, 0xfff), "none");
    CHECK_TEXT(file_at(&image, &files, 0x1000), "a.so");
    CHECK_TEXT(file_at(&image, &files, 0x2fff), "a.so");
    CHECK_TEXT(file_at(&image, &files, 0x3000), "b.so");
    CHECK_TEXT(file_at(&image, &files, 0x5000), "a.so");
    CHECK_INT(process_image_find(&image, 0x5000)->offset, 0x4000);
    CHECK_TEXT(file_at(&image, &files, 0x9000), "none");
    CHECK_TEXT(file_at(&image, &files, 0xa000), "generated");
    CHECK(map_at(&image, &files, 0xb000, 0xc000, 0, TEXT("/memfd:code")));
    CHECK_TEXT(file_at(&image, &files, 0xb000), "generated");
    CHECK(map_at(&image, &files, 0, 0x10000, 0, TEXT("[vdso]")));
    CHECK_INT(image.ranges.count, 1);
    CHECK_TEXT(file_at(&image, &files, 0x3000), "[vdso]");
    process_image_release(&image);
    program_files_release(&files);
}

/* Names that were found before stay as long as the code does. */
TEST(frames_are_forgotten_with_their_code)
{
    struct process_image image;
    struct program_files files;
    process_image_init(&image, 1);
    program_files_init(&files);
    CHECK(map_at(&image, &files, 0x1000, 0x2000, 0, TEXT("/lib/a.so")));
    CHECK(id_map_set(&image.frames, 0x1234, 1));
    CHECK(map_at(&image, &files, 0x1000, 0x2000, 0, TEXT("/lib/a.so")));
    CHECK(map_at(&image, &files, 0x2000, 0x3000, 0x1000, TEXT("/lib/a.so")));
    CHECK_INT(id_map_get(&image.frames, 0x1234), 1);
    CHECK(map_at(&image, &files, 0x1000, 0x2000, 0x8000, TEXT("/lib/a.so")));
    CHECK_INT(id_map_get(&image.frames, 0x1234), NO_ID);
    process_image_release(&image);
    program_files_release(&files);
}

TEST(a_deleted_file_is_the_same_file)
{
    struct program_files files;
    program_files_init(&files);
    struct perf_mapping mapping = {.path = TEXT("/lib/a.so"), .device = 1, .inode = 2};
    uint32_t first = program_files_add(&files, &mapping);
    CHECK(!files.all[first]->was_deleted);
    mapping.deleted = true;
    CHECK_INT(program_files_add(&files, &mapping), first);
    CHECK(files.all[first]->was_deleted);
    mapping.inode = 3;
    CHECK(program_files_add(&files, &mapping) != first);
    program_files_release(&files);
}

TEST(this_process_has_names)
{
    struct process_image image;
    struct program_files files;
    struct symbol_match match;
    uint64_t bias = 0, address = (uint64_t)(uintptr_t)&process_image_refresh;
    process_image_init(&image, getpid());
    program_files_init(&files);
    process_image_refresh(&image, &files, 1);
    const struct code_range *range = process_image_find(&image, address);
    CHECK(range != NULL);
    struct program_file *file = process_image_file(&image, &files, range);
    CHECK(file != NULL && elf_file_bias(&file->file, range->start, range->offset, &bias));
    CHECK(program_file_symbol(file, getpid(), address - bias, &match));
    CHECK_TEXT(match.name, "process_image_refresh");
    CHECK(program_file_rule(file, getpid(), address - bias) != NULL);
    process_image_release(&image);
    program_files_release(&files);
}
