/*
 * elf_lookup.h - finds a few symbols and a section of an ELF file, with small reads and no mapping, so that a file
 * that is cut short or replaced meanwhile does no harm.
 */
#ifndef PYTHON_SAMPLER_ELF_LOOKUP_H
#define PYTHON_SAMPLER_ELF_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

struct elf_wanted {
    const char *name;
    bool is_section; /* a section of that name, not a symbol */
    uint64_t value;  /* address in the file's own terms; 0: not found */
};

/* Fills the values of those found. `first_load` gets the address of the first loaded segment, which the mapping with
 * file offset 0 shows in a process. False: not an ELF file for this machine's word size, or unreadable. */
bool elf_lookup(int descriptor, struct elf_wanted *wanted, size_t count, uint64_t *first_load,
                struct error *error) MUST_CHECK;

#endif
