/*
 * printable.h - text from outside, for a terminal.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/* Replaces what a terminal would obey by question marks: control characters, those of Latin-1 in UTF-8 included. */
void make_printable(char *text, size_t size);

#endif
