/*
 * recording.h - one recording after another: which engines run, what becomes of their samples.
 *
 * Threads: any, but no signal handler; commands are taken one at a time.
 */
#ifndef JVM_AGENT_RECORDING_H
#define JVM_AGENT_RECORDING_H

#include <stdbool.h>

#include "base/error.h"
#include "base/output.h"
#include "jvm_agent/arguments.h"

/* Takes the arguments over, also when it fails. `keep`: go on with the data of the last recording. */
bool recording_start(struct arguments *arguments, bool keep, struct error *error) MUST_CHECK;
/* Stops if running, and writes what the arguments (or those of the start) ask for. *text gets what has no file. */
bool recording_stop(const struct arguments *arguments, struct text_builder *text,
                    struct error *error) MUST_CHECK;
bool recording_dump(const struct arguments *arguments, struct text_builder *text,
                    struct error *error) MUST_CHECK;
/* Ends the JFR file and goes on in the one that the arguments name; no sample is lost between them. When that one cannot
 * be written, the recording goes on in the old one. */
bool recording_rotate(const struct arguments *arguments, struct error *error) MUST_CHECK;
/* Samples with the label ("stage=3") have these labels, too, in the JFR recording that runs and in later ones. */
void recording_describe(struct text_view label, struct text_view labels);
void recording_status(struct text_builder *text);
void recording_metrics(struct text_builder *text);
bool recording_is_active(void);
uint64_t recording_samples(void);

#endif
