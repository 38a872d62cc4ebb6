/*
 * process_memory.h - reads the memory of another process without stopping it.
 *
 * Uses process_vm_readv(), or /proc/PID/mem if the kernel lacks that call; tests may use another source. The work that
 * a process can cause is limited: each call and each byte is an effort, and when the effort set by
 * process_memory_allow() is used up, all reads fail as if nothing were mapped.
 *
 * Owns: a descriptor of /proc/PID/mem once needed, until process_memory_release().
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_PROCESS_MEMORY_H
#define PYTHON_SAMPLER_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/attributes.h"
#include "base/error.h"

enum memory_result {
    MEMORY_OK,
    MEMORY_FAULT,  /* part of it is not mapped */
    MEMORY_GONE,   /* the process has ended, or has no memory (a zombie) */
    MEMORY_DENIED, /* not permitted to read this process */
};

/* Maximum number of ranges per call, set by the kernel. */
#define MEMORY_RANGE_LIMIT 1024
/* Approximate cost of a call, in bytes that could be copied meanwhile. */
#define PROCESS_MEMORY_CALL_EFFORT 4096

/* Memory from another source. read() returns the bytes before the first one that is not available. */
struct memory_source {
    size_t (*read)(void *context, const struct iovec *ranges, size_t count, void *to, size_t room_bytes);
    void *context;
};

enum memory_way {
    MEMORY_BY_CALL,
    MEMORY_BY_FILE,
    MEMORY_BY_SOURCE,
};

struct process_memory {
    pid_t pid;
    pid_t inner_pid; /* pid in the process's own namespace (container) */
    int descriptor;  /* of /proc/PID/mem; -1: not open */
    enum memory_way way;
    struct memory_source source;
    uint64_t calls;      /* to the kernel */
    int64_t effort_left; /* negative: used up */
};

void process_memory_init(struct process_memory *memory, pid_t pid);
/* A process that does not exist, with memory from the source. */
void process_memory_init_source(struct process_memory *memory, struct memory_source source);
void process_memory_release(struct process_memory *memory);

/* Sets the remaining effort; a call counts as PROCESS_MEMORY_CALL_EFFORT, a byte as 1. Initially unlimited. */
void process_memory_allow(struct process_memory *memory, int64_t effort);

/* All `size` bytes or a failure. */
enum memory_result process_memory_read(struct process_memory *memory, uint64_t address, void *to,
                                       size_t size) MUST_CHECK;
/* Reads the ranges into `to`, one after the other, also in time; all `total_bytes` or a failure. */
enum memory_result process_memory_read_ranges(struct process_memory *memory, const struct iovec *ranges,
                                              size_t count, void *to, size_t total_bytes) MUST_CHECK;
/* Reads the bytes before the first range that is not mapped. */
size_t process_memory_read_some(struct process_memory *memory, const struct iovec *ranges, size_t count,
                                void *to, size_t room_bytes);
/* Reports why reading the process failed and how to permit it. Always returns false. */
bool process_memory_explain(const struct process_memory *memory, enum memory_result result,
                            struct error *error);

static inline bool process_memory_read_u64(struct process_memory *memory, uint64_t address, uint64_t *value)
{
    return process_memory_read(memory, address, value, sizeof(*value)) == MEMORY_OK;
}

static inline uint64_t load_u64(const void *from)
{
    uint64_t value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

static inline uint32_t load_u32(const void *from)
{
    uint32_t value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

#endif
