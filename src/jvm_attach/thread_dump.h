/*
 * thread_dump.h - a JVM's own thread dump (jcmd Thread.print, jstack, SIGQUIT) as JSON.
 *
 * Owns: nothing. Threads: any.
 */
#ifndef JVM_ATTACH_THREAD_DUMP_H
#define JVM_ATTACH_THREAD_DUMP_H

#include "base/output.h"
#include "base/text_view.h"

/* {"vm":…,"threads":[{"name":…,"id":…,"os_id":…,"daemon":…,"cpu_ms":…,"state":…,"frames":[{"method":…,"file":…,
   "line":…}],"locks":[…]}],"deadlocks":N}; lines in another form are passed over. */
void thread_dump_write_json(struct output *output, struct text_view dump);

#endif
