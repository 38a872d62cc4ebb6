/*
 * python_functions.h - gives equal functions (name, file, first line) one number, across processes.
 *
 * Owns: the texts, until python_functions_release().
 * Threads: one at a time.
 * Limit: PYTHON_TEXT_LIMIT_BYTES of text, PYTHON_MOST_FUNCTIONS functions; then python_functions_add() returns
 * NO_FUNCTION.
 */
#ifndef PYTHON_SAMPLER_PYTHON_FUNCTIONS_H
#define PYTHON_SAMPLER_PYTHON_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_view.h"

#define NO_FUNCTION UINT32_MAX
#define PYTHON_TEXT_LIMIT_BYTES ((size_t)256 << 20)
#define PYTHON_MOST_FUNCTIONS ((size_t)4 << 20)

/* The role of a function in PySpark. */
enum python_role {
    ROLE_NONE,
    ROLE_WORKER_MAIN, /* runs tasks, one after the other */
    ROLE_READ_INT,    /* in which a worker waits for the next task, among other things */
};

struct python_function {
    uint32_t name; /* string number */
    uint32_t file;
    uint32_t first_line;
    bool is_native; /* `file` is the name of the library */
    uint8_t role;
};

struct python_functions {
    struct string_table strings;
    struct python_function *functions;
    size_t size;
    size_t capacity;
    struct id_map by_hash;
};

bool python_functions_init(struct python_functions *functions) MUST_CHECK;
void python_functions_release(struct python_functions *functions);
uint32_t python_functions_add(struct python_functions *functions, struct text_view name,
                              struct text_view file, uint32_t first_line) MUST_CHECK;

/* A function of a library or program. */
uint32_t python_functions_add_native(struct python_functions *functions, struct text_view name,
                                     struct text_view library) MUST_CHECK;

static inline struct text_view python_function_name(const struct python_functions *functions, uint32_t number)
{
    return string_table_text(&functions->strings, functions->functions[number].name);
}

static inline struct text_view python_function_file(const struct python_functions *functions, uint32_t number)
{
    return string_table_text(&functions->strings, functions->functions[number].file);
}

#endif
