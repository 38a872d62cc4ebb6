#include "python_sampler/python_named_stack.h"

#include <stdlib.h>

#include "base/array.h"

void python_named_stack_init(struct python_named_stack *stack)
{
    *stack = (struct python_named_stack){.raw = NULL};
}

void python_named_stack_release(struct python_named_stack *stack)
{
    free(stack->raw);
    free(stack->frames);
    free(stack->marks);
    free(stack->shown);
    python_named_stack_init(stack);
}

static bool reserve(struct python_named_stack *stack, size_t count)
{
    return array_reserve(&stack->raw, &stack->raw_capacity, count, PYTHON_MOST_FRAMES) &&
           array_reserve(&stack->frames, &stack->frame_capacity, count, PYTHON_MOST_FRAMES) &&
           array_reserve(&stack->marks, &stack->mark_capacity, count, PYTHON_MOST_FRAMES) &&
           array_reserve(&stack->shown, &stack->shown_capacity, count, PYTHON_MOST_FRAMES);
}

static inline bool is_same(const struct python_raw_frame *left, const struct python_raw_frame *right)
{
    return left->code == right->code && left->instruction == right->instruction &&
           left->bytecode_index == right->bytecode_index && left->is_entry == right->is_entry;
}

/* Copies the frames; returns the number of outermost ones that are unchanged. */
static size_t take_over(struct python_named_stack *stack, const struct python_stack_buffer *read)
{
    const struct python_raw_frame *raw = read->frames;
    size_t count = read->frame_count;
    size_t same = read->has_same_callers ? count - 1 : 0;
    while (same < count && same < stack->count && is_same(&stack->raw[same], &raw[count - 1 - same]))
        same++;
    for (size_t i = same; i < count; i++)
        stack->raw[i] = raw[count - 1 - i];
    stack->count = count;
    return same;
}

static size_t count_shown(const struct python_named_stack *stack, size_t count)
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        shown += stack->frames[i].function != NO_FUNCTION;
    return shown;
}

/* Names all frames from `same` on. */
static bool name_rest(struct python_named_stack *stack, struct python_code_cache *cache,
                      const struct python_reader *reader, struct python_functions *functions, size_t same,
                      int64_t now_ns, uint64_t generation)
{
    return same == stack->count ||
           python_code_cache_resolve(cache, reader, functions, stack->raw + same, stack->count - same,
                                     same == 0, now_ns, generation, stack->frames + same);
}

static void show(struct python_named_stack *stack)
{
    stack->shown_count = 0;
    for (size_t i = stack->count; i-- > 0;) {
        if (stack->frames[i].function != NO_FUNCTION)
            stack->shown[stack->shown_count++] = stack->frames[i];
    }
}

bool python_named_stack_set(struct python_named_stack *stack, struct python_code_cache *cache,
                            const struct python_reader *reader, struct python_functions *functions,
                            const struct python_stack_buffer *read, int64_t now_ns, uint64_t generation)
{
    if (read != NULL && !reserve(stack, read->frame_count))
        return false;
    size_t count_before = stack->count;
    size_t same = read == NULL ? stack->count : take_over(stack, read);
    if (!stack->is_named || !python_code_cache_holds(cache, stack->epoch, now_ns, generation))
        same = 0;
    stack->is_named = name_rest(stack, cache, reader, functions, same, now_ns, generation);
    if (stack->is_named && same > 0 && stack->epoch != cache->epoch) {
        /* Code objects named before may have been replaced. */
        same = 0;
        stack->is_named = name_rest(stack, cache, reader, functions, same, now_ns, generation);
    }
    stack->epoch = cache->epoch;
    if (!stack->is_named) {
        stack->unchanged = 0;
        return false;
    }
    stack->is_repeated = same == stack->count && stack->count == count_before;
    if (same < stack->count || stack->count == 0)
        show(stack);
    stack->unchanged = same == stack->count ? stack->shown_count : count_shown(stack, same);
    return true;
}
