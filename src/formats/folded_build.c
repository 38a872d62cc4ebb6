#include "formats/folded_build.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "formats/folded_line.h"

#define FIRST_SLOTS 1024

/* A frame's text that was met, and the frame that it means. */
struct token {
    const char *text; /* in the table of stacks */
    uint32_t size;
    uint32_t frame;
};

/* Sorted stacks share all frames up to the byte where they differ. */
struct open_frame {
    uint32_t end; /* where its text ends */
    uint32_t node;
};

struct builder {
    struct profile *profile;
    struct token *tokens;
    size_t token_count;
    size_t token_capacity;
    uint64_t *slots; /* high half: part of the hash; low half: number + 1; 0 is free */
    size_t slot_mask;
    struct open_frame *path; /* of the last stack */
    size_t path_size;
    size_t path_capacity;
    const struct folded_build_options *options;
    bool may_append; /* stacks come sorted into an empty tree: what differs from the last one is new */
};

static bool grow_slots(struct builder *builder)
{
    size_t count = builder->slots == NULL ? FIRST_SLOTS : (builder->slot_mask + 1) * 2;
    uint64_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < builder->token_count; i++) {
        uint64_t hash = hash_bytes(builder->tokens[i].text, builder->tokens[i].size);
        size_t slot = hash & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (hash >> 32 << 32) | (i + 1);
    }
    free(builder->slots);
    builder->slots = slots;
    builder->slot_mask = count - 1;
    return true;
}

static uint32_t add_token(struct builder *builder, struct text_view text, uint64_t hash, size_t slot)
{
    uint32_t frame = folded_frame(builder->profile, text, builder->options->needs_lines);
    if (frame == NO_FRAME ||
        !array_reserve(&builder->tokens, &builder->token_capacity, builder->token_count + 1, UINT32_MAX - 1))
        return NO_FRAME;
    /* Names lie close together in the profile; the stacks' texts are all over the memory. */
    struct text_view name = profile_frame_name(builder->profile, frame);
    const char *kept = text_equal(name, text) ? name.data : text.data;
    builder->tokens[builder->token_count++] = (struct token){kept, (uint32_t)text.size, frame};
    builder->slots[slot] = (hash >> 32 << 32) | builder->token_count;
    if (builder->token_count * 2 > builder->slot_mask && !grow_slots(builder))
        return NO_FRAME;
    return frame;
}

static uint32_t find_frame(struct builder *builder, struct text_view text)
{
    uint64_t hash = hash_bytes(text.data, text.size);
    size_t slot = hash & builder->slot_mask;
    for (; builder->slots[slot] != 0; slot = (slot + 1) & builder->slot_mask) {
        if ((builder->slots[slot] ^ hash) >> 32 != 0)
            continue;
        const struct token *token = &builder->tokens[(uint32_t)builder->slots[slot] - 1];
        if (token->size == text.size && memcmp(token->text, text.data, text.size) == 0)
            return token->frame;
    }
    return add_token(builder, text, hash, slot);
}

static size_t common_bytes(const struct folded_stack *left, const struct folded_stack *right)
{
    size_t most = left->size < right->size ? left->size : right->size, at = 0;
    while (at + 8 <= most && hash_load64(left->text + at) == hash_load64(right->text + at))
        at += 8;
    while (at < most && left->text[at] == right->text[at])
        at++;
    return at;
}

/* Closes the frames of the last stack that this one does not have. */
static void close_frames(struct builder *builder, const struct folded_stack *last,
                         const struct folded_stack *stack)
{
    size_t common = last == NULL ? 0 : common_bytes(last, stack);
    bool ends_frame = common == stack->size || stack->text[common] == ';';
    while (builder->path_size > 0) {
        uint32_t end = builder->path[builder->path_size - 1].end;
        if (end < common || (end == common && ends_frame))
            break;
        builder->path_size--;
    }
}

/* The stack's innermost node; NO_STACK: out of memory. *cut: it was too deep. */
static uint32_t add_stack(struct builder *builder, const struct folded_stack *stack, bool *cut)
{
    size_t depth = builder->path_size;
    uint32_t node = depth == 0 ? STACK_ROOT : builder->path[depth - 1].node;
    size_t at = depth == 0 ? 0 : builder->path[depth - 1].end + (size_t)1;
    while (at <= stack->size && stack->size > 0) {
        const char *semicolon = at == stack->size ? NULL : memchr(stack->text + at, ';', stack->size - at);
        size_t end = semicolon == NULL ? stack->size : (size_t)(semicolon - stack->text);
        if (builder->path_size >= builder->options->most_frames) {
            *cut = true;
            break;
        }
        uint32_t frame = find_frame(builder, (struct text_view){stack->text + at, end - at});
        if (frame == NO_FRAME)
            return NO_STACK;
        node = builder->may_append ? stack_tree_append(&builder->profile->stacks, node, frame)
                                   : stack_tree_child(&builder->profile->stacks, node, frame);
        if (node == NO_STACK || !array_reserve(&builder->path, &builder->path_capacity,
                                               builder->path_size + 1, builder->options->most_frames))
            return NO_STACK;
        builder->path[builder->path_size++] = (struct open_frame){(uint32_t)end, node};
        at = end + 1;
    }
    return node;
}

static bool add_samples(struct profile *profile, uint32_t node, const double *counts,
                        const struct folded_build_options *options)
{
    for (size_t i = 0; i < options->event_count; i++) {
        struct sample sample = {.stack = node, .event = options->events[i], .time_ns = NO_TIME};
        sample.value = sample.count = counts[i];
        if (sample.count != 0 && !profile_add_sample(profile, &sample))
            return false;
    }
    return true;
}

/* After the tree is built `number` is the node of a stack. */
static bool add_entries(struct profile *profile, const struct folded_table *table,
                        const struct folded_build_options *options)
{
    for (size_t i = 0; i < table->entry_count; i++)
        if (!add_samples(profile, table->entries[i].stack->number, table->entries[i].counts, options))
            return false;
    return true;
}

bool folded_build(struct profile *profile, struct folded_table *table,
                  const struct folded_build_options *options, uint64_t *cut)
{
    struct builder builder = {.profile = profile, .options = options};
    builder.may_append = profile->stacks.size == 1 && !table->has_low_bytes;
    bool good = grow_slots(&builder) && (table->has_low_bytes || folded_table_sort(table));
    const struct folded_stack *last = NULL;
    for (size_t i = 0; good && i < table->size; i++) {
        struct folded_stack *stack = table->stacks[i];
        bool is_cut = false;
        close_frames(&builder, last, stack);
        uint32_t node = add_stack(&builder, stack, &is_cut);
        *cut += is_cut;
        good = node != NO_STACK && (table->keeps_order || add_samples(profile, node, stack->counts, options));
        stack->number = node;
        last = stack;
    }
    free(builder.tokens);
    free(builder.slots);
    free(builder.path);
    return good && add_entries(profile, table, options);
}
