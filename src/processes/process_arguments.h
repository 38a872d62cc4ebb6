/*
 * process_arguments.h - reads a command line (or environment) of /proc: items ended by zero bytes.
 *
 * Owns: nothing.
 */
#ifndef PROCESSES_PROCESS_ARGUMENTS_H
#define PROCESSES_PROCESS_ARGUMENTS_H

#include <stdbool.h>

#include "base/text_view.h"

/* The item after the given one, e.g. after "--app-id"; empty when there is none. */
struct text_view argument_after(struct text_view arguments, const char *option);
/* The value of "NAME=value" in an environment, or of "-Dname=value" with prefix "-D". */
struct text_view argument_value(struct text_view items, const char *prefix, const char *name);
bool argument_present(struct text_view arguments, const char *exact);
/* A JVM's main class, jar file or module; empty if unknown. */
struct text_view java_main_class(struct text_view arguments);
/* Module (without "-m"), script or "-c" of a Python process; empty if interactive. is_module: it is a module. */
struct text_view python_program(struct text_view arguments, bool *is_module);
/* application_1_2 of container_e05_1_2_01_000003, or empty. Room for 64 bytes. */
struct text_view application_of_container(struct text_view container, char *room);

#endif
