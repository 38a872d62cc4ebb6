/*
 * sender_names.h - names that other systems give their applications, instances and labels, as the identifiers and
 * labels of a recording.
 *
 * Theirs may have any characters; each that an identifier may not have becomes '_'. Labels beyond the limits of a
 * recording are left out. Their profiles have no number: the hash of all that was sent takes its place, so that a
 * profile that is sent again is known.
 */
#ifndef COLLECTOR_SENDER_NAMES_H
#define COLLECTOR_SENDER_NAMES_H

#include "base/text_view.h"
#include "collector/store/stored_recording.h"

/* Of senders that do not name their instance. */
#define SENDER_EXECUTOR "0"

/* Any text as an identifier; with an empty one it stays as it is. */
void sender_set_id(char to[RECORDING_ID_BYTES + 1], struct text_view text);
/* Adds a label if the recording can have it. */
void sender_add_label(struct stored_recording *recording, struct text_view name, struct text_view value);
/* Sets the sequence, after the labels. */
void sender_number(struct stored_recording *recording, struct text_view when, struct text_view body);

#endif
