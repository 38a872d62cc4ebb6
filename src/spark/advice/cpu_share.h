/*
 * cpu_share.h - the share of a CPU that running code got, where nobody recorded the load of the hosts.
 *
 * Before a task runs, its executor deserializes it. That computes and hardly waits: where it took far longer than its
 * CPU time, the host had more to do than processors, or the container's limit held it back. A task that had to fetch
 * files first waits, too; the median of the tasks counts.
 */
#ifndef SPARK_ADVICE_CPU_SHARE_H
#define SPARK_ADVICE_CPU_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include "spark/application.h"

/* At most 1, which also stands for a host with nothing else to do and for tasks that say nothing. `tasks` are numbers
 * in application.tasks; NULL: the first `count`. */
double cpu_share_of(const struct application *application, const uint32_t *tasks, size_t count);

#endif
