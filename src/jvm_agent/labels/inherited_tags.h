/*
 * inherited_tags.h - passes the labels of a task to threads that work only for it: those that exchange data with Python
 * workers and other programs. Java code stores them for child threads; see Agent.java of the plugin.
 *
 * Threads: any attached to the JVM, but not signal handlers.
 */
#ifndef JVM_AGENT_INHERITED_TAGS_H
#define JVM_AGENT_INHERITED_TAGS_H

#include <jvmti.h>

/* The class to ask; only the first call has an effect. */
void inherited_tags_learn(JNIEnv *environment, jclass agent);
/* The calling thread has just started, with this name. */
void inherited_tags_apply(JNIEnv *environment, const char *name);

#endif
