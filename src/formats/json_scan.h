/*
 * json_scan.h - finds ends in JSON text many bytes at a time, without reading what lies between.
 *
 * Owns: nothing. Threads: any.
 */
#ifndef FORMATS_JSON_SCAN_H
#define FORMATS_JSON_SCAN_H

/* The first quote or backslash; `end` when there is none. */
const char *json_scan_string(const char *at, const char *end);
/* The byte behind the bracket or brace that closes the one at `at`; NULL: it is not closed before `end`. Those in strings
 * do not count; that each closing one is of the kind of its opening one is not checked. */
const char *json_scan_nested(const char *at, const char *end);

#endif
