/*
 * recording_path.h - whose recording a file is, by the names that the Spark plugin gives: APPLICATION/EXECUTOR/N.jfr
 * and APPLICATION/exec-EXECUTOR.N.jfr.
 */
#ifndef COLLECTOR_RECORDING_PATH_H
#define COLLECTOR_RECORDING_PATH_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/store/stored_recording.h"

/* Sets application, executor and sequence as far as they are empty (sequence: UINT64_MAX); a sequence that the name
 * lacks becomes 0. False: the path has no valid name for one of them. */
bool recording_read_path(struct stored_recording *recording, struct text_view path,
                         struct error *error) MUST_CHECK;

#endif
