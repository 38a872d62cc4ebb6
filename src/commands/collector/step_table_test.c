#include "commands/collector/step_table.h"

#include "failing_memory.h"
#include "unit_test.h"

static void add(struct step_table *table, uint32_t owner, int64_t time_ms, size_t which, double value)
{
    CHECK(step_table_add(table, owner, time_ms, which, value));
}

TEST(values_are_summed_or_the_largest_is_kept)
{
    struct step_table table;
    step_table_init(&table, 1000);
    table.keeps_largest[1] = true;
    add(&table, 7, 5000, 0, 2);
    add(&table, 7, 5999, 0, 3);
    add(&table, 7, 5000, 1, 2);
    add(&table, 7, 5999, 1, 1);
    add(&table, 3, 6000, 0, 1);
    add(&table, 3, -1, 0, 1);
    add(&table, 3, INT64_MAX, 0, 1);
    step_table_sort(&table);
    CHECK_INT(table.count, 2);
    CHECK(table.cells[0].owner == 3 && table.cells[0].step == 6);
    CHECK(table.cells[1].owner == 7 && table.cells[1].step == 5);
    CHECK(table.cells[1].values[0] == 5 && table.cells[1].values[1] == 2);
    step_table_release(&table);
}

TEST(steps_become_longer)
{
    struct step_table table;
    step_table_init(&table, 1000);
    for (int64_t i = 0; i < 1000; i++)
        add(&table, 1, i * 1000, 0, 1);
    CHECK(step_table_coarsen(&table, 100));
    CHECK_INT(table.step_ms, 16000);
    CHECK_INT(table.count, 63);
    CHECK(step_table_match(&table, 50000));
    CHECK_INT(table.step_ms, 64000);
    double sum = 0;
    for (size_t i = 0; i < table.count; i++)
        sum += table.cells[i].values[0];
    CHECK(sum == 1000);
    step_table_release(&table);
}

TEST(there_is_a_limit_of_cells)
{
    struct step_table table;
    step_table_init(&table, 1);
    for (int64_t i = 0; i < 3 * STEP_CELL_LIMIT; i++)
        add(&table, 1, i * 1000, 0, 1);
    CHECK(table.count <= STEP_CELL_LIMIT && table.count > STEP_CELL_LIMIT / 4);
    step_table_release(&table);
}

TEST(memory_may_fail)
{
    FAIL_EACH_ALLOCATION
    {
        struct step_table table;
        step_table_init(&table, 1000);
        bool good = step_table_add(&table, 1, 5000, 0, 1) && step_table_add(&table, 1, 9000, 0, 1) &&
                    step_table_coarsen(&table, 2);
        CHECK(good || failing_memory_failed());
        step_table_release(&table);
    }
}
