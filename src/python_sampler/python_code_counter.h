/*
 * python_code_counter.h - finds where CPython 3.13 counts the code objects that it creates.
 *
 * An interpreter gives each new code object the next number. While the count does not change, no code object can have
 * been replaced by another one, so reading one word replaces reading each code. The location of the word is not
 * documented, but the table after it is recognized by its content: the code with number N is stored at index N modulo
 * its size.
 *
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_PYTHON_CODE_COUNTER_H
#define PYTHON_SAMPLER_PYTHON_CODE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_code_cache.h"

/* Minimum number of known codes for a search. */
#define PYTHON_CODES_TO_FIND_COUNTER 4

/* *offset: offset of the count in the interpreter state, which has `interpreter_bytes`. */
bool python_code_counter_find(struct process_memory *memory, const struct python_code_cache *cache,
                              uint64_t interpreter, size_t interpreter_bytes, uint32_t *offset) MUST_CHECK;

#endif
