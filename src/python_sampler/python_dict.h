/*
 * python_dict.h - reads dictionaries and attributes of Python objects in another process.
 *
 * Nothing is locked, so a dictionary that is being changed may give a wrong result once; callers retry later.
 */
#ifndef PYTHON_SAMPLER_PYTHON_DICT_H
#define PYTHON_SAMPLER_PYTHON_DICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/python_object.h"

#define PYTHON_DICT_MOST_ENTRIES 65536

/* The value of an ASCII str key. */
bool python_dict_get(const struct python_reader *reader, uint64_t dict, const char *key,
                     uint64_t *value) MUST_CHECK;
/* Calls visit() for each entry until it returns false. False: the dict cannot be read. */
bool python_dict_visit(const struct python_reader *reader, uint64_t dict,
                       bool (*visit)(void *context, uint64_t hash, uint64_t key, uint64_t value),
                       void *context) MUST_CHECK;
/* An attribute of the object itself (not of its class). */
bool python_object_attribute(const struct python_reader *reader, uint64_t object, const char *name,
                             uint64_t *value) MUST_CHECK;
/* An int that fits. */
bool python_object_read_int(const struct python_reader *reader, uint64_t object, int64_t *number) MUST_CHECK;
/* The address of the dict of a module in sys.modules. */
bool python_find_module(const struct python_reader *reader, uint64_t interpreter, const char *name,
                        uint64_t *dict) MUST_CHECK;
/* The dict of a class. */
bool python_class_dict(const struct python_reader *reader, uint64_t type, uint64_t *dict) MUST_CHECK;

#endif
