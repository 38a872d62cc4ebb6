/*
 * dump.h - the stacks of one process, once.
 */
#ifndef COMMANDS_DUMP_H
#define COMMANDS_DUMP_H

#include <sys/types.h>

#include "base/error.h"
#include "base/output.h"

struct dump_options {
    bool as_json; /* one object, {"pid":…,"language":…,…}, without a line's end */
    bool locks;   /* also what holds java.util.concurrent locks */
};

bool dump_jvm(pid_t pid, const struct dump_options *options, struct output *output,
              struct error *error) MUST_CHECK;
bool dump_python(pid_t pid, const struct dump_options *options, struct output *output,
                 struct error *error) MUST_CHECK;

/* Each thread is paused while its registers and its stack are copied. */
bool dump_native(pid_t pid, const struct dump_options *options, struct output *output,
                 struct error *error) MUST_CHECK;

#endif
