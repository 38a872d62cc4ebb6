#include "formats/folded/folded_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "failing_memory.h"
#include "unit_test.h"

/* What the table has told of. */
struct told {
    char texts[4096];
    size_t used;
    uint32_t count;
    uint32_t fail_at;
};

static uint32_t tell(void *context, struct text_view stack)
{
    struct told *told = context;
    if (told->count == told->fail_at)
        return NO_FOLDED_NUMBER;
    if (told->used + stack.size + 2 < sizeof(told->texts))
        told->used += (size_t)snprintf(told->texts + told->used, sizeof(told->texts) - told->used, "%.*s ",
                                       (int)stack.size, stack.data);
    return told->count++;
}

static struct folded_record record_of(const char *text, double count)
{
    struct text_view stack = text_of(text);
    return (struct folded_record){stack, wide_hash_of(stack), {count, 0}};
}

TEST(sums_up_equal_stacks_and_tells_of_new_ones)
{
    struct told told = {.fail_at = UINT32_MAX};
    struct folded_table table;
    CHECK(folded_table_init(&table, tell, &told));
    struct folded_record records[] = {record_of("b", 1), record_of("a", 2), record_of("b", 3)};
    CHECK(folded_table_add(&table, records, 3));
    CHECK_TEXT(told.texts, "b a ");
    CHECK_INT(table.size, 2);
    CHECK_INT(table.stacks[0].counts[0], 4);
    CHECK_INT(table.stacks[1].counts[0], 2);
    CHECK_INT(table.stacks[1].number, 1);
    folded_table_release(&table);
}

TEST(keeps_many_stacks_apart)
{
    struct told told = {.fail_at = UINT32_MAX};
    struct folded_table table;
    CHECK(folded_table_init(&table, tell, &told));
    static char texts[9000][120];
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 9000; i++) {
            /* Longer than a lane, and different in one place only. */
            snprintf(texts[i], sizeof(texts[i]), "%064d%zu;%020d", 0, i, 0);
            struct folded_record record = record_of(texts[i], 1);
            CHECK(folded_table_add(&table, &record, 1));
        }
    }
    CHECK_INT(table.size, 9000);
    CHECK_INT(told.count, 9000);
    for (size_t i = 0; i < table.size; i++)
        CHECK_INT(table.stacks[i].counts[0], 2);
    folded_table_release(&table);
}

TEST(keeps_the_order_of_lines)
{
    struct told told = {.fail_at = UINT32_MAX};
    struct folded_table table;
    CHECK(folded_table_init(&table, tell, &told));
    table.keeps_order = true;
    struct folded_record records[] = {record_of("a", 1), record_of("b", 2), record_of("a", 3)};
    CHECK(folded_table_add(&table, records, 3));
    CHECK_INT(table.entry_count, 3);
    CHECK_INT(table.entries[1].number, 1);
    CHECK_INT(table.entries[2].number, 0);
    CHECK_INT(table.entries[2].counts[0], 3);
    folded_table_release(&table);
}

TEST(stops_when_whom_it_tells_fails)
{
    struct told told = {.fail_at = 1};
    struct folded_table table;
    CHECK(folded_table_init(&table, tell, &told));
    struct folded_record records[] = {record_of("a", 1), record_of("b", 2)};
    CHECK(!folded_table_add(&table, records, 2));
    CHECK_INT(table.size, 1);
    folded_table_release(&table);
}

TEST(fails_cleanly_without_memory)
{
    FAIL_EACH_ALLOCATION
    {
        struct told told = {.fail_at = UINT32_MAX};
        struct folded_table table;
        struct folded_record record = record_of("a", 1);
        if (folded_table_init(&table, tell, &told) && folded_table_add(&table, &record, 1))
            CHECK_INT(table.size, 1);
        folded_table_release(&table);
    }
}
