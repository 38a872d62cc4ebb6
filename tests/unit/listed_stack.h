/*
 * listed_stack.h - adds a stack to a stack_list by its frames, as readers do it frame by frame.
 */
#ifndef LISTED_STACK_H
#define LISTED_STACK_H

#include "model/stack_list.h"

#define LISTED_STACK_DEEPEST 1500

/* Frames come innermost first. NO_STACK: out of memory. */
static inline uint32_t listed_stack_add(struct stack_list *list, const uint32_t *frames, size_t count)
{
    uint8_t codes[LISTED_STACK_DEEPEST * STACK_LIST_LONGEST_CODE], *end = codes + sizeof(codes), *place = end;
    for (size_t i = 0; i < count; i++)
        place = stack_list_put(place, frames[i]);
    size_t size = (size_t)(end - place);
    return stack_list_add_codes(list, place, size, stack_list_hash(place, size));
}

#endif
