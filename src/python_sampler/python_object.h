/*
 * python_object.h - reads Python's own objects in another process: strings, numbers, dictionaries, attributes.
 *
 * The target runs meanwhile, so anything may be half changed: every size is checked and limited, and a result may
 * be refused, never trusted to be whole.
 */
#ifndef PYTHON_SAMPLER_PYTHON_OBJECT_H
#define PYTHON_SAMPLER_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/text_builder.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_layout.h"

#define PYTHON_STRING_LIMIT 4096 /* characters; longer ones are cut */

/* Where objects are read from. */
struct python_reader {
    struct process_memory *memory;
    const struct python_layout *layout;
};

/* Replaces what `text` holds by the str at the address, as UTF-8. */
bool python_object_read_string(const struct python_reader *reader, uint64_t address,
                               struct text_builder *text) MUST_CHECK;

#endif
