/*
 * json_scan.h - finds ends in JSON text many bytes at a time, without reading what lies between.
 *
 * Owns: nothing. Threads: any.
 */
#ifndef FORMATS_JSON_SCAN_H
#define FORMATS_JSON_SCAN_H

/* The first quote or backslash; `end` when there is none. */
const char *json_scan_string(const char *at, const char *end);
/* The byte behind the bracket or brace that closes the one at `at`; NULL: it is not closed before `end`, something in it is
 * closed by the wrong kind, or it goes deeper than this looks. Those in strings do not count. Nothing else is checked. */
const char *json_scan_nested(const char *at, const char *end);

#endif
