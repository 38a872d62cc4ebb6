/*
 * namespace_filter.h - samples of processes in this PID namespace only, by a BPF program that the kernel runs before
 * it copies a stack. In a container, events of the whole machine would otherwise spend time and room on processes
 * that the sampler cannot see.
 *
 * Threads: any.
 */
#ifndef NATIVE_SAMPLER_NAMESPACE_FILTER_H
#define NATIVE_SAMPLER_NAMESPACE_FILTER_H

#include <stdbool.h>

/* Whether this process is in the machine's first PID namespace, whose numbers the kernel's own records have. */
bool namespace_is_first(void);
/* The program's descriptor, for PERF_EVENT_IOC_SET_BPF. -1: not needed, not permitted (it takes CAP_BPF and CAP_PERFMON
 * in the first user namespace), or wrong, since namespaces below this one have processes, too. */
int namespace_filter_open(void);

#endif
