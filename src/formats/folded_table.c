#include "formats/folded_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "formats/text_hash.h"

#define FIRST_SLOTS 4096
#define TEXT_LIMIT_BYTES ((size_t)64 << 30)

bool folded_table_init(struct folded_table *table)
{
    *table = (struct folded_table){.slot_mask = FIRST_SLOTS - 1};
    arena_init(&table->arena, TEXT_LIMIT_BYTES);
    table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
    return table->slots != NULL;
}

void folded_table_release(struct folded_table *table)
{
    arena_release(&table->arena);
    free(table->slots);
    free(table->stacks);
    free(table->known_counts);
    free(table->entries);
    table->slots = NULL;
    table->stacks = NULL;
    table->known_counts = NULL;
    table->entries = NULL;
}

static bool grow_slots(struct folded_table *table)
{
    size_t count = (table->slot_mask + 1) * 2;
    struct folded_slot *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++) {
        size_t slot = table->stacks[i]->hash & (count - 1);
        while (slots[slot].stack != NULL)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (struct folded_slot){table->stacks[i]->hash, table->stacks[i]};
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
    return true;
}

static bool holds_low_bytes(struct text_view text)
{
    unsigned char least = 255;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        least = byte < least ? byte : least;
    }
    return least < 2;
}

static struct folded_stack *new_stack(struct folded_table *table, const struct folded_batch_line *line)
{
    struct folded_stack *stack =
        line->text.size > UINT32_MAX ? NULL : arena_allocate(&table->arena, sizeof(*stack) + line->text.size);
    if (stack == NULL)
        return NULL;
    stack->counts[0] = line->counts[0];
    stack->counts[1] = line->counts[1];
    stack->hash = line->hash;
    stack->size = (uint32_t)line->text.size;
    memcpy(stack->text, line->text.data, line->text.size);
    table->has_low_bytes = table->has_low_bytes || holds_low_bytes(line->text);
    return stack;
}

/* The slot of the text, or the free one where it belongs. */
static struct folded_slot *find_slot(const struct folded_table *table, struct text_view text, uint64_t hash)
{
    size_t slot = hash & table->slot_mask;
    for (; table->slots[slot].stack != NULL; slot = (slot + 1) & table->slot_mask) {
        const struct folded_slot *known = &table->slots[slot];
        if (known->hash == hash && known->stack->size == text.size &&
            memcmp(known->stack->text, text.data, text.size) == 0)
            break;
    }
    return &table->slots[slot];
}

static bool insert(struct folded_table *table, struct folded_slot *slot, struct folded_stack *stack)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
    if (stack == NULL || !array_reserve(&table->stacks, &table->capacity, table->size + 1, UINT32_MAX))
        return false;
    *slot = (struct folded_slot){stack->hash, stack};
    stack->number = (uint32_t)table->size;
    table->stacks[table->size++] = stack;
    return table->size * 2 <= table->slot_mask || grow_slots(table);
}

static void prefetch_stack(const struct folded_table *table, uint64_t hash)
{
    const struct folded_slot *slot = &table->slots[hash & table->slot_mask];
    if (slot->hash != hash || slot->stack == NULL)
        return;
    __builtin_prefetch(slot->stack, 1);
    __builtin_prefetch((const char *)slot->stack + 64);
    __builtin_prefetch((const char *)slot->stack + 128);
}

static void add_counts(double *to, const double *counts)
{
    to[0] += counts[0];
    to[1] += counts[1];
}

/* True when the table that is looked at first has it. */
static bool count_known(struct folded_table *table, const struct folded_batch_line *line)
{
    if (table->known == NULL)
        return false;
    const struct folded_slot *slot = find_slot(table->known, line->text, line->hash);
    if (slot->stack == NULL)
        return false;
    add_counts(table->known_counts[slot->stack->number], line->counts);
    return true;
}

static bool add_line(struct folded_table *table, const struct folded_batch_line *line)
{
    struct folded_slot *slot = find_slot(table, line->text, line->hash);
    struct folded_stack *stack = slot->stack;
    if (LIKELY(stack != NULL)) {
        add_counts(stack->counts, line->counts);
    } else {
        stack = new_stack(table, line);
        if (!insert(table, slot, stack))
            return false;
    }
    if (LIKELY(!table->keeps_order))
        return true;
    if (!array_reserve(&table->entries, &table->entry_capacity, table->entry_count + 1, UINT32_MAX))
        return false;
    table->entries[table->entry_count++] = (struct folded_entry){stack, {line->counts[0], line->counts[1]}};
    return true;
}

bool folded_table_flush(struct folded_table *table)
{
    const struct folded_table *likely = table->known != NULL ? table->known : table;
    for (size_t i = 0; i < table->batch_size; i++)
        prefetch_stack(likely, table->batch[i].hash);
    for (size_t i = 0; i < table->batch_size; i++)
        if (!count_known(table, &table->batch[i]) && !add_line(table, &table->batch[i]))
            return false;
    table->batch_size = 0;
    return true;
}

bool folded_table_add(struct folded_table *table, struct text_view text, const double counts[2])
{
    struct folded_batch_line *line = &table->batch[table->batch_size++];
    line->text = text;
    line->counts[0] = counts[0];
    line->counts[1] = counts[1];
    line->hash = text_hash(text);
    const struct folded_table *likely = table->known != NULL ? table->known : table;
    __builtin_prefetch(&likely->slots[line->hash & likely->slot_mask]);
    return table->batch_size < FOLDED_BATCH_LINES || folded_table_flush(table);
}

bool folded_table_set_known(struct folded_table *table, const struct folded_table *known)
{
    if (!array_reserve(&table->known_counts, &table->known_capacity, known->size + 1, UINT32_MAX))
        return false;
    memset(table->known_counts, 0, known->size * sizeof(*table->known_counts));
    table->known = known;
    table->known_size = known->size;
    return true;
}

static bool join_stack(struct folded_table *into, struct folded_stack *stack)
{
    struct folded_slot *slot = find_slot(into, (struct text_view){stack->text, stack->size}, stack->hash);
    if (slot->stack == NULL)
        return insert(into, slot, stack);
    add_counts(slot->stack->counts, stack->counts);
    return true;
}

bool folded_table_join(struct folded_table *into, struct folded_table *from)
{
    into->has_low_bytes = into->has_low_bytes || from->has_low_bytes;
    for (size_t i = 0; from->known == into && i < from->known_size; i++)
        add_counts(into->stacks[i]->counts, from->known_counts[i]);
    for (size_t i = 0; i < from->size; i++)
        if (!join_stack(into, from->stacks[i]))
            return false;
    memset(from->slots, 0, (from->slot_mask + 1) * sizeof(*from->slots));
    from->size = 0;
    from->known = NULL;
    return true;
}
