/*
 * jvm_view.h - samples of a recording that is already running in a JVM: the agent writes those of one event to
 * another file, and the recording continues.
 *
 * The file is in the temporary folder of the JVM, as it sees it.
 *
 * Owns: the file, until jvm_view_stop() and jvm_file_remove().
 * Threads: one at a time.
 */
#ifndef COMMANDS_JVM_VIEW_H
#define COMMANDS_JVM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"

#define JVM_FILE_LIMIT 64

struct jvm_view {
    pid_t pid;
    const char *library;
    char name[JVM_FILE_LIMIT];
    char path[JVM_FILE_LIMIT]; /* as the JVM sees it */
    int64_t interval_ns;       /* of its samples; 0: they have none */
};

/* A new file in the JVM's /tmp with an unpredictable name. */
void jvm_file_name(pid_t pid, char path[JVM_FILE_LIMIT]);
/* Path to read it from: through the JVM's root, which may be a container's, while the JVM lives. *path is valid while
   the descriptor is open. -1: see errno. */
int jvm_file_open(pid_t pid, const char *path, char found[JVM_FILE_LIMIT]);
void jvm_file_remove(pid_t pid, const char *path);

/* True when this is the agent's answer to a start while a recording runs. */
bool jvm_view_is_needed(const struct error *refusal);
/* `event` NULL: cpu. The agent ends the view after `limit_s` seconds, whether or not its command lives. Fails with the
   command to use instead if the recording does not have that event. */
bool jvm_view_start(struct jvm_view *view, pid_t pid, const char *library, const char *event, int64_t limit_s,
                    struct error *error) MUST_CHECK;
/* Continues in another file; samples since the start, or the last call, are in `ended`. */
bool jvm_view_rotate(struct jvm_view *view, char ended[JVM_FILE_LIMIT], struct error *error) MUST_CHECK;
bool jvm_view_stop(struct jvm_view *view, struct error *error) MUST_CHECK;

#endif
