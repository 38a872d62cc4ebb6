/*
 * stored_recording.h - what the collector knows of one recording: whose it is, its labels, and where its bytes are.
 *
 * Group, application, attempt, executor and sequence are its key: a second recording with the same key is the same
 * one, sent again. Identifiers come from outside and are never part of a path.
 */
#ifndef COLLECTOR_STORED_RECORDING_H
#define COLLECTOR_STORED_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"

#define RECORDING_ID_BYTES 128
#define RECORDING_KIND_BYTES 24
#define RECORDING_LABELS 16
#define RECORDING_LABEL_NAME_BYTES 64
#define RECORDING_LABEL_VALUE_BYTES 256
#define RECORDING_LABELS_BYTES 2048
#define RECORDING_META_BYTES 4096

struct stored_recording {
    char group[RECORDING_ID_BYTES + 1];
    char application[RECORDING_ID_BYTES + 1];
    char attempt[RECORDING_ID_BYTES + 1];    /* "" if the application has a single one */
    char executor[RECORDING_ID_BYTES + 1];   /* "driver", "1" … */
    char kind[RECORDING_KIND_BYTES + 1];     /* format, by the name of its reader: "jfr" */
    char labels[RECORDING_LABELS_BYTES + 1]; /* lines "name=value" */
    uint64_t sequence;
    uint64_t number;  /* in this store */
    uint64_t segment; /* the file that holds it */
    uint64_t offset;  /* of its record there */
    uint64_t end;     /* of the record */
    int64_t received_ms;
    uint32_t meta_bytes;
    uint32_t body_bytes;
    uint32_t crc; /* of meta and body */
    bool
        is_numbered_by_content; /* its sequence is a hash of what it holds, which may be compressed in other ways; not
                                    stored */
};

/* 1 to RECORDING_ID_BYTES letters, digits, '_', '.' and '-', not only dots. */
bool recording_id_is_valid(struct text_view id);
/* Copies an identifier; `what` names it in the error. */
bool recording_set_id(char to[RECORDING_ID_BYTES + 1], const char *what, struct text_view id,
                      struct error *error) MUST_CHECK;
/* Adds "name=value" unless it breaks a limit. A name is a letter or '_', then letters, digits, '_' and '.'; a value is
 * UTF-8 without control characters. */
bool recording_add_label(struct stored_recording *recording, struct text_view label,
                         struct error *error) MUST_CHECK;
bool recording_same_key(const struct stored_recording *left, const struct stored_recording *right);

/* What is stored before the bytes of a recording: lines of text, without the group, which the file has. */
void recording_write_meta(const struct stored_recording *recording, struct text_builder *to);
bool recording_read_meta(struct stored_recording *recording, struct text_view meta,
                         struct error *error) MUST_CHECK;

#endif
