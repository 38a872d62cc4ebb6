#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct arena_block {
    struct arena_block *next;
    size_t size;
    _Alignas(16) char data[];
};

#define FIRST_BLOCK_BYTES ((size_t)16 << 10)
#define LARGEST_BLOCK_BYTES ((size_t)1 << 20)

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
    struct arena_block *block = malloc(sizeof(*block) + size);
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
