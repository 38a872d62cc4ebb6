/*
 * python_callers.h - the bytes of a thread's frames outside of its innermost one, from the last time that the stack was
 * followed frame by frame. If they are unchanged, the callers are, too.
 *
 * A frame that called another one does not change until that one returns. All frames of the thread must be contiguous
 * in its first chunk of frames, except those between two calls of the interpreter loop: such a frame is created by a
 * call from the frame below it and removed with the frame above it, and both are compared.
 *
 * Owns: the bytes, until python_callers_release().
 * Threads: one at a time.
 * Limit: PYTHON_CALLERS_MOST_BYTES.
 */
#ifndef PYTHON_SAMPLER_PYTHON_CALLERS_H
#define PYTHON_SAMPLER_PYTHON_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define PYTHON_CALLERS_MOST_BYTES ((size_t)64 << 10)

struct python_callers {
    uint64_t start; /* address of the chunk */
    size_t size;    /* up to the innermost frame; 0: unknown */
    unsigned char *bytes;
    size_t capacity;
    uint64_t previous;  /* caller of the innermost frame */
    size_t frame_count; /* of the whole stack */
    bool is_entry;      /* of the innermost frame, see python_stack_reader.h */
    bool is_taken;      /* the receiver has the frames of that stack */
    uint8_t repeats;    /* how often in a row they were unchanged */
};

void python_callers_init(struct python_callers *callers);
void python_callers_release(struct python_callers *callers);
void python_callers_forget(struct python_callers *callers);
/* Sets the bytes between the start of the chunk and the innermost frame; unknown if there is no space. The caller
 * sets the other fields. */
void python_callers_set(struct python_callers *callers, uint64_t chunk, const unsigned char *bytes,
                        size_t size);
/* True if they are known, and the frame at `innermost` is right above them. */
bool python_callers_are_below(const struct python_callers *callers, uint64_t innermost);
/* True if both copies are equal to the known bytes. */
bool python_callers_equal(const struct python_callers *callers, const unsigned char *first,
                          const unsigned char *second);
/* True if they were unchanged so often that they are expected to be unchanged again. */
bool python_callers_are_steady(const struct python_callers *callers);
void python_callers_count_repeat(struct python_callers *callers);

#endif
