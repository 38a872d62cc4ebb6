#include "model/context_table.h"

#include "failing_memory.h"
#include "unit_test.h"

TEST(order_does_not_matter_and_the_last_wins)
{
    struct context_table table;
    CHECK(context_table_init(&table));
    const struct label first[] = {{LABEL_STAGE, 3}, {LABEL_THREAD, 1}};
    const struct label second[] = {{LABEL_THREAD, 9}, {LABEL_TASK, 0}, {LABEL_STAGE, 3}, {LABEL_THREAD, 1}};
    CHECK_INT(context_table_add(&table, NULL, 0), 0);
    uint32_t number = context_table_add(&table, first, 2);
    CHECK_INT(number, 1);
    CHECK_INT(context_table_add(&table, second, 4), number);
    CHECK_INT(context_table_value(&table, number, LABEL_STAGE), 3);
    CHECK_INT(context_table_value(&table, number, LABEL_TASK), 0);
    CHECK_INT(context_table_get(&table, number).size, 2);
    CHECK_INT(context_table_get(&table, 99).size, 0);
    context_table_release(&table);
}

TEST(many_sets)
{
    struct context_table table;
    CHECK(context_table_init(&table));
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 1; i < 5000; i++)
            CHECK_INT(context_table_add(&table, &(struct label){LABEL_TASK, i}, 1), i);
    context_table_release(&table);
}

TEST(more_labels_than_fit_are_cut)
{
    struct context_table table;
    struct label labels[LABEL_KEY_LIMIT * 2];
    CHECK(context_table_init(&table));
    for (uint32_t i = 0; i < LABEL_KEY_LIMIT * 2; i++)
        labels[i] = (struct label){LABEL_KEY_LIMIT * 2 - i, i + 1};
    uint32_t number = context_table_add(&table, labels, LABEL_KEY_LIMIT * 2);
    CHECK_INT(context_table_get(&table, number).size, LABEL_KEY_LIMIT);
    context_table_release(&table);
}

TEST(names_of_known_keys)
{
    for (enum label_key key = 0; key < LABEL_KNOWN_COUNT; key++)
        CHECK_INT(label_key_by_name(text_of(label_key_name(key))), key);
    CHECK_INT(label_key_by_name(TEXT("nonsense")), LABEL_KNOWN_COUNT);
    CHECK(label_key_name(LABEL_KNOWN_COUNT) == NULL);
}

TEST(out_of_memory_keeps_the_sets)
{
    FAIL_EACH_ALLOCATION
    {
        struct context_table table;
        if (!context_table_init(&table)) {
            CHECK(failing_memory_failed());
            continue;
        }
        uint32_t i = 1;
        while (i < 500 && context_table_add(&table, &(struct label){LABEL_TASK, i}, 1) == i)
            i++;
        CHECK((i == 500) != failing_memory_failed());
        CHECK_INT(context_table_value(&table, i - 1, LABEL_TASK), i - 1);
        context_table_release(&table);
    }
}
