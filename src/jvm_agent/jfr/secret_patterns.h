/*
 * secret_patterns.h - the application's own expressions for secrets, for the facts that a recording begins with.
 *
 * They are arguments of the start (redact-keys=, redact-texts=, with %2C for a comma) and properties of the JVM
 * (spark.redaction.regex, spark.redaction.string.regex). Both apply.
 */
#ifndef JVM_AGENT_SECRET_PATTERNS_H
#define JVM_AGENT_SECRET_PATTERNS_H

#include "base/redaction_patterns.h"
#include "jvm_agent/arguments.h"

/* Before a recording starts. Those of an earlier start stay declared if the arguments have none. Logs if one of them
 * cannot be used, so that all values are hidden. */
void secret_patterns_declare(const struct arguments *arguments);
/* Those that apply now, until redaction_patterns_release(). */
void secret_patterns_read(struct redaction_patterns *patterns);

#endif
