/*
 * json_scan.h - finds the ends of JSON values many bytes at a time, without parsing them.
 *
 * Owns: nothing. Threads: any.
 */
#ifndef INPUT_JSON_SCAN_H
#define INPUT_JSON_SCAN_H

/* The first quote or backslash; `end` when there is none. */
const char *json_scan_string(const char *at, const char *end);
/* The byte after the bracket or brace that closes the one at `at`; NULL: not closed before `end`, mismatched, or
 * nested too deeply. Brackets in strings are ignored; nothing else is checked. */
const char *json_scan_nested(const char *at, const char *end);

#endif
