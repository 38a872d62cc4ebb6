/*
 * forwarder.h - posts every recording that a store receives to another server: what came as OTLP to its OTLP endpoint,
 * JFR, pprof and folded stacks as Pyroscope's agents send them. Event logs and other formats are left out.
 *
 * It reads from the store, so nothing waits for it in memory. The number of the last recording that was dealt with is
 * in the file `forwarded` of the data directory; the first time it begins with what comes from then on. A recording is
 * tried until it is taken, refused for good, skipped or deleted by age; one may be sent twice after a crash.
 *
 * Owns: its thread, until forwarder_stop(). Threads: one at a time.
 * Limit: one recording in memory; the given bytes of it after decompression.
 */
#ifndef COMMANDS_FORWARDER_H
#define COMMANDS_FORWARDER_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

struct forwarder_options {
    const char *folder;
    const char *address; /* "https://host:4040" */
    const char *token;   /* NULL: none */
    uint64_t unpacked_bytes;
    int64_t skip_ms; /* one that was sent but not taken for so long is left out */
    void (*log)(void *context, const char *text);
    void *log_context;
};

struct forwarder;

/* The store has to be open. NULL with *error set. */
struct forwarder *forwarder_start(const struct forwarder_options *options, struct error *error) MUST_CHECK;
/* It begins no other request. NULL is allowed. */
void forwarder_quiesce(struct forwarder *forwarder);
/* Within ten seconds, if the other server does not answer. NULL is allowed. */
void forwarder_stop(struct forwarder *forwarder);

#endif
