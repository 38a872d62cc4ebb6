/*
 * querier_series.h - the recordings of a store as Pyroscope's series: service_name is the application, executor and
 * attempt are labels, and so are the recording's own, with '_' for the dots in their names.
 */
#ifndef COLLECTOR_QUERIER_SERIES_H
#define COLLECTOR_QUERIER_SERIES_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "collector/label_matcher.h"
#include "collector/profile_type.h"
#include "collector/store/recording_index.h"

struct querier_series {
    const struct recording_series *recording;
    const struct profile_type *type; /* NULL: without those of a type */
};

/* Calls `take` for each label; false from it ends this, and is returned. */
bool querier_series_each_label(const struct querier_series *series,
                               bool (*take)(void *context, struct text_view name, struct text_view value),
                               void *context);
/* "" if there is no such label; valid as long as the recording is. */
struct text_view querier_series_label(const struct querier_series *series, struct text_view name);
/* The name of a label of the recording under which it is stored; the name itself if there is no such label. */
struct text_view querier_stored_name(const struct recording_series *recording, struct text_view name);
bool querier_series_matches(const struct querier_series *series, const struct label_matchers *matchers);
/* The label "events". */
struct text_view querier_events(const struct recording_series *recording);

#endif
