/*
 * tags.h - what a thread works on ("stage=3;task=41"), set by the thread itself and carried by each of its samples.
 *
 * The text of a tag that ended is kept until TAGS_KEPT others have ended after it, more than there are samples on
 * their way to the writer; then its number is used again, so that any number of tasks may follow one another.
 *
 * Owns: the texts, for the life of the process.
 * Threads: any, but no signal handler; has a lock of its own. Handlers read the number in the thread's record.
 * Limit: TAGS_LIMIT at a time, and TAGS_LIMIT_BYTES of texts for good; later ones have the number 0, which is no tag.
 */
#ifndef JVM_AGENT_TAGS_H
#define JVM_AGENT_TAGS_H

#include <stdint.h>

#include "base/text_view.h"

#define TAGS_KEPT ((size_t)1 << 15)
#define TAGS_LIMIT ((size_t)1 << 20)
#define TAGS_LIMIT_BYTES ((size_t)64 << 20)

/* Sets the calling thread's tag; an empty text clears it. */
void tags_set(struct text_view text);
/* Sets the tag of another thread of this process. */
void tags_set_of(int32_t tid, struct text_view text);
/* The number of a text for good, for tags_text(). */
uint32_t tags_add(struct text_view text);
/* "" for 0. */
struct text_view tags_text(uint32_t number);

#endif
