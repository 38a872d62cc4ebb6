/*
 * huge_pages.h - asks for large pages below tables that are read at random, where the system gives them on request:
 * otherwise most reads of a table of many megabytes wait for the page's address first.
 */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* For memory that was just allocated and not yet touched. A wish only; small memory stays as it is. */
void huge_pages_advise(void *memory, size_t bytes);

#endif
