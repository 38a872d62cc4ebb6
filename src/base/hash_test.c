#include "base/hash.h"

#include "unit_test.h"

TEST(every_byte_and_the_length_count)
{
    unsigned char bytes[70] = {0};
    for (size_t size = 1; size < sizeof(bytes); size++) {
        uint64_t plain = hash_bytes(bytes, size);
        CHECK(plain != hash_bytes(bytes, size - 1));
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 1;
            CHECK(hash_bytes(bytes, size) != plain);
            bytes[i] = 0;
        }
    }
}

TEST(low_bits_of_small_numbers_spread)
{
    size_t used[256] = {0};
    for (uint32_t i = 0; i < 256 * 64; i++)
        used[hash_pair(i, 0) & 255]++;
    for (size_t i = 0; i < 256; i++)
        CHECK(used[i] > 16 && used[i] < 192);
}
