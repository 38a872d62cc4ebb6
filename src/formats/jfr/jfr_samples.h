/*
 * jfr_samples.h - turns the events of chunks into samples of a profile.
 *
 * Owns: its state of the chunk, until jfr_samples_release().
 * Threads: one at a time.
 */
#ifndef FORMATS_JFR_SAMPLES_H
#define FORMATS_JFR_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/jfr/jfr_details.h"
#include "formats/jfr/jfr_names.h"
#include "formats/jfr/jfr_schema.h"
#include "formats/jfr/jfr_spans.h"
#include "formats/jfr/jfr_traces.h"
#include "formats/reader.h"
#include "model/profile.h"

/* What must be known of the whole recording before its first sample. */
struct jfr_survey {
    struct jfr_spans spans;
    struct jfr_details details;
    bool has_tlab_events; /* then allocation samples are duplicates */
};

/* What one event says. */
struct jfr_event_values {
    const struct jfr_event_plan *plan;
    struct text_view event;
    uint64_t slots[JFR_EVENT_SLOTS];
    uint32_t stack; /* number; NO_STACK: none */
};

/* Events that are looked up together, to prefetch memory for one while others are processed. */
#define JFR_BATCH_EVENTS 128

struct jfr_samples {
    struct profile *profile;
    const struct read_options *options;
    struct jfr_names names;
    struct jfr_traces traces;
    struct id_map contexts; /* of this chunk, by thread, state and kind of allocation */
    const struct jfr_survey *survey;
    struct text_view labels; /* of all samples of this chunk */
    bool is_wall_recording;  /* async-profiler recorded the wall clock */
    uint64_t without_stack;  /* events that were dropped */
    struct jfr_event_values batch[JFR_BATCH_EVENTS];
    size_t batch_size;
    bool met_other[JFR_OTHER_LIMIT +
                   1]; /* by other_number: in this chunk; the last: of a type that is wanted */
    const struct jfr_event_plan *last_plan; /* and its event in the profile, for the next one */
    struct text_view last_event;
    uint32_t last_event_number;
    /* Where each event of the profile was first met: number of the chunk, which the caller sets, and place in it. */
    uint64_t chunk_number;
    uint64_t lookups;
    uint64_t first_places[EVENT_LIMIT]; /* UINT64_MAX: not met */
};

bool jfr_survey_init(struct jfr_survey *survey) MUST_CHECK;
void jfr_survey_release(struct jfr_survey *survey);
/* True when recordings must be surveyed before they are read with these options. */
bool jfr_survey_may_matter(const struct read_options *options);
/* Adds the samples of one chunk, which may be indexed for it. `names` must be of a profile for this alone. */
bool jfr_survey_add(struct jfr_survey *survey, struct jfr_names *names, struct jfr_chunk *chunk,
                    struct jfr_schema *schema, const struct read_options *options,
                    struct error *error) MUST_CHECK;

/* Samples get numbers of `stacks` for their stacks; threads may share it and the profile. */
bool jfr_samples_init(struct jfr_samples *samples, struct profile *profile, struct jfr_stacks *stacks,
                      const struct read_options *options, const struct jfr_survey *survey,
                      struct error *error) MUST_CHECK;
void jfr_samples_release(struct jfr_samples *samples);
/* Adds the samples of one chunk, whose constants are indexed. */
bool jfr_samples_add(struct jfr_samples *samples, const struct jfr_chunk *chunk,
                     const struct jfr_schema *schema, struct error *error) MUST_CHECK;

#endif
