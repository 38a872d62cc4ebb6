/*
 * tags.h - the labels of a thread's current work ("stage=3;task=41"), set by the thread and attached to each of its
 * samples.
 *
 * The text of ended labels is kept until TAGS_KEPT others have ended, more than there can be samples on the way to the
 * writer; then its number is reused, so that the number of tasks is not limited.
 *
 * Texts of spans (tags_add()) are kept until the second tags_renew() after them.
 *
 * Owns: the texts.
 * Threads: any, but not signal handlers; has its own lock. Handlers read the number in the thread's record.
 * Limit: TAGS_LIMIT at a time, and TAGS_LIMIT_BYTES or the value of tags_limit(); near it the texts of ended labels are
 * kept for a shorter time, TAGS_LEAST_KEPT others. Labels that do not fit get number 0, no labels, counted by
 * tags_refused().
 */
#ifndef JVM_AGENT_TAGS_H
#define JVM_AGENT_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_view.h"

#define TAGS_KEPT ((size_t)1 << 15)
#define TAGS_LEAST_KEPT ((size_t)1 << 11)
#define TAGS_LIMIT ((size_t)1 << 20)
#define TAGS_LIMIT_BYTES ((size_t)64 << 20)

/* Sets the calling thread's labels; an empty text clears them. */
void tags_set(struct text_view text);
/* Sets the labels of another thread of this process. */
void tags_set_of(int32_t tid, struct text_view text);
/* From now on. */
void tags_limit(size_t limit_bytes);
size_t tags_bytes(void);
uint64_t tags_refused(void);
/* All spans so far are written, or on their way. */
void tags_renew(void);
/* True if tags_renew() should be called. */
bool tags_must_renew(void);
/* The number of a text that is kept until the second tags_renew() from now, for tags_text(). */
uint32_t tags_add(struct text_view text);
/* "" for 0. */
struct text_view tags_text(uint32_t number);

#endif
