/*
 * titles.h - names of jobs, stages and queries that a user recognizes.
 *
 * Spark names a stage after the line that started it. Adaptive execution starts stages in threads of its own, and
 * Python calls through a bridge: then the name is "$anonfun$… at CompletableFuture.java:1768" or "save at
 * NativeMethodAccessorImpl.java:0", and the title is the description that the user set, the query's, or the user's line
 * on the query's stack.
 */
#ifndef SPARK_TITLES_H
#define SPARK_TITLES_H

#include <stdbool.h>

#include "base/attributes.h"
#include "spark/application.h"

/* Sets the title of each job, stage and query; may be called again. False: out of memory. */
bool titles_set(struct application *application) MUST_CHECK;
/* True for names such as "save at NativeMethodAccessorImpl.java:0". */
bool title_is_of_spark(struct text_view name);
/* The first line of a call stack ("method(File.scala:12)", line by line) that is the user's, as "collect at
 * App.scala:12"; false: there is none. */
bool title_of_stack(struct text_view stack, char *text, size_t size);

#endif
