/*
 * otlp_dictionary.h - the tables that the profiles of a message share, with the frames of their locations.
 *
 * Owns: the tables, until otlp_dictionary_release(). Texts point into the message.
 */
#ifndef FORMATS_OTLP_DICTIONARY_H
#define FORMATS_OTLP_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "formats/otlp/otlp_message.h"
#include "model/profile.h"

struct otlp_location {
    uint32_t first_frame; /* in frames, outermost first */
    uint32_t frame_count;
};

struct otlp_dictionary {
    struct otlp_tables tables;
    bool needs_lines;
    struct otlp_location *locations; /* of each entry of OTLP_LOCATIONS; the first has no frames */
    size_t location_count;
    uint32_t *frames; /* frame numbers of the profile */
    size_t frame_count, frame_capacity;
};

/* Reads the dictionary of a request, wherever it stands, and adds its frames to the profile. Release it also after a
 * failure. */
bool otlp_dictionary_read(struct otlp_dictionary *dictionary, struct text_view request, bool needs_lines,
                          struct profile *profile, struct error *error) MUST_CHECK;
void otlp_dictionary_release(struct otlp_dictionary *dictionary);

#endif
