/*
 * attach.h - talks to a running HotSpot JVM through its attach mechanism, as jcmd does: same or other user, same or
 * another container.
 *
 * Owns: nothing between calls.
 * Threads: one at a time (the effective user is changed for a moment when it differs from the target's).
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

/* Why attaching cannot work, with what to do about it; true when nothing speaks against it. Sends nothing. */
bool attach_check(const struct jvm_process *process, struct error *error) MUST_CHECK;

/* Sends one command ("jcmd", "threaddump", "load", "properties") with up to three arguments (NULL: empty) and gives
   what the JVM answers after its status. A status other than 0 fails with the answer as the message. */
bool attach_command(pid_t pid, const char *command, const char *const arguments[3],
                    struct text_builder *answer, struct error *error) MUST_CHECK;

/* Loads a native agent, from where the target can read it: where it is, or as a copy in the target's /tmp, /var/tmp or
   /dev/shm. The same library gets the same path, so that loading it again talks to the one already there. */
bool attach_load_agent(pid_t pid, const char *library, const char *options, struct error *error) MUST_CHECK;

/* Loads the agent with a command ("status", "start,event=cpu,…") and gives the words it answers with; when it fails,
   they are the message. */
bool attach_agent_command(pid_t pid, const char *library, const char *command, struct text_builder *answer,
                          struct error *error) MUST_CHECK;

/* The path under which the target finds the library, copied if it must be. Room for PATH_MAX bytes. */
bool attach_place_library(const struct jvm_process *process, const char *library, char *path_in_target,
                          struct error *error) MUST_CHECK;

#endif
