/*
 * process_memory.h - reads the memory of another process without stopping it.
 *
 * Reads go through process_vm_readv(), or through /proc/PID/mem where the kernel lacks that call.
 *
 * Owns: a descriptor of /proc/PID/mem once it was needed, until process_memory_release().
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
    MEMORY_FAULT,  /* some of it is not mapped */
    MEMORY_GONE,   /* no such process any more, or it has no memory (a zombie) */
    MEMORY_DENIED, /* we may not read this process */
};

/* Most ranges of one call, as the kernel has it. */
#define MEMORY_RANGE_LIMIT 1024

struct process_memory {
    pid_t pid;
    pid_t inner_pid; /* as the process knows itself, in a container */
    int descriptor;  /* of /proc/PID/mem; -1: not open */
    bool through_file;
    uint64_t calls; /* to the kernel */
};

void process_memory_init(struct process_memory *memory, pid_t pid);
void process_memory_release(struct process_memory *memory);

/* All `size` bytes or a failure. */
enum memory_result process_memory_read(struct process_memory *memory, uint64_t address, void *to,
                                       size_t size) MUST_CHECK;
/* The ranges one after the other into `to`, in this order in time too; all `total_bytes` of them or a failure. */
enum memory_result process_memory_read_ranges(struct process_memory *memory, const struct iovec *ranges,
                                              size_t count, void *to, size_t total_bytes) MUST_CHECK;
/* As many bytes as can be had before the first range that is not mapped. */
size_t process_memory_read_some(struct process_memory *memory, const struct iovec *ranges, size_t count,
                                void *to, size_t room_bytes);
/* Says why reading the process failed and what helps. Always false. */
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
