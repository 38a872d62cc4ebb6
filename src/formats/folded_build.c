#include "formats/folded_build.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/huge_pages.h"
#include "formats/folded_line.h"
#include "formats/reader.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FIRST_SLOTS 1024

/* ---- tables ---- */

static uint64_t slot_of(uint64_t hash, size_t number)
{
    return hash >> 32 << 32 | (number + 1);
}

static size_t number_in(uint64_t slot)
{
    return (uint32_t)slot - 1;
}

static void put(uint64_t *slots, size_t mask, uint64_t hash, size_t number)
{
    size_t slot = hash & mask;
    while (slots[slot] != 0)
        slot = (slot + 1) & mask;
    slots[slot] = slot_of(hash, number);
}

/* The slot of the hash, or the free one where it belongs. */
static struct folded_token *find_token(const struct folded_builder *builder, struct wide_hash hash)
{
    size_t slot = hash.low & builder->token_mask;
    while (builder->tokens[slot].frame_number != 0 && !wide_hash_equal(builder->tokens[slot].hash, hash))
        slot = (slot + 1) & builder->token_mask;
    return &builder->tokens[slot];
}

static bool grow_tokens(struct folded_builder *builder)
{
    struct folded_token *old = builder->tokens;
    size_t old_count = old == NULL ? 0 : builder->token_mask + 1;
    size_t count = old == NULL ? FIRST_SLOTS : old_count * 2;
    struct folded_token *tokens = calloc(count, sizeof(*tokens));
    if (tokens == NULL)
        return false;
    builder->tokens = tokens;
    builder->token_mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].frame_number != 0)
            *find_token(builder, old[i].hash) = old[i];
    free(old);
    return true;
}

/* Of all frames down to the node, from those above it. */
static uint64_t part_hash(uint64_t above, uint32_t frame)
{
    return hash_mix(above ^ frame, HASH_MULTIPLIER);
}

/* Slots for `more` nodes; the hashes of those that are there are computed anew, from the root on. */
static bool reserve_nodes(struct folded_builder *builder, size_t more)
{
    const struct stack_tree *tree = &builder->profile->stacks;
    size_t count = builder->node_slots == NULL ? FIRST_SLOTS : builder->node_mask + 1;
    if (builder->node_slots != NULL && (tree->size + more) * 3 <= count * 2)
        return true;
    while ((tree->size + more) * 3 > count * 2)
        count *= 2;
    free(builder->node_slots);
    builder->node_slots = calloc(count, sizeof(*builder->node_slots));
    builder->node_mask = count - 1;
    uint64_t *hashes = malloc(tree->size * sizeof(*hashes));
    bool good = builder->node_slots != NULL && hashes != NULL;
    if (good) {
        huge_pages_advise(builder->node_slots, count * sizeof(*builder->node_slots));
        hashes[STACK_ROOT] = HASH_SEED;
        for (size_t i = 1; i < tree->size; i++) {
            hashes[i] = part_hash(hashes[tree->nodes[i].parent], tree->nodes[i].frame);
            put(builder->node_slots, builder->node_mask, hashes[i], i);
        }
    }
    free(hashes);
    return good;
}

bool folded_builder_init(struct folded_builder *builder, struct profile *profile, bool needs_lines)
{
    *builder = (struct folded_builder){.profile = profile, .needs_lines = needs_lines};
    bool is_empty = profile->stacks.size == 1;
    return grow_tokens(builder) && (!is_empty || reserve_nodes(builder, 1));
}

void folded_builder_release(struct folded_builder *builder)
{
    free(builder->tokens);
    free(builder->node_slots);
    free(builder->parts);
    builder->tokens = NULL;
    builder->node_slots = NULL;
    builder->parts = NULL;
}

/* ---- frames ---- */

/* The first step: what needs nothing but the text, while the memory for the next one is fetched. */
static bool add_part(struct folded_builder *builder, struct text_view text)
{
    if (builder->part_count == READER_DEPTH_LIMIT) {
        builder->is_cut = true;
        return true;
    }
    if (!array_reserve(&builder->parts, &builder->part_capacity, builder->part_count + 1, READER_DEPTH_LIMIT))
        return false;
    struct folded_part *part = &builder->parts[builder->part_count++];
    part->text = text;
    part->text_hash = wide_hash_of(text);
    __builtin_prefetch(&builder->tokens[part->text_hash.low & builder->token_mask]);
    return true;
}

static uint32_t find_frame(struct folded_builder *builder, const struct folded_part *part)
{
    struct folded_token *token = find_token(builder, part->text_hash);
    if (LIKELY(token->frame_number != 0))
        return token->frame_number - 1;
    uint32_t frame = folded_frame(builder->profile, part->text, builder->needs_lines);
    if (frame == NO_FRAME)
        return NO_FRAME;
    *token = (struct folded_token){part->text_hash, frame + 1};
    builder->token_count++;
    return builder->token_count * 2 <= builder->token_mask || grow_tokens(builder) ? frame : NO_FRAME;
}

/* The second step. */
static bool find_frames(struct folded_builder *builder)
{
    uint64_t above = HASH_SEED;
    for (size_t i = 0; i < builder->part_count; i++) {
        struct folded_part *part = &builder->parts[i];
        part->frame = find_frame(builder, part);
        if (part->frame == NO_FRAME)
            return false;
        part->hash = above = part_hash(above, part->frame);
        if (builder->node_slots != NULL)
            __builtin_prefetch(&builder->node_slots[above & builder->node_mask], 1);
    }
    return true;
}

/* Frames end at each ';', and the innermost with the text. */
static bool find_parts(struct folded_builder *builder, struct text_view stack)
{
    size_t at = 0, begin = 0;
    builder->part_count = 0;
    builder->is_cut = false;
#ifdef __SSE2__
    const __m128i semicolons = _mm_set1_epi8(';');
    for (; at + 16 <= stack.size; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(stack.data + at));
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, semicolons));
        for (; found != 0; found &= found - 1) {
            size_t end = at + (size_t)__builtin_ctz(found);
            if (!add_part(builder, (struct text_view){stack.data + begin, end - begin}))
                return false;
            begin = end + 1;
        }
    }
#endif
    for (; at < stack.size; at++) {
        if (stack.data[at] != ';')
            continue;
        if (!add_part(builder, (struct text_view){stack.data + begin, at - begin}))
            return false;
        begin = at + 1;
    }
    return add_part(builder, text_from(stack, begin));
}

/* ---- nodes ---- */

/* The node of a part below `parent`; NO_STACK when it is not there. */
static uint32_t find_node(const struct folded_builder *builder, uint32_t parent,
                          const struct folded_part *part)
{
    const struct stack_node *nodes = builder->profile->stacks.nodes;
    size_t slot = part->hash & builder->node_mask;
    for (; builder->node_slots[slot] != 0; slot = (slot + 1) & builder->node_mask) {
        if ((builder->node_slots[slot] ^ part->hash) >> 32 != 0)
            continue;
        size_t node = number_in(builder->node_slots[slot]);
        if (nodes[node].parent == parent && nodes[node].frame == part->frame)
            return (uint32_t)node;
    }
    return NO_STACK;
}

/* What is known of the stack is walked down, what is not is put below without looking. */
static uint32_t find_stack(struct folded_builder *builder)
{
    struct stack_tree *tree = &builder->profile->stacks;
    uint32_t node = STACK_ROOT, found = STACK_ROOT;
    size_t at = 0;
    for (; at < builder->part_count; at++) {
        found = find_node(builder, node, &builder->parts[at]);
        if (found == NO_STACK)
            break;
        node = found;
    }
    for (; at < builder->part_count && node != NO_STACK; at++) {
        put(builder->node_slots, builder->node_mask, builder->parts[at].hash, tree->size);
        node = stack_tree_append(tree, node, builder->parts[at].frame);
    }
    return node;
}

static uint32_t find_stack_among_others(struct folded_builder *builder)
{
    uint32_t node = STACK_ROOT;
    for (size_t i = 0; i < builder->part_count && node != NO_STACK; i++)
        node = stack_tree_child(&builder->profile->stacks, node, builder->parts[i].frame);
    return node;
}

uint32_t folded_builder_add(struct folded_builder *builder, struct text_view stack)
{
    if (stack.size == 0)
        return STACK_ROOT;
    if (!find_parts(builder, stack) ||
        (builder->node_slots != NULL && !reserve_nodes(builder, builder->part_count)) ||
        !find_frames(builder))
        return NO_STACK;
    builder->cut_stacks += builder->is_cut;
    return builder->node_slots != NULL ? find_stack(builder) : find_stack_among_others(builder);
}
