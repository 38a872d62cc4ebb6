/*
 * python_object.h - reads Python objects in another process: strings, numbers, dictionaries, attributes.
 *
 * The target is running, so anything may be partly changed: every size is checked and limited, and results may be
 * rejected, but are never guaranteed to be consistent.
 */
#ifndef PYTHON_SAMPLER_PYTHON_OBJECT_H
#define PYTHON_SAMPLER_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/text_builder.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_layout.h"

#define PYTHON_STRING_LIMIT 4096 /* characters; longer strings are truncated */

/* Source of objects. */
struct python_reader {
    struct process_memory *memory;
    const struct python_layout *layout;
};

/* Replaces the content of `text` by the str at the address, as UTF-8. */
bool python_object_read_string(const struct python_reader *reader, uint64_t address,
                               struct text_builder *text) MUST_CHECK;

#endif
