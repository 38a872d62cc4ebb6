/*
 * webhook.h - tells another service of something by posting JSON to its address.
 *
 * Owns: the connection, until webhook_close(). Threads: one at a time.
 * Limit: 10 s for a request; answers of 64 KiB.
 */
#ifndef COMMANDS_WEBHOOK_H
#define COMMANDS_WEBHOOK_H

#include "base/attributes.h"
#include "base/error.h"
#include "collector/regression_watch.h"

struct webhook;

/* `token` is sent as bearer token; NULL: none. NULL with *error set. */
struct webhook *webhook_open(const char *address, const char *token, struct error *error) MUST_CHECK;
/* NULL is allowed. */
void webhook_close(struct webhook *webhook);
/* `context` is a struct webhook; *error says why it was not taken. Redirects are not followed. */
enum post_outcome webhook_post(void *context, struct text_view json, struct error *error);

#endif
