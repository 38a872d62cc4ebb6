/*
 * python_callers.h - the bytes of a thread's frames below its innermost one, as they were when the stack was last followed
 * frame by frame. Where they are the same again, so are the callers.
 *
 * A frame that called another one does not change before that ends. All frames of the thread must lie one above the
 * other in its first chunk of frames, but for those that stand between two calls of the interpreter's loop: one of
 * these is made by a call from the frame below it and goes with the frame above it, and both are compared.
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
    size_t size;    /* up to the innermost frame; 0: none are known */
    unsigned char *bytes;
    size_t capacity;
    uint64_t previous;  /* the caller that the innermost frame had */
    size_t frame_count; /* of the whole stack */
    bool is_entry;      /* of the innermost frame, see python_stack_reader.h */
    bool is_taken;      /* the receiver has the frames of that stack */
    uint8_t repeats;    /* how often on end they were found to be the same */
};

void python_callers_init(struct python_callers *callers);
void python_callers_release(struct python_callers *callers);
void python_callers_forget(struct python_callers *callers);
/* What is between the chunk's begin and the innermost frame; none are known when there is no room. The rest is the
 * caller's to fill in. */
void python_callers_set(struct python_callers *callers, uint64_t chunk, const unsigned char *bytes,
                        size_t size);
/* Whether they are known, and the frame at `innermost` is the one above them. */
bool python_callers_are_below(const struct python_callers *callers, uint64_t innermost);
/* Whether both copies are the same as what is known. */
bool python_callers_equal(const struct python_callers *callers, const unsigned char *first,
                          const unsigned char *second);
/* Whether they were the same for so long that they are expected to be once more. */
bool python_callers_are_steady(const struct python_callers *callers);
void python_callers_count_repeat(struct python_callers *callers);

#endif
