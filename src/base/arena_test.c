#include "base/arena.h"

#include "failing_memory.h"
#include "unit_test.h"

TEST(pieces_are_aligned_and_apart)
{
    struct arena arena;
    arena_init(&arena, (size_t)1 << 20);
    char *last = NULL;
    for (size_t size = 1; size < 2000; size += 7) {
        char *piece = arena_allocate(&arena, size);
        CHECK(piece != NULL);
        CHECK((uintptr_t)piece % 16 == 0);
        CHECK(piece != last);
        memset(piece, 1, size);
        last = piece;
    }
    arena_release(&arena);
}

TEST(limit_is_kept)
{
    struct arena arena;
    arena_init(&arena, 100000);
    size_t got = 0;
    while (arena_allocate(&arena, 1000) != NULL)
        got += 1000;
    CHECK(got <= 100000);
    CHECK(got >= 80000);
    CHECK(arena_allocate(&arena, 100001) == NULL);
    CHECK(arena_allocate(&arena, SIZE_MAX) == NULL);
    arena_reset(&arena);
    CHECK(arena_allocate(&arena, 90000) != NULL);
    arena_release(&arena);
}

TEST(piece_larger_than_a_block)
{
    struct arena arena;
    arena_init(&arena, (size_t)64 << 20);
    char *large = arena_allocate_zeroed(&arena, (size_t)10 << 20);
    CHECK(large != NULL);
    CHECK_INT(large[((size_t)10 << 20) - 1], 0);
    CHECK(arena_allocate(&arena, 5) != NULL);
    arena_release(&arena);
}

TEST(copies_end_with_a_zero_byte)
{
    struct arena arena;
    arena_init(&arena, 100000);
    struct text_view copy = arena_copy_text(&arena, text_part(TEXT("abcdef"), 1, 3));
    CHECK_TEXT(copy.data, "bcd");
    CHECK_INT(copy.size, 3);
    CHECK_TEXT(arena_copy_text(&arena, (struct text_view){NULL, 0}).data, "");
    CHECK_TEXT(arena_format(&arena, "%s-%d", "x", 7), "x-7");
    arena_release(&arena);
}

TEST(out_of_memory_is_told)
{
    FAIL_EACH_ALLOCATION
    {
        struct arena arena;
        arena_init(&arena, 100000);
        struct text_view copy = arena_copy_text(&arena, TEXT("text"));
        CHECK((copy.data == NULL) == failing_memory_failed());
        arena_release(&arena);
    }
}
