/*
 * class_names.h - names of classes of allocated objects and locks, by number.
 *
 * Owns: the names, until class_names_clear().
 * Threads: any, but no signal handler; has a lock of its own.
 */
#ifndef JVM_AGENT_CLASS_NAMES_H
#define JVM_AGENT_CLASS_NAMES_H

#include <stdint.h>

#include "base/text_view.h"

/* From a JVM signature ("Ljava/lang/String;", "[I"). 0 when there is no room. */
uint32_t class_names_add(const char *signature);
/* As in class files: "java/lang/String", "[I". */
struct text_view class_names_text(uint32_t number);
void class_names_clear(void);

#endif
