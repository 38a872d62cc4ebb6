#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct arena_block {
    struct arena_block *next;
    size_t size;
    _Alignas(16) char data[];
};

#define FIRST_BLOCK_BYTES ((size_t)16 << 10)
#define LARGEST_BLOCK_BYTES ((size_t)1 << 20)
/* A large arena uses huge pages: page faults of small ones would cost as much as filling them. */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define HUGE_FROM_BYTES ((size_t)8 << 20)

void arena_init(struct arena *arena, size_t limit_bytes)
{
    *arena = (struct arena){.limit_bytes = limit_bytes};
}

void arena_release(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena_init(arena, arena->limit_bytes);
}

void arena_reset(struct arena *arena)
{
    arena_release(arena);
}

/* May make a block of a large arena larger. */
static struct arena_block *new_block(const struct arena *arena, size_t *size)
{
    size_t all = sizeof(struct arena_block) + *size;
    size_t huge = (all + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
    size_t left = arena->limit_bytes - arena->used_bytes;
    if (arena->used_bytes < HUGE_FROM_BYTES || huge - sizeof(struct arena_block) > left)
        return malloc(all);
    struct arena_block *block = aligned_alloc(HUGE_PAGE_BYTES, huge);
    if (block == NULL)
        return malloc(all);
    madvise(block, huge, MADV_HUGEPAGE); /* a wish: without it all is only slower */
    *size = huge - sizeof(struct arena_block);
    return block;
}

/* Blocks grow with the arena, so that small arenas stay small and large ones have few blocks. */
static bool add_block(struct arena *arena, size_t needed)
{
    size_t size = arena->used_bytes / 4;
    if (size < FIRST_BLOCK_BYTES)
        size = FIRST_BLOCK_BYTES;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < needed)
        size = needed;
    if (size > arena->limit_bytes - arena->used_bytes)
        size = arena->limit_bytes - arena->used_bytes;
    if (size < needed)
        return false;
    struct arena_block *block = new_block(arena, &size);
    if (block == NULL)
        return false;
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->at = block->data;
    arena->end = block->data + size;
    arena->used_bytes += size;
    return true;
}

static void *take(struct arena *arena, size_t size, size_t alignment)
{
    char *at = (char *)(((uintptr_t)arena->at + alignment - 1) & ~(alignment - 1));
    if (arena->at == NULL || at > arena->end || size > (size_t)(arena->end - at)) {
        if (size > SIZE_MAX / 2 || !add_block(arena, size))
            return NULL;
        at = arena->at;
    }
    arena->at = at + size;
    return at;
}

void *arena_allocate(struct arena *arena, size_t size)
{
    return take(arena, size, 16);
}

void *arena_allocate_zeroed(struct arena *arena, size_t size)
{
    void *piece = arena_allocate(arena, size);
    if (piece != NULL)
        memset(piece, 0, size);
    return piece;
}

struct text_view arena_copy_text(struct arena *arena, struct text_view text)
{
    char *copy = text.size == SIZE_MAX ? NULL : take(arena, text.size + 1, 1);
    if (copy == NULL)
        return (struct text_view){NULL, 0};
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return (struct text_view){copy, text.size};
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = size < 0 ? NULL : take(arena, (size_t)size + 1, 1);
    if (text == NULL)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)size + 1, format, arguments);
    va_end(arguments);
    return text;
}
