/*
 * code_ranges.h - which file's code is at an address of a process: sorted, disjoint ranges.
 *
 * Owns: its ranges, until code_ranges_release().
 * Threads: one at a time.
 * Limit: CODE_RANGES_LIMIT; further ranges are left out.
 */
#ifndef SYMBOLS_CODE_RANGES_H
#define SYMBOLS_CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define CODE_RANGES_LIMIT 16384
#define NO_FILE UINT32_MAX

struct code_range {
    uint64_t start, end, offset; /* offset: of the start, in the file */
    uint32_t file;               /* a number of the caller's; NO_FILE: generated code */
};

struct code_ranges {
    struct code_range *all;
    size_t count, capacity;
};

void code_ranges_release(struct code_ranges *ranges);
/* Replaces what was at its place. *changed is set if other code was there. False: out of memory. */
bool code_ranges_insert(struct code_ranges *ranges, const struct code_range *range, bool *changed) MUST_CHECK;
bool code_ranges_copy(struct code_ranges *ranges, const struct code_ranges *from) MUST_CHECK;
/* NULL: no code there. */
const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t address);

#endif
