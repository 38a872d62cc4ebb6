/*
 * profile.h - the in-memory profile: strings, frames, stacks, label sets, events, samples.
 *
 * A sample is (event, stack, context, time, value, count). Without keep_times, samples that differ only in time are
 * summed up, so memory depends on the number of distinct stacks; with it, each sample keeps its time.
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
    bool shows_value; /* default weight of pictures: value instead of count */
};

struct sample {
    uint32_t stack;   /* innermost node */
    uint32_t context; /* number in contexts */
    uint32_t event;
    int64_t time_ns; /* since 1970, or since the start of the recording if that is unknown; NO_TIME */
    double value;
    double count;
};

/* Weights of a sample as fixed_point.h has them. */
struct exact_weights {
    int64_t value;
    int64_t count;
    uint32_t value_fraction;
    uint32_t count_fraction;
};

struct profile {
    struct string_table strings;
    struct frame_table frames;
    struct stack_tree stacks;
    struct stack_list *
        listed; /* stacks that are not in the tree yet; sample.stack then is an index here; NULL: all are in the tree */
    struct context_table contexts;
    struct event events[EVENT_LIMIT];
    size_t event_count;
    struct sample *samples;
    size_t sample_count;
    size_t sample_capacity;
    /* Of each sample, since doubles are exact only below 2^53; NULL: they are. Samples are not added or taken then. */
    struct exact_weights *exact;
    /* For summing up; number + 1, 0 is free. Not a hash_index.h, with which text of 100,000 different stacks took 8 %
     * more memory. */
    uint32_t *sample_slots;
    size_t sample_slot_mask;
    bool keep_times;
    bool times_are_absolute; /* time_ns counts from 1970 */
    int64_t start_ns;        /* of the recording, if known; else NO_TIME */
    int64_t end_ns;
};

bool profile_init(struct profile *profile, bool keep_times, struct error *error) MUST_CHECK;
void profile_release(struct profile *profile);

/* Each returns NO_STRING, NO_FRAME, … if out of memory; profile_add_sample() and others accept these and fail. */
uint32_t profile_string(struct profile *profile, struct text_view text) MUST_CHECK;
/* A frame by its name, with file "" and line 0 when they are unknown. */
uint32_t profile_frame(struct profile *profile, struct text_view name, struct text_view file, uint32_t line,
                       enum frame_kind kind) MUST_CHECK;
/* The event of that name, added when new; EVENT_LIMIT when there are too many, or no memory. */
uint32_t profile_event(struct profile *profile, struct text_view name, enum event_unit unit,
                       bool shows_value) MUST_CHECK;
/* Gives events new numbers: event i gets numbers[i], which is below event_count and used once. */
void profile_renumber_events(struct profile *profile, const uint32_t *numbers);
/* The key of that name, added when new; LABEL_KEY_LIMIT when there are too many. */
uint32_t profile_label_key(struct profile *profile, struct text_view name) MUST_CHECK;
struct text_view profile_label_key_name(const struct profile *profile, uint32_t key);
/* Sums up or appends. False: out of memory. */
bool profile_add_sample(struct profile *profile, const struct sample *sample) MUST_CHECK;
/* The same for a profile without times; returns the index of the sample that it was added to, or NO_SAMPLE. */
uint32_t profile_sum_sample(struct profile *profile, const struct sample *sample) MUST_CHECK;
/* Prefetch what adding the sample will read: call the first, and some steps later the second. */
void profile_prefetch_slot(const struct profile *profile, const struct sample *sample);
void profile_prefetch_sample(const struct profile *profile, const struct sample *sample);
/* Adds all of `from`, which is unchanged. */
bool profile_merge(struct profile *into, const struct profile *from, struct error *error) MUST_CHECK;
/* Sets this label on every sample without such a label; call it after the last sample was added. */
bool profile_set_label(struct profile *profile, enum label_key key, struct text_view value,
                       struct error *error) MUST_CHECK;
/* For readers that collect stacks in a list: takes ownership of the list, whose indices are the samples' stacks.
 * False: out of memory, and the profile is empty. */
bool profile_list_stacks(struct profile *profile, struct stack_list *list) MUST_CHECK;
/* Moves listed stacks into the tree, which all but a few writers need. False: out of memory, and the profile is
 * empty. */
bool profile_place_stacks(struct profile *profile, struct error *error) MUST_CHECK;
/* Removes and returns all samples; the caller frees them. */
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
