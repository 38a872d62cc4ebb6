/*
 * error.h - why something failed: a code and one line of text, without allocation.
 *
 * A function that can fail returns bool and takes a struct error last:
 *
 *     return error_set(error, ERROR_BAD_INPUT, "line %u: no weight", line);
 *
 * Owns: nothing. A NULL error is allowed and receives nothing.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"

enum error_code {
    ERROR_NONE,
    ERROR_BAD_INPUT, /* invalid data */
    ERROR_SYSTEM,    /* an operating system error */
    ERROR_MEMORY,    /* out of memory, or a limit reached */
    ERROR_USAGE,     /* wrong usage */
    ERROR_UNSUPPORTED,
};

struct error {
    enum error_code code;
    char message[1024];
};

/* All return false, so that a caller can `return error_set(...)`. The newest text wins. */
bool error_set(struct error *error, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);
/* Appends ": " and the text of errno. */
bool error_set_system(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3);
bool error_set_memory(struct error *error);
/* Puts "prefix: " before the text, e.g. the file's name. */
bool error_prefix(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
