#include "base/key_sort.h"

#include <stdint.h>
#include <stdlib.h>

#include "failing_memory.h"
#include "unit_test.h"

struct test_item {
    uint64_t key;
    uint32_t order, unused;
};

static void fill(struct test_item *items, size_t count, uint64_t mask)
{
    uint64_t number = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        items[i] = (struct test_item){.key = number & mask, .order = (uint32_t)i};
    }
}

static void check_sorted(const struct test_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        CHECK(items[i - 1].key <= items[i].key);
        CHECK(items[i - 1].key < items[i].key || items[i - 1].order < items[i].order);
    }
}

TEST(sorts_and_keeps_the_order_of_equals)
{
    static struct test_item items[5000];
    static const uint64_t masks[] = {UINT64_MAX, 0xff, 0xfff, 0x3ff000, 0xffffffff00000000u, 0};
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        for (size_t count = 0; count <= 5000; count = count * 3 + 1) {
            uint64_t before = 0, after = 0;
            fill(items, count, masks[i]);
            for (size_t at = 0; at < count; at++)
                before += items[at].key * (items[at].order + 1);
            CHECK(key_sort(items, count));
            check_sorted(items, count);
            for (size_t at = 0; at < count; at++)
                after += items[at].key * (items[at].order + 1);
            CHECK(before == after);
        }
    }
}

TEST(survives_failing_memory)
{
    struct test_item items[3] = {{.key = 3}, {.key = 1}, {.key = 2}};
    FAIL_EACH_ALLOCATION
    {
        CHECK(key_sort(items, 3) || failing_memory_failed());
    }
    CHECK(items[0].key == 1 && items[2].key == 3);
}
