/*
 * content.h - what a received body is: decompressed within a limit, and recognized by one of the readers of profiles or
 * as a part of an event log.
 */
#ifndef COLLECTOR_CONTENT_H
#define COLLECTOR_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"

/* What parts of Spark's event log are, beside the formats of profiles. */
#define CONTENT_EVENT_LOG "event_log"

enum content_finding {
    CONTENT_GOOD,
    CONTENT_DAMAGED,   /* empty, or its compression is damaged or cut off */
    CONTENT_TOO_LARGE, /* decompresses to more than the limit */
    CONTENT_NO_MEMORY, /* for decompressing it now */
    CONTENT_UNKNOWN,   /* of no format that there is a reader for */
};

/* Sets the recording's format, and unless it has such a label or no room, the label "events" (recorded_events.h); or
 * *error. */
enum content_finding content_recognize(struct text_view body, size_t limit_bytes,
                                       struct stored_recording *recording, struct error *error);

/* ERROR_MEMORY stands for limits, too; this is true only when there was no memory. */
bool content_lacks_memory(const struct error *error);

/* Only the label, of a recording whose format is set, by its decompressed bytes. */
void content_add_events(struct stored_recording *recording, struct text_view all);

#endif
