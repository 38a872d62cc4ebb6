#include "python_sampler/process_maps.h"

#include <unistd.h>

#include "unit_test.h"

TEST(a_line_of_maps_is_taken_apart)
{
    struct mapping mapping;
    CHECK(mapping_parse(
        &mapping, TEXT("7f1200000000-7f1200021000 r-xp 00003000 08:01 131 /usr/lib/libpython3.11.so.1.0\n")));
    CHECK_INT(mapping.start, 0x7f1200000000);
    CHECK_INT(mapping.end, 0x7f1200021000);
    CHECK_INT(mapping.file_offset, 0x3000);
    CHECK(mapping.readable && mapping.executable && !mapping.deleted);
    CHECK(text_equal(mapping.path, TEXT("/usr/lib/libpython3.11.so.1.0")));
}

TEST(a_deleted_file_keeps_its_name)
{
    struct mapping mapping;
    CHECK(mapping_parse(
        &mapping,
        TEXT("00400000-00401000 r--p 00000000 08:01 1      /opt/my python/bin/python3 (deleted)\n")));
    CHECK(mapping.deleted);
    CHECK(text_equal(mapping.path, TEXT("/opt/my python/bin/python3")));
}

TEST(anonymous_memory_has_no_path)
{
    struct mapping mapping;
    CHECK(mapping_parse(&mapping, TEXT("7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 \n")));
    CHECK_INT(mapping.path.size, 0);
}

TEST(other_lines_are_refused)
{
    struct mapping mapping;
    CHECK(!mapping_parse(&mapping, TEXT("")));
    CHECK(!mapping_parse(&mapping, TEXT("zzz-400 r--p 0 0 0")));
    CHECK(!mapping_parse(&mapping, TEXT("400-500")));
}

static bool count_own(void *context, const struct mapping *mapping)
{
    uint64_t here = (uint64_t)(uintptr_t)&count_own;
    if (here >= mapping->start && here < mapping->end)
        (*(int *)context)++;
    return true;
}

TEST(own_code_is_mapped_once)
{
    int found = 0;
    struct error error = {ERROR_NONE, ""};
    CHECK_OK(error, process_maps_visit(getpid(), count_own, &found, &error));
    CHECK_INT(found, 1);
}

TEST(a_process_that_does_not_exist_is_named)
{
    int found = 0;
    struct error error = {ERROR_NONE, ""};
    CHECK(!process_maps_visit(0x7ffffff0, count_own, &found, &error));
    CHECK_TEXT(error.message, "there is no process 2147483632");
}
