#include "base/id_map.h"

#include "failing_memory.h"
#include "unit_test.h"

TEST(finds_what_was_set)
{
    struct id_map map;
    id_map_init(&map);
    CHECK_INT(id_map_get(&map, 5), NO_ID);
    for (uint64_t i = 0; i < 5000; i++)
        CHECK(id_map_set(&map, i * UINT64_C(0x100000001), (uint32_t)i));
    CHECK(id_map_set(&map, 0, 77));
    CHECK_INT(map.size, 5000);
    CHECK_INT(id_map_get(&map, 0), 77);
    for (uint64_t i = 1; i < 5000; i++)
        CHECK_INT(id_map_get(&map, i * UINT64_C(0x100000001)), i);
    CHECK_INT(id_map_get(&map, 5000 * UINT64_C(0x100000001)), NO_ID);
    id_map_release(&map);
}

TEST(every_key_is_allowed)
{
    struct id_map map;
    id_map_init(&map);
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    for (uint32_t i = 0; i < 5; i++)
        CHECK(id_map_set(&map, keys[i], i));
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(id_map_get(&map, keys[i]), i);
    id_map_clear(&map);
    CHECK_INT(map.size, 0);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(id_map_get(&map, keys[i]), NO_ID);
    id_map_release(&map);
}

TEST(new_place_is_empty)
{
    struct id_map map;
    id_map_init(&map);
    uint32_t *place = id_map_place(&map, 9);
    CHECK(place != NULL);
    CHECK_INT(*place, NO_ID);
    *place = 3;
    CHECK_INT(*id_map_place(&map, 9), 3);
    CHECK_INT(*id_map_find(&map, 9), 3);
    CHECK(id_map_find(&map, 8) == NULL);
    CHECK_INT(map.size, 1);
    id_map_release(&map);
}

TEST(out_of_memory_keeps_the_keys)
{
    FAIL_EACH_ALLOCATION
    {
        struct id_map map;
        id_map_init(&map);
        uint32_t count = 0;
        while (count < 1000 && id_map_set(&map, count, count))
            count++;
        CHECK((count == 1000) != failing_memory_failed());
        for (uint32_t i = 0; i < count; i++)
            CHECK_INT(id_map_get(&map, i), i);
        id_map_release(&map);
    }
}
