#include "python_sampler/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "python_sampler/process_denial.h"
#include "python_sampler/process_numbers.h"

void process_memory_init(struct process_memory *memory, pid_t pid)
{
    *memory = (struct process_memory){
        .pid = pid, .inner_pid = process_inner_number(pid), .descriptor = -1, .effort_left = INT64_MAX};
}

void process_memory_init_source(struct process_memory *memory, struct memory_source source)
{
    *memory = (struct process_memory){
        .descriptor = -1, .way = MEMORY_BY_SOURCE, .source = source, .effort_left = INT64_MAX};
}

void process_memory_allow(struct process_memory *memory, int64_t effort)
{
    memory->effort_left = effort;
}

void process_memory_release(struct process_memory *memory)
{
    if (memory->descriptor >= 0)
        close(memory->descriptor);
    memory->descriptor = -1;
}

static enum memory_result result_of_errno(void)
{
    switch (errno) {
    case ESRCH:
        return MEMORY_GONE;
    case EPERM:
    case EACCES:
        return MEMORY_DENIED;
    default:
        return MEMORY_FAULT;
    }
}

static enum memory_result read_from_file(struct process_memory *memory, const struct iovec *ranges,
                                         size_t count, char *to)
{
    if (memory->descriptor < 0) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/mem", (int)memory->pid);
        memory->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (memory->descriptor < 0)
            return errno == ENOENT ? MEMORY_GONE : result_of_errno();
    }
    for (size_t i = 0; i < count; i++) {
        memory->calls++;
        ssize_t got = pread(memory->descriptor, to, ranges[i].iov_len, (off_t)(uintptr_t)ranges[i].iov_base);
        if (got == 0)
            return MEMORY_GONE;
        if (got < 0 || (size_t)got != ranges[i].iov_len)
            return got < 0 ? result_of_errno() : MEMORY_FAULT;
        to += ranges[i].iov_len;
    }
    return MEMORY_OK;
}

static enum memory_result read_otherwise(struct process_memory *memory, const struct iovec *ranges,
                                         size_t count, void *to, size_t total_bytes)
{
    if (memory->way == MEMORY_BY_FILE)
        return read_from_file(memory, ranges, count, to);
    size_t got = memory->source.read(memory->source.context, ranges, count, to, total_bytes);
    return got == total_bytes ? MEMORY_OK : MEMORY_FAULT;
}

/* False if the limit is reached. */
static inline bool spend(struct process_memory *memory, size_t bytes)
{
    memory->effort_left -= PROCESS_MEMORY_CALL_EFFORT + (int64_t)bytes;
    if (LIKELY(memory->effort_left >= 0))
        return true;
    memory->effort_left = -1;
    return false;
}

enum memory_result process_memory_read_ranges(struct process_memory *memory, const struct iovec *ranges,
                                              size_t count, void *to, size_t total_bytes)
{
    if (UNLIKELY(!spend(memory, total_bytes)))
        return MEMORY_FAULT;
    if (UNLIKELY(memory->way != MEMORY_BY_CALL))
        return read_otherwise(memory, ranges, count, to, total_bytes);
    struct iovec local = {to, total_bytes};
    memory->calls++;
    ssize_t got = process_vm_readv(memory->pid, &local, 1, ranges, count, 0);
    if (LIKELY(got == (ssize_t)total_bytes))
        return MEMORY_OK;
    if (got >= 0)
        return MEMORY_FAULT;
    if (errno == ENOSYS) {
        memory->way = MEMORY_BY_FILE;
        return read_from_file(memory, ranges, count, to);
    }
    return result_of_errno();
}

enum memory_result process_memory_read(struct process_memory *memory, uint64_t address, void *to, size_t size)
{
    struct iovec range = {(void *)(uintptr_t)address, size};
    return process_memory_read_ranges(memory, &range, 1, to, size);
}

size_t process_memory_read_some(struct process_memory *memory, const struct iovec *ranges, size_t count,
                                void *to, size_t room_bytes)
{
    struct iovec local = {to, room_bytes};
    size_t size = 0;
    if (!spend(memory, room_bytes))
        return 0;
    if (memory->way == MEMORY_BY_SOURCE)
        return memory->source.read(memory->source.context, ranges, count, to, room_bytes);
    memory->calls++;
    ssize_t got =
        memory->way == MEMORY_BY_FILE ? -1 : process_vm_readv(memory->pid, &local, 1, ranges, count, 0);
    if (got >= 0)
        return (size_t)got;
    while (memory->way == MEMORY_BY_FILE && count-- > 0 &&
           read_from_file(memory, ranges, 1, (char *)to + size) == MEMORY_OK)
        size += ranges++->iov_len;
    return size;
}

bool process_memory_explain(const struct process_memory *memory, enum memory_result result,
                            struct error *error)
{
    int pid = (int)memory->pid;
    struct process_denial denial;
    switch (result) {
    case MEMORY_DENIED:
        process_denial_find(&denial, memory->pid);
        return process_denial_explain(&denial, error);
    case MEMORY_GONE:
        return error_set(error, ERROR_SYSTEM, "process %d has ended", pid);
    default:
        return error_set(error, ERROR_BAD_INPUT, "process %d: memory of Python's state is not mapped", pid);
    }
}
