/*
 * tags.h - what a thread works on ("stage=3;task=41"), set by the thread itself and carried by each of its samples.
 *
 * Owns: the texts, for the life of the process.
 * Threads: any, but no signal handler; has a lock of its own. Handlers read the number in the thread's record.
 * Limit: TAGS_LIMIT_BYTES of text; later tags have the number 0, which is no tag.
 */
#ifndef JVM_AGENT_TAGS_H
#define JVM_AGENT_TAGS_H

#include <stdint.h>

#include "base/text_view.h"

#define TAGS_LIMIT_BYTES ((size_t)64 << 20)

/* Sets the calling thread's tag; an empty text clears it. */
void tags_set(struct text_view text);
/* The number of a text, for tags_text(). */
uint32_t tags_add(struct text_view text);
/* "" for 0. */
struct text_view tags_text(uint32_t number);

#endif
