/*
 * agent_log.h - the agent's few words: one line each, to the file of log= or to standard error. Only when the library
 * is called libasyncProfiler.so they go to standard output, as that one's do.
 *
 * Threads: any, but no signal handler.
 */
#ifndef JVM_AGENT_AGENT_LOG_H
#define JVM_AGENT_AGENT_LOG_H

#include "base/attributes.h"

enum agent_log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_NONE };

void agent_log_open(const char *path, const char *level);
void agent_log(enum agent_log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
