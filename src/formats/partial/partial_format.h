/*
 * partial_format.h - the sum of some of the profiles that are to be merged, from which a merge of all goes on as if it
 * had read them itself.
 *
 * Numbers are unsigned LEB128 ("signed": zigzag), texts follow their size. In this order:
 *
 *     PARTIAL_MAGIC, what it holds (enum partial_holds), event ("": all), start and end (signed)
 *     strings     count; for each but the first, which is empty: bytes shared with the one before, the rest as a text
 *     frames      count; for each name, file, line, kind
 *     stacks      count with the root; for each but the root: its number less that of its parent, frame
 *     keys        count of those beyond the known ones; the name of each
 *     label sets  count with the empty set; for each but that: count of labels, key and value of each
 *     events      count; for each name, unit, 1 if it is shown by its value
 *     samples     count; for each enum partial_sample, event, stack, label set, with times: less the time before
 *                 (signed), value (signed), its fraction if there is one, count (signed) unless it is the same, and
 *                 its fraction
 *     PARTIAL_END
 */
#ifndef FORMATS_PARTIAL_FORMAT_H
#define FORMATS_PARTIAL_FORMAT_H

#include "base/text_view.h"

/* The number in the magic. Roll-ups of the collector with another one are made again. */
#define PARTIAL_VERSION 1
#define PARTIAL_MAGIC TEXT("sparkflame partial sum 1\n")
#define PARTIAL_END TEXT("end\n")

enum partial_holds {
    PARTIAL_TIMES = 1,
    PARTIAL_LABELS = 2,
    PARTIAL_LINES = 4,
    PARTIAL_KINDS = 8,
    PARTIAL_STITCHED = 16, /* stacks of Python are below those of their tasks */
    PARTIAL_ABSOLUTE = 32, /* times count from 1970 */
};
#define PARTIAL_HOLDS_ALL 63

enum partial_sample {
    PARTIAL_SAME_COUNT = 1, /* the count is the value */
    PARTIAL_VALUE_FRACTION = 2,
    PARTIAL_COUNT_FRACTION = 4,
};
#define PARTIAL_SAMPLE_ALL 7

#endif
