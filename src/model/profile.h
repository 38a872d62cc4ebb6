/*
 * profile.h - the one in-memory profile: strings, frames, stacks, circumstances, events, samples.
 *
 * A sample is (event, stack, context, time, value, count). With keep_times unset, samples that differ only in time
 * are summed up, so memory follows the number of distinct stacks; with it set, each keeps its time.
 *
 * Events: "cpu", "wall", "alloc", "lock" …; each sample has a count (how many times it was seen) and a value in the
 * event's unit (bytes, nanoseconds; for plain counts the same number as the count).
 *
 * Threads: one at a time; several readers fill a profile each, and profile_merge() joins them.
 * Owns: everything, until profile_release().
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "model/context_table.h"
#include "model/frame_table.h"
#include "model/stack_list.h"
#include "model/stack_tree.h"

#define EVENT_LIMIT 64
#define NO_TIME INT64_MIN
#define NO_SAMPLE UINT32_MAX
#define PROFILE_STRING_LIMIT_BYTES ((size_t)8 << 30)

enum event_unit {
    UNIT_COUNT,
    UNIT_NANOSECONDS,
    UNIT_BYTES,
};

struct event {
    uint32_t name; /* string number: "cpu", "wall", "alloc", "live", "lock", "park", "samples" … */
    enum event_unit unit;
    bool shows_value; /* a picture weighs by value, not by count, unless told otherwise */
};

struct sample {
    uint32_t stack;   /* innermost node */
    uint32_t context; /* number in contexts */
    uint32_t event;
    int64_t time_ns; /* since 1970, or since the recording's begin when that is all one knows; NO_TIME */
    double value;
    double count;
};

struct profile {
    struct string_table strings;
    struct frame_table frames;
    struct stack_tree stacks;
    struct stack_list
        *listed; /* stacks that are not in the tree yet: samples number these; NULL: all are in it */
    struct context_table contexts;
    struct event events[EVENT_LIMIT];
    size_t event_count;
    struct sample *samples;
    size_t sample_count;
    size_t sample_capacity;
    uint32_t *sample_slots; /* for summing up; number + 1, 0 is free */
    size_t sample_slot_mask;
    bool keep_times;
    bool times_are_absolute; /* time_ns counts from 1970 */
    int64_t start_ns;        /* of the recording, where it says so; NO_TIME */
    int64_t end_ns;
};

bool profile_init(struct profile *profile, bool keep_times, struct error *error) MUST_CHECK;
void profile_release(struct profile *profile);

/* Each returns NO_STRING, NO_FRAME, … when out of memory, which profile_add_sample() and the like pass on. */
uint32_t profile_string(struct profile *profile, struct text_view text) MUST_CHECK;
/* A frame by its name, with file "" and line 0 when they are unknown. */
uint32_t profile_frame(struct profile *profile, struct text_view name, struct text_view file, uint32_t line,
                       enum frame_kind kind) MUST_CHECK;
/* The event of that name, added when new; EVENT_LIMIT when there are too many, or no memory. */
uint32_t profile_event(struct profile *profile, struct text_view name, enum event_unit unit,
                       bool shows_value) MUST_CHECK;
/* The key of that name, added when new; LABEL_KEY_LIMIT when there are too many. */
uint32_t profile_label_key(struct profile *profile, struct text_view name) MUST_CHECK;
struct text_view profile_label_key_name(const struct profile *profile, uint32_t key);
/* Sums up or appends. False: out of memory. */
bool profile_add_sample(struct profile *profile, const struct sample *sample) MUST_CHECK;
/* The same for a profile without times; the number of the sample that it was added to, or NO_SAMPLE. */
uint32_t profile_sum_sample(struct profile *profile, const struct sample *sample) MUST_CHECK;
/* Begin to fetch what adding the sample will read: first the one, some steps later the other. */
void profile_prefetch_slot(const struct profile *profile, const struct sample *sample);
void profile_prefetch_sample(const struct profile *profile, const struct sample *sample);
/* Adds all of `from`, which stays as it was. */
bool profile_merge(struct profile *into, const struct profile *from, struct error *error) MUST_CHECK;
/* Gives every sample that has no such label this one; to a profile that no sample is added to any more. */
bool profile_set_label(struct profile *profile, enum label_key key, struct text_view value,
                       struct error *error) MUST_CHECK;
/* For readers that list whole stacks until all are known: takes over the list, whose numbers all samples have. False: out
 * of memory, and the profile has no samples any more. */
bool profile_list_stacks(struct profile *profile, struct stack_list *list) MUST_CHECK;
/* Puts stacks that are only listed into the tree; nearly everything but a few writers needs them there. False: out of memory, and the
 * profile has no samples any more. */
bool profile_place_stacks(struct profile *profile, struct error *error) MUST_CHECK;
/* Takes all samples out; the caller frees them. */
struct sample *profile_take_samples(struct profile *profile, size_t *count);
/* Frees what only adding needs. */
void profile_seal(struct profile *profile);

static inline struct text_view profile_text(const struct profile *profile, uint32_t string)
{
    return string_table_text(&profile->strings, string);
}

static inline struct text_view profile_frame_name(const struct profile *profile, uint32_t frame)
{
    return profile_text(profile, profile->frames.frames[frame].name);
}

#endif
