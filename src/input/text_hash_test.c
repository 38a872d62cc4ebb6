#include "input/text_hash.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

TEST(every_byte_and_the_length_count)
{
    char bytes[200] = {0};
    for (size_t size = 1; size < sizeof(bytes); size++) {
        struct wide_hash plain = wide_hash_of((struct text_view){bytes, size});
        struct wide_hash shorter = wide_hash_of((struct text_view){bytes, size - 1});
        CHECK(plain.low != shorter.low && plain.high != shorter.high);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 1;
            struct wide_hash changed = wide_hash_of((struct text_view){bytes, size});
            CHECK(plain.low != changed.low && plain.high != changed.high);
            bytes[i] = 0;
        }
    }
}

TEST(equal_texts_have_equal_hashes_wherever_they_stand)
{
    char bytes[300];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)('a' + i % 16);
    for (size_t size = 0; size + 16 < sizeof(bytes); size++)
        CHECK(wide_hash_equal(wide_hash_of((struct text_view){bytes, size}),
                              wide_hash_of((struct text_view){bytes + 16, size})));
}

/* Both halves pick slots and are compared in part, so their bits must spread. */
TEST(bits_spread)
{
    size_t low[256] = {0}, high[256] = {0};
    char text[80] = {0};
    for (uint32_t i = 0; i < 256 * 64; i++) {
        memcpy(text + 40, &i, sizeof(i));
        struct wide_hash hash = wide_hash_of((struct text_view){text, i % 2 == 0 ? 50 : sizeof(text)});
        low[hash.low & 255]++;
        high[hash.high >> 56]++;
    }
    for (size_t i = 0; i < 256; i++)
        CHECK(low[i] > 16 && low[i] < 192 && high[i] > 16 && high[i] < 192);
}

static int compare_hashes(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct wide_hash));
}

/* Texts that repeat themselves, of all lengths: their lanes are given the same bytes again and again. */
TEST(repeated_bytes_do_not_wear_the_hash_out)
{
    static char text[4096];
    static struct wide_hash hashes[256 * 300];
    size_t count = 0;
    for (int second = 0; second < 256; second++) {
        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = (char)(i % 2 == 0 ? 'f' : second);
        for (size_t i = 0; i < 300; i++)
            hashes[count++] = wide_hash_of((struct text_view){text, sizeof(text) - 2 * i});
    }
    qsort(hashes, count, sizeof(*hashes), compare_hashes);
    for (size_t i = 1; i < count; i++)
        CHECK(!wide_hash_equal(hashes[i - 1], hashes[i]));
}
