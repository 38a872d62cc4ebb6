#include "model/frame_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_SLOTS 256

bool frame_table_init(struct frame_table *table)
{
    *table = (struct frame_table){.slot_mask = FIRST_SLOTS - 1};
    table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
    return table->slots != NULL;
}

void frame_table_release(struct frame_table *table)
{
    free(table->frames);
    free(table->slots);
    *table = (struct frame_table){.frames = NULL};
}

static uint64_t hash_frame(const struct frame *frame)
{
    uint64_t place = (uint64_t)frame->file << 32 | frame->line;
    return hash_mix(hash_pair(frame->name, frame->kind) ^ place, HASH_MULTIPLIER);
}

static bool same(const struct frame *left, const struct frame *right)
{
    return left->name == right->name && left->line == right->line && left->file == right->file &&
           left->kind == right->kind;
}

static bool grow_slots(struct frame_table *table)
{
    size_t count = (table->slot_mask + 1) * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++) {
        size_t slot = hash_frame(&table->frames[i]) & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
    return true;
}

uint32_t frame_table_add(struct frame_table *table, struct frame frame)
{
    size_t slot = hash_frame(&frame) & table->slot_mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & table->slot_mask)
        if (same(&table->frames[table->slots[slot] - 1], &frame))
            return table->slots[slot] - 1;
    if ((table->size + 1) * 2 > table->slot_mask + 1) {
        if (!grow_slots(table))
            return NO_FRAME;
        return frame_table_add(table, frame);
    }
    if (!array_reserve(&table->frames, &table->capacity, table->size + 1, (size_t)NO_FRAME - 1))
        return NO_FRAME;
    table->frames[table->size] = frame;
    table->slots[slot] = (uint32_t)++table->size;
    return (uint32_t)table->size - 1;
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
