/*
 * rollup_section.h - what a section of a collector's roll-up holds: the sum of the recordings of one application,
 * attempt and set of labels (formats/partial), without times and lines, and of the labels of samples only those that
 * few samples differ by.
 */
#ifndef COMMANDS_ROLLUP_SECTION_H
#define COMMANDS_ROLLUP_SECTION_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "collector/store/rollup_file.h"
#include "formats/reader.h"
#include "model/profile.h"

/* True of labels of samples that all roll-ups keep: application, state, job, stage, its attempt, SQL execution. */
bool rollup_keeps(struct text_view name);
/* True if the recording itself has such a label. */
bool rollup_has_label(const struct stored_recording *recording, struct text_view name);
/* True if the samples of this section still have such labels, if they ever had. */
bool rollup_section_has(const struct rollup_section *section, struct text_view name);
/* True if one of the lines is this. */
bool rollup_has_line(struct text_view lines, struct text_view line);
/* How the sums are read and written. */
extern const struct read_options rollup_read_options;
/* The samples of a section, into a profile that is empty. */
bool rollup_section_read(const struct rollup_file *file, const struct rollup_section *section,
                         struct profile *profile, struct error *error) MUST_CHECK;

#endif
