/*
 * perf_record.h - decodes the records that the kernel writes into a ring of perf events with PERF_RECORD_FIELDS.
 *
 * Every size and offset in a record is checked against its end, as records may also be damaged or made up.
 *
 * Owns: nothing; texts and stacks point into the record.
 * Threads: any.
 */
#ifndef NATIVE_SAMPLER_PERF_RECORD_H
#define NATIVE_SAMPLER_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "symbols/perf_registers.h"

/* The fields of a sample, and with sample_id_all those at the end of all other records: TID and TIME. */
#define PERF_RECORD_FIELDS                                                                              \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

enum perf_record_kind {
    PERF_KIND_OTHER,
    PERF_KIND_SAMPLE,
    PERF_KIND_MAPPING,
    PERF_KIND_NAME,
    PERF_KIND_START, /* of a process or thread */
    PERF_KIND_EXIT,
    PERF_KIND_LOST,
    PERF_KIND_THROTTLED,
    PERF_KIND_SWITCH_IN, /* the thread begins to run */
    PERF_KIND_SWITCH_OUT,
    PERF_KIND_WAKING, /* pid and tid are the waker's */
};

/* The fields of a sample of the tracepoint sched:sched_waking. */
#define PERF_WAKING_FIELDS (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)

/* Where this kernel has them in the tracepoint's record. */
struct perf_waking_format {
    size_t flags, pid;
};

struct perf_sample_stack {
    const unsigned char *callchain; /* kernel part: u64 addresses and PERF_CONTEXT marks, innermost first */
    size_t callchain_count;
    bool has_user; /* registers of 64-bit user code */
    uint64_t pc, sp, fp, link;
    const unsigned char *bytes; /* of the stack, from sp up */
    size_t size;
    bool is_cut; /* the stack goes on, as far as the kernel knows */
};

struct perf_mapping {
    uint64_t start, end, offset, device, inode;
    bool executable, deleted;
    struct text_view path; /* "//anon", "[vdso]" */
};

struct perf_record {
    enum perf_record_kind kind;
    int64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t period; /* of PERF_KIND_SAMPLE: how many events it stands for */
    pid_t pid, tid;
    pid_t parent_pid, parent_tid; /* of PERF_KIND_START */
    bool is_exec;                 /* of PERF_KIND_NAME: another program */
    bool was_preempted;           /* of PERF_KIND_SWITCH_OUT: it could have run on */
    pid_t woken_tid;              /* of PERF_KIND_WAKING */
    bool is_interrupt;            /* of PERF_KIND_WAKING: not the waker, but what interrupted it */
    struct text_view name;        /* of PERF_KIND_NAME */
    uint64_t lost;
    struct perf_mapping mapping;
    struct perf_sample_stack stack;
};

/* `bytes` start with the header; size is at least that of the header and is the record's. False: damaged. */
bool perf_record_decode(struct perf_record *record, const unsigned char *bytes, size_t size) MUST_CHECK;
/* Samples of PERF_WAKING_FIELDS; other records as above. */
bool perf_record_decode_waking(struct perf_record *record, const unsigned char *bytes, size_t size,
                               const struct perf_waking_format *format) MUST_CHECK;
/* Only the time; false: it has none. */
bool perf_record_time(const unsigned char *bytes, size_t size, int64_t *time_ns) MUST_CHECK;

static inline uint64_t perf_callchain_at(const struct perf_sample_stack *stack, size_t index)
{
    uint64_t address;
    memcpy(&address, stack->callchain + 8 * index, sizeof(address));
    return address;
}

#endif
