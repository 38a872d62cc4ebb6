/*
 * inherited_tags.h - the tag of a task for threads that work for it alone: those by which Spark feeds and empties
 * Python workers and other programs. Java code keeps it for the children of a thread; see Agent.java of the plugin.
 *
 * Threads: any that the JVM knows, but no signal handler.
 */
#ifndef JVM_AGENT_INHERITED_TAGS_H
#define JVM_AGENT_INHERITED_TAGS_H

#include <jvmti.h>

/* The class that is asked; the first one stays. */
void inherited_tags_learn(JNIEnv *environment, jclass agent);
/* The calling thread has just begun, under this name. */
void inherited_tags_apply(JNIEnv *environment, const char *name);

#endif
