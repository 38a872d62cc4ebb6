/*
 * process_denial.h - why the kernel does not permit reading a process, and how to permit it.
 */
#ifndef PYTHON_SAMPLER_PROCESS_DENIAL_H
#define PYTHON_SAMPLER_PROCESS_DENIAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct process_denial {
    pid_t pid;
    bool target_is_known; /* target_user is valid */
    uid_t target_user;
    uid_t own_user;
    bool may_trace;        /* we have CAP_SYS_PTRACE */
    int trace_scope;       /* Yama's kernel.yama.ptrace_scope; -1: no Yama */
    bool has_other_rights; /* the target has capabilities that we lack, or is not dumpable */
};

void process_denial_find(struct process_denial *denial, pid_t pid);
/* Sets the message. Always returns false. */
bool process_denial_explain(const struct process_denial *denial, struct error *error);

#endif
