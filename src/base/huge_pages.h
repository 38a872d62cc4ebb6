/*
 * huge_pages.h - requests huge pages for tables with random access, where the system allows it: otherwise most reads
 * of a table of many megabytes miss the TLB.
 */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* For memory that was just allocated and not yet touched. A hint only; small memory is unchanged. */
void huge_pages_advise(void *memory, size_t bytes);

#endif
