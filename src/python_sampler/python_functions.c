#include "python_sampler/python_functions.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

bool python_functions_init(struct python_functions *functions)
{
    *functions = (struct python_functions){.functions = NULL};
    id_map_init(&functions->by_hash);
    return string_table_init(&functions->strings, PYTHON_TEXT_LIMIT_BYTES);
}

void python_functions_release(struct python_functions *functions)
{
    string_table_release(&functions->strings);
    id_map_release(&functions->by_hash);
    free(functions->functions);
    *functions = (struct python_functions){.functions = NULL};
}

static bool is_same(const struct python_function *left, const struct python_function *right)
{
    return left->name == right->name && left->file == right->file && left->first_line == right->first_line &&
           left->is_native == right->is_native;
}

static uint8_t role_of(struct text_view name, struct text_view file)
{
    if (text_equal(name, TEXT("main")) && text_ends_with(file, TEXT("pyspark/worker.py")))
        return ROLE_WORKER_MAIN;
    return text_equal(name, TEXT("read_int")) ? ROLE_READ_INT : ROLE_NONE;
}

static uint32_t add(struct python_functions *functions, struct text_view name, struct text_view file,
                    uint32_t first_line, bool is_native)
{
    struct python_function function = {string_table_add(&functions->strings, name),
                                       string_table_add(&functions->strings, file), first_line, is_native,
                                       ROLE_NONE};
    if (function.name == NO_STRING || function.file == NO_STRING)
        return NO_FUNCTION;
    /* Different functions with the same hash use the next keys. */
    for (uint64_t key = hash_mix(hash_pair(function.name, function.file), first_line ^ HASH_SEED);; key++) {
        uint32_t *place = id_map_place(&functions->by_hash, key);
        if (place == NULL)
            return NO_FUNCTION;
        if (*place != NO_ID && is_same(&functions->functions[*place], &function))
            return *place;
        if (*place != NO_ID)
            continue;
        /* The entry must be set before the next call, even if there is no space: the empty function 0 is used. */
        *place = 0;
        if (!array_reserve(&functions->functions, &functions->capacity, functions->size + 1,
                           PYTHON_MOST_FUNCTIONS))
            return NO_FUNCTION;
        *place = (uint32_t)functions->size;
        function.role = role_of(name, file);
        functions->functions[functions->size] = function;
        return (uint32_t)functions->size++;
    }
}

uint32_t python_functions_add(struct python_functions *functions, struct text_view name,
                              struct text_view file, uint32_t first_line)
{
    return add(functions, name, file, first_line, false);
}

uint32_t python_functions_add_native(struct python_functions *functions, struct text_view name,
                                     struct text_view library)
{
    return add(functions, name, library, 0, true);
}
