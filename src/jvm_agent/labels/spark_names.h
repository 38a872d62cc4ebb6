/*
 * spark_names.h - extracts the task from the thread names that Spark sets.
 *
 * "Executor task launch worker for task 3.0 in stage 7.0 (TID 41)" means partition 3, attempt 0, of stage 7.
 */
#ifndef JVM_AGENT_SPARK_NAMES_H
#define JVM_AGENT_SPARK_NAMES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text_view.h"

/* Writes the labels for such a name; false for other names. */
bool spark_names_parse(struct text_view name, char *tag, size_t size);
/* From now on a thread that renames itself this way gets labels. Called once, on a thread attached to the JVM. */
void spark_names_watch(JNIEnv *environment);

#endif
