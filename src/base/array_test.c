#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "failing_memory.h"
#include "unit_test.h"

TEST(grows_and_keeps_items)
{
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        CHECK(array_reserve(&items, &capacity, i + 1, 10000));
        items[i] = i;
    }
    CHECK_INT(capacity, 10000);
    for (uint32_t i = 0; i < 10000; i++)
        CHECK_INT(items[i], i);
    CHECK(!array_reserve(&items, &capacity, 10001, 10000));
    CHECK_INT(items[9999], 9999);
    free(items);
}

TEST(size_that_overflows_is_refused)
{
    uint64_t *items = NULL;
    size_t capacity = 0;
    CHECK(!array_reserve(&items, &capacity, SIZE_MAX / 4, SIZE_MAX));
    CHECK(items == NULL);
    CHECK_INT(capacity, 0);
}

TEST(out_of_memory_keeps_the_array)
{
    FAIL_EACH_ALLOCATION
    {
        char *items = NULL;
        size_t capacity = 0;
        bool first = array_reserve(&items, &capacity, 10, 1000);
        bool second = array_reserve(&items, &capacity, 500, 1000);
        CHECK((first && second) != failing_memory_failed());
        if (first)
            items[capacity - 1] = 'x';
        free(items);
    }
}
