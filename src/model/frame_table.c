#include "model/frame_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

void frame_table_init(struct frame_table *table)
{
    *table = (struct frame_table){.frames = NULL};
}

void frame_table_release(struct frame_table *table)
{
    free(table->frames);
    hash_index_release(&table->index);
    frame_table_init(table);
}

static uint32_t hash_frame(const struct frame *frame)
{
    uint64_t place = (uint64_t)frame->file << 32 | frame->line;
    return (uint32_t)hash_mix(hash_pair(frame->name, frame->kind) ^ place, HASH_MULTIPLIER);
}

static bool same(const struct frame *left, const struct frame *right)
{
    return left->name == right->name && left->line == right->line && left->file == right->file &&
           left->kind == right->kind;
}

uint32_t frame_table_add(struct frame_table *table, struct frame frame)
{
    uint32_t hash = hash_frame(&frame);
    size_t slot;
    uint32_t number = hash_index_first(&table->index, hash, &slot);
    for (; number != NO_ITEM; number = hash_index_next(&table->index, hash, &slot))
        if (same(&table->frames[number], &frame))
            return number;
    if (!hash_index_reserve(&table->index, 1) ||
        !array_reserve(&table->frames, &table->capacity, table->size + 1, (size_t)NO_FRAME - 1))
        return NO_FRAME;
    number = (uint32_t)table->size++;
    table->frames[number] = frame;
    hash_index_put(&table->index, hash, number);
    return number;
}

static const struct {
    const char *name;
    const char *suffix;
} kinds[FRAME_KIND_COUNT] = {
    [FRAME_UNKNOWN] = {"unknown", ""},
    [FRAME_INTERPRETED] = {"interpreted", "_[0]"},
    [FRAME_C1] = {"C1", "_[1]"},
    [FRAME_COMPILED] = {"compiled", "_[j]"},
    [FRAME_INLINED] = {"inlined", "_[i]"},
    [FRAME_NATIVE] = {"native", ""},
    [FRAME_CPP] = {"C++", ""},
    [FRAME_KERNEL] = {"kernel", "_[k]"},
    [FRAME_PYTHON] = {"Python", "_[p]"},
    [FRAME_C_EXTENSION] = {"C extension", ""},
    [FRAME_CLASS] = {"class", ""},
    [FRAME_GROUP] = {"group", ""},
};

const char *frame_kind_name(enum frame_kind kind)
{
    return (unsigned)kind < FRAME_KIND_COUNT ? kinds[kind].name : "unknown";
}

const char *frame_kind_suffix(enum frame_kind kind)
{
    return (unsigned)kind < FRAME_KIND_COUNT ? kinds[kind].suffix : "";
}

enum frame_kind frame_kind_of_suffix(struct text_view *name)
{
    size_t size = name->size;
    if (size < 4 || name->data[size - 1] != ']' || name->data[size - 3] != '[' || name->data[size - 4] != '_')
        return FRAME_UNKNOWN;
    for (enum frame_kind kind = FRAME_INTERPRETED; kind < FRAME_KIND_COUNT; kind++) {
        if (kinds[kind].suffix[0] != '\0' && kinds[kind].suffix[2] == name->data[size - 2]) {
            name->size -= 4;
            return kind;
        }
    }
    return FRAME_UNKNOWN;
}

bool frame_kind_is_java(enum frame_kind kind)
{
    return kind >= FRAME_INTERPRETED && kind <= FRAME_INLINED;
}
