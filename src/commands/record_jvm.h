/*
 * record_jvm.h - records a running JVM through the agent, for `record`.
 */
#ifndef COMMANDS_RECORD_JVM_H
#define COMMANDS_RECORD_JVM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/command.h"
#include "commands/picture_output.h"

/* What stands for "until Ctrl-C": the agent wants an end. */
#define RECORD_JVM_LONGEST_SECONDS INT64_C(8640000)

struct jvm_recording {
    const struct command *command; /* for messages */
    const char *event;             /* NULL: cpu */
    int64_t duration_ns;           /* 0: until Ctrl-C */
    double rate_hz;
    bool by_thread;
};

/* True when the process is a JVM that the agent knows. */
bool is_jvm(pid_t pid);
/* Records and writes; the exit code. */
int record_jvm(const struct jvm_recording *recording, pid_t pid, const struct picture_options *picture);

#endif
