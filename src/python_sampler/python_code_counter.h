/*
 * python_code_counter.h - finds where CPython 3.13 counts the code objects that it makes.
 *
 * An interpreter gives each new code object the next number. As long as the count stands still, no code object can have
 * taken the place of another one, so that one word tells what else takes a look at each code. The word is not described,
 * but the table behind it is known by its contents: the code with number N stands in it at N modulo its size.
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

/* Codes to know before it is worth a try. */
#define PYTHON_CODES_TO_FIND_COUNTER 4

/* *offset becomes the place of the count in the interpreter, which is `interpreter_bytes` long. */
bool python_code_counter_find(struct process_memory *memory, const struct python_code_cache *cache,
                              uint64_t interpreter, size_t interpreter_bytes, uint32_t *offset) MUST_CHECK;

#endif
