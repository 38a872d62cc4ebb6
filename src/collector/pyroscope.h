/*
 * pyroscope.h - what Pyroscope's agents say about their profiles, as a description of a recording: the name
 * "application{label=value,…}" of /ingest, and the message of /push.v1.PusherService/Push.
 */
#ifndef COLLECTOR_PYROSCOPE_H
#define COLLECTOR_PYROSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"

/* Profiles of one message. */
#define PYROSCOPE_PROFILES 256
/* Labels of one series. */
#define PYROSCOPE_LABELS 256

/* Sets application, executor and labels. */
bool pyroscope_read_name(struct stored_recording *recording, struct text_view name,
                         struct error *error) MUST_CHECK;

/* One profile of a message. The recording has all but group and kind. */
typedef bool (*pyroscope_taker)(void *context, const struct stored_recording *recording,
                                struct text_view profile);
/* Calls `take` for each profile of a PushRequest; false from it ends this, and is returned. */
bool pyroscope_each_profile(struct text_view message, pyroscope_taker take, void *context,
                            struct error *error) MUST_CHECK;

#endif
