/*
 * segment.h - a file of recordings of one group, one after the other, only ever appended to.
 *
 * A head names the group; each record is a head with checksums, the description (recording_write_meta()) and the bytes
 * as received. docs/COLLECTOR.md describes the layout. The marker at the front of each record is a random number of
 * the segment, so that no body can hold what looks like a record after damage.
 *
 * Owns: its descriptor, until segment_close(). Threads: one at a time.
 * Limit: RECORD_DATA_LIMIT_BYTES for one recording.
 */
#ifndef COLLECTOR_SEGMENT_H
#define COLLECTOR_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"

#define RECORD_DATA_LIMIT_BYTES ((uint64_t)1 << 30)

struct segment {
    int descriptor;
    uint64_t number;
    uint64_t marker;
    int64_t created_ms;
    uint64_t size; /* where the next record goes */
    char group[RECORDING_ID_BYTES + 1];
};

#define SEGMENT_CLOSED   \
    {                    \
        .descriptor = -1 \
    }

/* `folder` is a descriptor of the folder of segments. The new file is on disk when this returns. */
bool segment_create(struct segment *segment, int folder, uint64_t number, const char *group, int64_t now_ms,
                    struct error *error) MUST_CHECK;
bool segment_open(struct segment *segment, int folder, uint64_t number, bool for_writing,
                  struct error *error) MUST_CHECK;
void segment_close(struct segment *segment);
/* Sets the recording's place, sizes and crc. On failure the file may have grown:
 * segment_truncate() it. */
bool segment_append(struct segment *segment, struct stored_recording *recording, struct text_view body,
                    struct error *error) MUST_CHECK;
/* True if what is stored has this description and body, by length and checksum. */
bool segment_holds(const struct stored_recording *stored, const struct stored_recording *recording,
                   struct text_view body);
bool segment_sync(struct segment *segment, struct error *error) MUST_CHECK;
bool segment_truncate(struct segment *segment, uint64_t size, struct error *error) MUST_CHECK;

enum segment_step {
    SEGMENT_RECORD,  /* *recording is set; its data is in the builder: meta, then body */
    SEGMENT_DAMAGED, /* *offset was moved behind bytes that are no record */
    SEGMENT_TAIL, /* the file ends inside a record, which was never acknowledged; or is damaged up to its end */
    SEGMENT_END,
    SEGMENT_FAILED, /* the file cannot be read */
};

/* Reads the record at *offset (segment_first_offset is the first) and moves it behind the record. */
enum segment_step segment_next(const struct segment *segment, uint64_t *offset,
                               struct stored_recording *recording, struct text_builder *data,
                               struct error *error);
extern const uint64_t segment_first_offset;
/* Appends the body of a recording that an index describes. */
bool segment_read_body(const struct segment *segment, const struct stored_recording *recording,
                       struct text_builder *body, struct error *error) MUST_CHECK;

#define SEGMENT_NAME_BYTES 32
void segment_name(char name[SEGMENT_NAME_BYTES], uint64_t number);
/* The number in a file name "0000000042.segment"; false: another file. */
bool segment_number_of(const char *name, uint64_t *number);

#endif
