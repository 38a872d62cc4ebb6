/*
 * jvm_process.h - facts from /proc about a JVM to attach to.
 *
 * Owns: the command line and the environment, until jvm_process_release().
 * Threads: one at a time.
 * Limit: JVM_PROCESS_LIMIT_BYTES of command line and of environment.
 */
#ifndef JVM_ATTACH_JVM_PROCESS_H
#define JVM_ATTACH_JVM_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text_builder.h"

enum { JVM_PROCESS_LIMIT_BYTES = 8 << 20 };

enum jvm_kind { JVM_NONE, JVM_HOTSPOT, JVM_OPENJ9 };

struct jvm_process {
    pid_t pid;
    pid_t inner_pid; /* in the process's own namespace (container) */
    uid_t uid;       /* effective */
    gid_t gid;
    char state;         /* 'T' is stopped, 'Z' is dead */
    bool handles_quit;  /* SIGQUIT has a handler; without one it would kill the process */
    bool maps_readable; /* /proc/PID/maps could be read, so `kind` is certain */
    enum jvm_kind kind;
    struct text_builder command_line; /* null-terminated arguments */
    struct text_builder environment;  /* the same; empty if not readable */
};

bool jvm_process_read(struct jvm_process *process, pid_t pid, struct error *error) MUST_CHECK;
void jvm_process_release(struct jvm_process *process);
/* The value of a flag on the command line or in JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS or _JAVA_OPTIONS: the last one
 * of -XX:+NAME and -XX:-NAME; otherwise the given default. */
bool jvm_process_flag(const struct jvm_process *process, const char *name, bool when_absent);

#endif
