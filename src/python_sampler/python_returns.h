/*
 * python_returns.h - where the bytecode of a function returns.
 *
 * A frame that is at such an instruction has ended or is about to end: it has no callee. Where all frames of a thread
 * are in one block of memory, ended ones stay there unchanged until others take their place. Copies that a fast
 * program was quick enough to change twice in between may agree and yet join its frames with ended ones.
 *
 * Threads: any.
 */
#ifndef PYTHON_SAMPLER_PYTHON_RETURNS_H
#define PYTHON_SAMPLER_PYTHON_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/python_layout.h"

#define PYTHON_MOST_RETURNS 64
#define PYTHON_MOST_BYTECODE_BYTES ((size_t)64 << 10)

/* Stores the ascending offsets of the return instructions, and gives their number; 0 if there are more than
 * PYTHON_MOST_RETURNS. Other words of the bytecode, such as inline caches, may look like one. */
size_t python_returns_find(const struct python_layout *layout, const unsigned char *bytecode, size_t size,
                           uint32_t offsets[PYTHON_MOST_RETURNS]) MUST_CHECK;
bool python_returns_at(const uint32_t *offsets, size_t count, int64_t offset);

#endif
