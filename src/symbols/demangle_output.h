/*
 * demangle_output.h - the bounded text that demanglers write to.
 *
 * Owns: nothing. Threads: one at a time. Limit: the caller's buffer, then `full` is set and the rest is dropped.
 */
#ifndef SYMBOLS_DEMANGLE_OUTPUT_H
#define SYMBOLS_DEMANGLE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct demangle_output {
    char *text;
    size_t size; /* of the buffer, with the final '\0' */
    size_t length;
    bool full;
};

void demangle_output_add(struct demangle_output *output, const char *text, size_t length);
void demangle_output_add_text(struct demangle_output *output, const char *text);
void demangle_output_add_number(struct demangle_output *output, uint64_t number, unsigned base);
char demangle_output_last(const struct demangle_output *output);

/* Both return false for names of another language or that are not understood; output is then to be ignored. */
bool demangle_cpp(const char *name, bool name_only, struct demangle_output *output);
bool demangle_rust(const char *name, bool name_only, struct demangle_output *output);

#endif
