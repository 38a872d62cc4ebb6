/*
 * attach.h - communicates with a running HotSpot JVM through its attach mechanism, as jcmd does: same or other user,
 * same or another container.
 *
 * Owns: nothing between calls.
 * Threads: one at a time (the effective user is changed temporarily if it differs from the target's).
 * Limit: answers of ATTACH_ANSWER_LIMIT_BYTES, arguments of ATTACH_ARGUMENT_LIMIT_BYTES (the JVM's own limit).
 */
#ifndef JVM_ATTACH_ATTACH_H
#define JVM_ATTACH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/output.h"
#include "jvm_attach/jvm_process.h"

enum { ATTACH_ARGUMENT_LIMIT_BYTES = 1024, ATTACH_ANSWER_LIMIT_BYTES = 1 << 30, ATTACH_SOCKET_SECONDS = 60 };

/* Checks whether attaching is possible; the error describes a remedy. Sends nothing. */
bool attach_check(const struct jvm_process *process, struct error *error) MUST_CHECK;

/* Sends one command ("jcmd", "threaddump", "load", "properties") with up to three arguments (NULL: empty) and
 * returns the JVM's answer after its status. A status other than 0 fails with the answer as the message. */
bool attach_command(pid_t pid, const char *command, const char *const arguments[3],
                    struct text_builder *answer, struct error *error) MUST_CHECK;

/* Uses the agent that the target has loaded, whichever copy that is. If there is none, loads this one, from where
 * the target can read it: its own path, or a copy in the target's /tmp, /var/tmp or /dev/shm. */
bool attach_load_agent(pid_t pid, const char *library, const char *options, struct error *error) MUST_CHECK;

/* Runs a command of the agent ("status", "start,event=cpu,…") and returns its output; on failure the output is the
 * message. */
bool attach_agent_command(pid_t pid, const char *library, const char *command, struct text_builder *answer,
                          struct error *error) MUST_CHECK;

/* The path under which the target finds the library, copied if necessary. `path` has space for PATH_MAX bytes. */
bool attach_place_library(const struct jvm_process *process, const char *library, char *path_in_target,
                          struct error *error) MUST_CHECK;

#endif
