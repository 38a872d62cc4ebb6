#include "model/frame_table.h"

#include "failing_memory.h"
#include "unit_test.h"

TEST(each_field_makes_another_frame)
{
    struct frame_table table;
    frame_table_init(&table);
    const struct frame frames[] = {{1, 2, 3, 4}, {2, 2, 3, 4}, {1, 1, 3, 4}, {1, 2, 4, 4}, {1, 2, 3, 5}};
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(frame_table_add(&table, frames[i]), i);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(frame_table_add(&table, frames[i]), i);
    frame_table_release(&table);
}

TEST(many_frames)
{
    struct frame_table table;
    frame_table_init(&table);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 10000; i++)
            CHECK_INT(frame_table_add(&table, (struct frame){.name = i / 7, .line = i % 7}), i);
    frame_table_release(&table);
}

TEST(suffixes_name_kinds)
{
    struct text_view name = TEXT("a/B.c_[j]");
    CHECK_INT(frame_kind_of_suffix(&name), FRAME_COMPILED);
    CHECK(text_equal(name, TEXT("a/B.c")));
    name = TEXT("sys_read_[k]");
    CHECK_INT(frame_kind_of_suffix(&name), FRAME_KERNEL);
    name = TEXT("f_[z]");
    CHECK_INT(frame_kind_of_suffix(&name), FRAME_UNKNOWN);
    CHECK(text_equal(name, TEXT("f_[z]")));
    name = TEXT("[j]");
    CHECK_INT(frame_kind_of_suffix(&name), FRAME_UNKNOWN);
    for (int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
        name = text_of(frame_kind_suffix(kind));
        CHECK_INT(frame_kind_of_suffix(&name), frame_kind_suffix(kind)[0] == '\0' ? FRAME_UNKNOWN : kind);
        CHECK(frame_kind_name(kind)[0] != '\0');
    }
}

TEST(out_of_memory_keeps_the_frames)
{
    FAIL_EACH_ALLOCATION
    {
        struct frame_table table;
        frame_table_init(&table);
        uint32_t added = 0;
        while (added < 1000 && frame_table_add(&table, (struct frame){.name = added}) != NO_FRAME)
            added++;
        CHECK((added == 1000) != failing_memory_failed());
        CHECK_INT(table.size, added);
        frame_table_release(&table);
    }
}
