/*
 * store_profiles.h - sums up the recordings of a collector's data directory, also while a collector writes there.
 */
#ifndef COMMANDS_STORE_PROFILES_H
#define COMMANDS_STORE_PROFILES_H

#include <stdbool.h>

#include "base/attributes.h"
#include "collector/store/recording_index.h"
#include "collector/store/store_reader.h"
#include "commands/picture/profile_input.h"

struct store_profiles_options {
    bool
        is_summary; /* of the labels of samples only those that roll-ups keep, and those that are selected by */
    bool reads_recordings; /* and no roll-ups */
};

/* Adds all recordings of the query to the profile, which is empty; each sample gets the application, the executor and
 * the labels of its recording, as far as they are needed. Roll-ups are read instead where the result is the same. What
 * cannot be read is left out, and how much that is was printed. False: nothing could be read, and why was printed. */
bool store_profiles_read(const char *folder, const struct recording_query *query,
                         const struct store_profiles_options *options, struct profile_input *input,
                         const struct read_options *read, struct profile *profile) MUST_CHECK;
/* True if more recordings than `limit` are to be read, as far as the index tells at once. */
bool store_profiles_exceed(const char *folder, const struct recording_query *query, uint64_t limit,
                           bool *exceeds, struct error *error) MUST_CHECK;

/* For others that go through recordings. False when an option rules the recording out by what the store knows of it;
 * then it need not be read. A label that it lacks may be one of its samples, unless `needs_labels` is set. */
bool store_profiles_wants(const struct profile_input_options *options,
                          const struct stored_recording *recording, bool needs_labels);
/* Gives each sample the application, the executor and the labels of its recording, unless it has its own. */
bool store_profiles_set_labels(struct profile *profile, const struct stored_recording *recording,
                               struct error *error) MUST_CHECK;
/* Its samples, into a profile that is empty. */
bool store_profiles_read_body(struct store_reader *store, const struct stored_recording *recording,
                              const struct read_options *options, struct profile *profile,
                              struct error *error) MUST_CHECK;

#endif
