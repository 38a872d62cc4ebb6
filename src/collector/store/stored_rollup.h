/*
 * stored_rollup.h - what the store knows of a roll-up: the sum of all recordings of a group whose numbers are in a
 * range, made in advance.
 *
 * Numbers and times of receipt grow together, so the recordings of a range of time have a range of numbers, and a
 * recording is counted once as long as a query takes no two roll-ups that overlap.
 */
#ifndef COLLECTOR_STORED_ROLLUP_H
#define COLLECTOR_STORED_ROLLUP_H

#include <stdint.h>

#include "collector/store/stored_recording.h"

enum rollup_level {
    ROLLUP_1_MIN,
    ROLLUP_5_MIN,
    ROLLUP_1_HOUR,
    ROLLUP_1_DAY,
};
#define ROLLUP_LEVELS 4

struct stored_rollup {
    char group[RECORDING_ID_BYTES + 1];
    uint32_t level;
    uint64_t number;      /* of the roll-up, which names its file */
    uint64_t first, last; /* numbers of recordings: all of the group between them, and these two */
    int64_t first_ms, last_ms;
    uint64_t recordings;
    uint64_t fingerprint; /* the sum of their checksums */
    uint64_t bytes;       /* of the file */
};

static inline int64_t rollup_step_ms(unsigned level)
{
    static const int64_t steps_ms[ROLLUP_LEVELS] = {60000, 300000, 3600000, 86400000};
    return steps_ms[level];
}

#endif
