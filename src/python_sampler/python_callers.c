#include "python_sampler/python_callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STEADY_REPEATS 16

void python_callers_init(struct python_callers *callers)
{
    *callers = (struct python_callers){.bytes = NULL};
}

void python_callers_release(struct python_callers *callers)
{
    free(callers->bytes);
    python_callers_init(callers);
}

void python_callers_forget(struct python_callers *callers)
{
    callers->size = 0;
    callers->is_taken = false;
    callers->repeats = 0;
}

void python_callers_set(struct python_callers *callers, uint64_t chunk, const unsigned char *bytes,
                        size_t size)
{
    python_callers_forget(callers);
    if (!array_reserve(&callers->bytes, &callers->capacity, size, PYTHON_CALLERS_MOST_BYTES))
        return;
    memcpy(callers->bytes, bytes, size);
    callers->start = chunk;
    callers->size = size;
}

bool python_callers_are_below(const struct python_callers *callers, uint64_t innermost)
{
    return callers->size > 0 && callers->is_taken && innermost == callers->start + callers->size;
}

bool python_callers_equal(const struct python_callers *callers, const unsigned char *first,
                          const unsigned char *second)
{
    return memcmp(first, callers->bytes, callers->size) == 0 &&
           (second == first || memcmp(second, callers->bytes, callers->size) == 0);
}

bool python_callers_are_steady(const struct python_callers *callers)
{
    return callers->size > 0 && callers->is_taken && callers->repeats >= STEADY_REPEATS;
}

void python_callers_count_repeat(struct python_callers *callers)
{
    if (callers->repeats < STEADY_REPEATS)
        callers->repeats++;
}
