/*
 * thread_dump.h - converts a JVM's thread dump (jcmd Thread.print, jstack, SIGQUIT) to JSON.
 *
 * Owns: nothing. Threads: any.
 */
#ifndef JVM_ATTACH_THREAD_DUMP_H
#define JVM_ATTACH_THREAD_DUMP_H

#include "base/output.h"
#include "base/text_view.h"

/* {"vm":…,"threads":[{"name":…,"id":…,"os_id":…,"daemon":…,"cpu_ms":…,"state":…,"frames":[{"method":…,"file":…,
 * "line":…}],"locks":[…]}],"deadlocks":N}; other lines are skipped. */
void thread_dump_write_json(struct output *output, struct text_view dump);

#endif
