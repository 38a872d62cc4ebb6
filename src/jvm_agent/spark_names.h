/*
 * spark_names.h - the task that Spark writes into its threads' names.
 *
 * "Executor task launch worker for task 3.0 in stage 7.0 (TID 41)" means partition 3, attempt 0, of stage 7.
 */
#ifndef JVM_AGENT_SPARK_NAMES_H
#define JVM_AGENT_SPARK_NAMES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text_view.h"

/* Writes the tag for such a name; false for all other names. */
bool spark_names_parse(struct text_view name, char *tag, size_t size);
/* From here on a thread that renames itself so is tagged. Once; on a thread that the JVM knows. */
void spark_names_watch(JNIEnv *environment);

#endif
