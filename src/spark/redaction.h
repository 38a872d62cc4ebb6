/*
 * redaction.h - hides secrets in texts: values of settings and arguments whose name speaks of a password, secret, token,
 * credential or access key, and passwords in addresses.
 *
 * Owns: nothing.
 */
#ifndef SPARK_REDACTION_H
#define SPARK_REDACTION_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/text_builder.h"
#include "base/text_view.h"

/* What stands for a secret; Spark itself writes the same. */
#define REDACTED TEXT("*********(redacted)")

bool redaction_hides(struct text_view key);
/* `password=x`, `"token": "x"`, `--secret x`, `https://user:x@host`. False: the text holds nothing of the kind. True:
 * *redacted, which is cleared before, holds it without (and has failed when there was no memory for it). */
bool redaction_apply(struct text_view text, struct text_builder *redacted) MUST_CHECK;

#endif
