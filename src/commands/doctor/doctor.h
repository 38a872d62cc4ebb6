/*
 * doctor.h - findings on what can be profiled here, with fixes.
 *
 * Owns: nothing; findings are printed as they come.
 */
#ifndef COMMANDS_DOCTOR_H
#define COMMANDS_DOCTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"

enum doctor_verdict {
    DOCTOR_GOOD,
    DOCTOR_LIMITED, /* works, with something lost */
    DOCTOR_BAD,     /* prevents profiling of the process in question */
};

struct doctor {
    struct output *output;
    bool as_json;
    unsigned findings;
    unsigned bad;
};

/* One finding; fix is the exact command or option that helps, NULL for none. */
void doctor_say(struct doctor *doctor, enum doctor_verdict verdict, const char *subject, const char *fix,
                const char *format, ...) PRINTF_LIKE(5, 6);

void doctor_system(struct doctor *doctor);
bool doctor_process(struct doctor *doctor, pid_t pid, struct error *error) MUST_CHECK;
/* The first line of a small file; false when it cannot be read. */
bool doctor_read_line(const char *path, char *line, size_t size);
bool doctor_has_capability(unsigned number);

enum { CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };

#endif
