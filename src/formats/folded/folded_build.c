#include "formats/folded/folded_build.h"

#include <stdlib.h>

#include "base/array.h"
#include "formats/folded/folded_line.h"
#include "formats/reader.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FIRST_SLOTS 1024

/* ---- tables ---- */

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

bool folded_builder_init(struct folded_builder *builder, struct profile *profile, bool needs_lines)
{
    *builder = (struct folded_builder){.profile = profile, .needs_lines = needs_lines};
    stack_list_init(&builder->list);
    return grow_tokens(builder);
}

void folded_builder_release(struct folded_builder *builder)
{
    stack_list_release(&builder->list);
    free(builder->tokens);
    free(builder->parts);
    free(builder->codes);
    builder->tokens = NULL;
    builder->parts = NULL;
    builder->codes = NULL;
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

/* ---- stacks ---- */

/* The second step. Codes are written from the innermost frame on, so they end at the end of the buffer. NULL: out of
 * memory. */
static const uint8_t *make_codes(struct folded_builder *builder, size_t *size)
{
    if (!array_reserve(&builder->codes, &builder->code_capacity,
                       builder->part_count * STACK_LIST_LONGEST_CODE,
                       READER_DEPTH_LIMIT * STACK_LIST_LONGEST_CODE))
        return NULL;
    for (size_t i = 0; i < builder->part_count; i++) {
        builder->parts[i].frame = find_frame(builder, &builder->parts[i]);
        if (builder->parts[i].frame == NO_FRAME)
            return NULL;
    }
    uint8_t *end = builder->codes + builder->code_capacity, *place = end;
    for (size_t i = builder->part_count; i-- > 0;)
        place = stack_list_put(place, builder->parts[i].frame);
    *size = (size_t)(end - place);
    return place;
}

uint32_t folded_builder_add(struct folded_builder *builder, struct text_view stack)
{
    size_t size = 0;
    if (stack.size == 0)
        return stack_list_append_codes(&builder->list, (const uint8_t *)"", 0);
    const uint8_t *codes = find_parts(builder, stack) ? make_codes(builder, &size) : NULL;
    builder->cut_stacks += builder->is_cut;
    return codes == NULL ? NO_STACK : stack_list_append_codes(&builder->list, codes, size);
}

uint32_t *folded_builder_place(struct folded_builder *builder)
{
    free(builder->tokens); /* so that their memory and the tree's are not there at once */
    builder->tokens = NULL;
    uint32_t *nodes = malloc((builder->list.size + 1) * sizeof(*nodes));
    bool good = nodes != NULL && stack_list_build(&builder->list, &builder->profile->stacks, nodes);
    stack_list_release(&builder->list);
    if (good)
        return nodes;
    free(nodes);
    return NULL;
}
