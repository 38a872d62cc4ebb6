/*
 * redaction.h - hides secrets in texts: values of settings and arguments whose name contains password, passphrase,
 * secret, token, credential or a key (access, account, private, API), passwords in addresses, and signatures of
 * addresses.
 *
 * Owns: nothing.
 */
#ifndef BASE_REDACTION_H
#define BASE_REDACTION_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/text_builder.h"
#include "base/text_view.h"

/* Replaces a secret; the same text as Spark's. */
#define REDACTED TEXT("*********(redacted)")

bool redaction_hides(struct text_view key);
/* `password=x`, `"token": "x"`, `--secret x`, `https://user:x@host`. False: the text contains no secret. True:
 * *redacted, which is cleared first, is the text without secrets (`failed` if out of memory). */
bool redaction_apply(struct text_view text, struct text_builder *redacted) MUST_CHECK;

#endif
