/*
 * agent_log.h - the agent's log: one line per message, to the file of log= or to standard error, or to standard output
 * if the library is named libasyncProfiler.so, as that library does.
 *
 * Threads: any, but not signal handlers.
 */
#ifndef JVM_AGENT_AGENT_LOG_H
#define JVM_AGENT_AGENT_LOG_H

#include "base/attributes.h"

enum agent_log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_NONE };

void agent_log_open(const char *path, const char *level);
void agent_log(enum agent_log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
