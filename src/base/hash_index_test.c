#include "base/hash_index.h"

#include "failing_memory.h"
#include "unit_test.h"

/* Items are their own hashes; many share a hash where `hashes` is small. */
static uint32_t find(const struct hash_index *index, const uint32_t *items, uint32_t item, uint32_t hashes)
{
    size_t slot;
    uint32_t number = hash_index_first(index, item % hashes, &slot);
    while (number != NO_ITEM && items[number] != item)
        number = hash_index_next(index, item % hashes, &slot);
    return number;
}

static void add_and_find(uint32_t count, uint32_t hashes)
{
    static uint32_t items[5000];
    struct hash_index index;
    hash_index_init(&index);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = i * 2;
        CHECK_INT(find(&index, items, items[i], hashes), NO_ITEM);
        CHECK(hash_index_reserve(&index, 1));
        hash_index_put(&index, items[i] % hashes, i);
    }
    CHECK_INT(index.size, count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_INT(find(&index, items, items[i], hashes), i);
        CHECK_INT(find(&index, items, items[i] + 1, hashes), NO_ITEM);
    }
    hash_index_clear(&index);
    CHECK_INT(index.size, 0);
    CHECK_INT(find(&index, items, items[0], hashes), NO_ITEM);
    hash_index_release(&index);
}

TEST(finds_what_was_put)
{
    add_and_find(5000, UINT32_MAX);
}

TEST(items_may_share_their_hashes)
{
    add_and_find(500, 7);
}

TEST(search_goes_on_behind_the_last_slot)
{
    struct hash_index index = {.slots = NULL};
    CHECK(hash_index_reserve(&index, 2));
    uint32_t last = (uint32_t)index.mask;
    hash_index_put(&index, last, 10);
    hash_index_put(&index, last, 11);
    size_t slot;
    CHECK_INT(hash_index_first(&index, last, &slot), 10);
    CHECK_INT(hash_index_next(&index, last, &slot), 11);
    CHECK_INT(slot, 0);
    CHECK_INT(hash_index_next(&index, last, &slot), NO_ITEM);
    CHECK_INT(hash_index_guess(&index, last), 10);
    CHECK_INT(hash_index_guess(&index, 1), NO_ITEM);
    hash_index_release(&index);
}

TEST(hash_zero_and_the_last_number_are_allowed)
{
    struct hash_index index = {.slots = NULL};
    CHECK(hash_index_reserve(&index, 2));
    hash_index_put(&index, 0, 0);
    hash_index_put(&index, UINT32_MAX, NO_ITEM - 1);
    size_t slot;
    CHECK_INT(hash_index_first(&index, 0, &slot), 0);
    CHECK_INT(hash_index_first(&index, UINT32_MAX, &slot), NO_ITEM - 1);
    hash_index_release(&index);
}

TEST(room_is_made_for_many_at_once)
{
    struct hash_index index = {.slots = NULL};
    CHECK(hash_index_reserve(&index, 100000));
    const uint64_t *slots = index.slots;
    for (uint32_t i = 0; i < 100000; i++)
        hash_index_put(&index, i * 2654435761U, i);
    CHECK(index.slots == slots);
    hash_index_release(&index);
}

TEST(out_of_memory_keeps_the_items)
{
    FAIL_EACH_ALLOCATION
    {
        struct hash_index index;
        hash_index_init(&index);
        uint32_t count = 0;
        for (; count < 1000 && hash_index_reserve(&index, 1); count++)
            hash_index_put(&index, count, count);
        size_t slot;
        for (uint32_t i = 0; i < count; i++)
            CHECK_INT(hash_index_first(&index, i, &slot), i);
        CHECK_INT(hash_index_first(&index, count, &slot), NO_ITEM);
        hash_index_release(&index);
    }
}
