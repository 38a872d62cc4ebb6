/*
 * recording.h - starts, stops and dumps recordings: runs engines and passes their samples on.
 *
 * Threads: any, but not signal handlers; commands run one at a time.
 */
#ifndef JVM_AGENT_RECORDING_H
#define JVM_AGENT_RECORDING_H

#include <stdbool.h>

#include "base/error.h"
#include "base/output.h"
#include "jvm_agent/arguments.h"

/* Takes ownership of the arguments, even on failure. `keep`: continue with the data of the last recording. */
bool recording_start(struct arguments *arguments, bool keep, struct error *error) MUST_CHECK;
/* Stops if running, and writes the requested outputs of these arguments or of those of the start. *text gets output
 * without a file. */
bool recording_stop(const struct arguments *arguments, struct text_builder *text,
                    struct error *error) MUST_CHECK;
bool recording_dump(const struct arguments *arguments, struct text_builder *text,
                    struct error *error) MUST_CHECK;
/* Ends the JFR file and continues in the one that the arguments name; no sample is lost between them. If that file
 * cannot be written, the recording continues in the old one. */
bool recording_rotate(const struct arguments *arguments, struct error *error) MUST_CHECK;
/* start, rotate and stop of a view of the running recording (recording_views.h), which itself is not affected. */
bool recording_view(const struct arguments *arguments, struct text_builder *text,
                    struct error *error) MUST_CHECK;
/* Adds labels to samples with the label ("stage=3"), in the running JFR recording and in later ones. */
void recording_describe(struct text_view label, struct text_view labels);
void recording_status(struct text_builder *text);
void recording_metrics(struct text_builder *text);
bool recording_is_active(void);
uint64_t recording_samples(void);

#endif
