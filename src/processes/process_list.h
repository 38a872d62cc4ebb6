/*
 * process_list.h - the JVMs and Python processes on this machine, with their Spark roles, from /proc alone.
 *
 * Owns: all texts, in its arena, until process_list_release().
 * Threads: one at a time.
 * Limit: PROCESS_LIMIT processes, the arena's bytes; the rest is dropped and counted.
 */
#ifndef PROCESSES_PROCESS_LIST_H
#define PROCESSES_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

enum { PROCESS_LIMIT = 100000 };

enum process_language { PROCESS_OTHER, PROCESS_JVM, PROCESS_PYTHON };

enum spark_role {
    SPARK_ROLE_NONE,
    SPARK_ROLE_DRIVER,
    SPARK_ROLE_EXECUTOR,
    SPARK_ROLE_PYTHON_DRIVER, /* the Python process of the driver */
    SPARK_ROLE_PYTHON_DAEMON, /* forks the workers of an executor */
    SPARK_ROLE_PYTHON_WORKER,
    SPARK_ROLE_APPLICATION_MASTER, /* YARN's application master, if the driver runs elsewhere */
    SPARK_ROLE_MASTER,
    SPARK_ROLE_WORKER,
    SPARK_ROLE_HISTORY_SERVER,
    SPARK_ROLE_SERVER, /* long-running drivers: Thrift server, Spark Connect */
    SPARK_ROLE_SHUFFLE_SERVICE,
};

struct process {
    pid_t pid, parent;
    uid_t uid;
    enum process_language language;
    enum spark_role role;
    const char *application; /* "" when unknown */
    const char *executor;    /* "driver", "1"; "" */
    const char *main_class;  /* class, jar or module; "" */
    const char *name;        /* the program: class or script */
    const char *user;        /* name or number */
    uint16_t driver_port;    /* of an executor: where its driver listens; 0 */
};

struct process_list {
    struct arena arena;
    struct process *processes; /* by pid */
    size_t count, capacity;
    size_t left_out;
};

void process_list_init(struct process_list *list);
void process_list_release(struct process_list *list);
/* folder is "/proc", or a copy of it for tests. Processes that exit meanwhile or cannot be read are skipped. */
bool process_list_read(struct process_list *list, const char *folder, struct error *error) MUST_CHECK;

const char *spark_role_name(enum spark_role role);
const char *process_language_name(enum process_language language);
/* A pid, an application id, a main class (whole or its last part), "driver", "executor" or "executor N". */
bool process_matches(const struct process *process, const char *pattern);

#endif
