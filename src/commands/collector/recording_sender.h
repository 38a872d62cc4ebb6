/*
 * recording_sender.h - sends recordings to a collector, with what the options of a command say about them.
 *
 * Owns: the connection, until recording_sender_close(). The options stay the caller's. Threads: one at a time.
 */
#ifndef COMMANDS_RECORDING_SENDER_H
#define COMMANDS_RECORDING_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"
#include "commands/options.h"

struct sender_options {
    const char *to;
    const char *group;
    const char *application; /* this and the next two may be NULL */
    const char *attempt;
    const char *executor;
    const char *token_file;   /* NULL: SPARKFLAME_TOKEN of the environment, if it is set */
    const char *certificates; /* PEM; NULL: the system's */
    struct option_list labels;
};

enum send_outcome { SEND_STORED, SEND_REFUSED, SEND_UNREACHABLE };

struct recording_sender;

/* NULL with *error set. */
struct recording_sender *recording_sender_open(const struct sender_options *options,
                                               struct error *error) MUST_CHECK;
/* NULL is allowed. */
void recording_sender_close(struct recording_sender *sender);
/* Sets group, application, attempt, executor and labels as far as they are given. */
bool recording_sender_describe(const struct sender_options *options, struct stored_recording *recording,
                               struct error *error) MUST_CHECK;
/* Before each further attempt, which comes after a pause, `waits` is called, unless it is NULL. With SEND_UNREACHABLE
 * it may be sent again; *error has the reason, also of SEND_REFUSED. */
enum send_outcome recording_sender_send(struct recording_sender *sender,
                                        const struct stored_recording *recording, struct text_view body,
                                        unsigned attempts,
                                        void (*waits)(void *context, const char *why, uint64_t pause_s),
                                        void *context, struct error *error);
/* A file as it is, compressed or not; the caller frees it. */
bool recording_sender_read_file(const char *path, char **data, size_t *size, struct error *error) MUST_CHECK;

#endif
