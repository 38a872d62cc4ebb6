#include "python_sampler/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "python_sampler/process_numbers.h"

void process_memory_init(struct process_memory *memory, pid_t pid)
{
    *memory = (struct process_memory){.pid = pid, .inner_pid = process_inner_number(pid), .descriptor = -1};
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

enum memory_result process_memory_read_ranges(struct process_memory *memory, const struct iovec *ranges,
                                              size_t count, void *to, size_t total_bytes)
{
    if (memory->through_file)
        return read_from_file(memory, ranges, count, to);
    struct iovec local = {to, total_bytes};
    memory->calls++;
    ssize_t got = process_vm_readv(memory->pid, &local, 1, ranges, count, 0);
    if (LIKELY(got == (ssize_t)total_bytes))
        return MEMORY_OK;
    if (got >= 0)
        return MEMORY_FAULT;
    if (errno == ENOSYS) {
        memory->through_file = true;
        return read_from_file(memory, ranges, count, to);
    }
    return result_of_errno();
}

enum memory_result process_memory_read(struct process_memory *memory, uint64_t address, void *to, size_t size)
{
    struct iovec range = {(void *)(uintptr_t)address, size};
    return process_memory_read_ranges(memory, &range, 1, to, size);
}

static int read_small_number(const char *path)
{
    char text[16] = "";
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    ssize_t got = read(descriptor, text, sizeof(text) - 1);
    close(descriptor);
    return got > 0 && text[0] >= '0' && text[0] <= '9' ? text[0] - '0' : -1;
}

bool process_explain_denied(pid_t target, struct error *error)
{
    int pid = (int)target;
    int scope = read_small_number("/proc/sys/kernel/yama/ptrace_scope");
    if (scope > 0 && scope < 3)
        return error_set(
            error, ERROR_SYSTEM,
            "process %d may not be read: kernel.yama.ptrace_scope is %d. Run as root, start the program "
            "with `sparkflame record -- COMMAND`, or `sysctl kernel.yama.ptrace_scope=0`. In Docker: "
            "--cap-add SYS_PTRACE; in Kubernetes: securityContext.capabilities.add: [SYS_PTRACE]",
            pid, scope);
    if (scope == 3)
        return error_set(
            error, ERROR_SYSTEM,
            "process %d may not be read: kernel.yama.ptrace_scope is 3, which forbids it to everybody "
            "until the machine is started again",
            pid);
    return error_set(
        error, ERROR_SYSTEM,
        "process %d may not be read: it belongs to another user, or this container lacks the capability. "
        "Run as that user or as root (sudo). In Docker: --cap-add SYS_PTRACE; in Kubernetes: "
        "securityContext.capabilities.add: [SYS_PTRACE]",
        pid);
}

bool process_memory_explain(const struct process_memory *memory, enum memory_result result,
                            struct error *error)
{
    int pid = (int)memory->pid;
    switch (result) {
    case MEMORY_DENIED:
        return process_explain_denied(memory->pid, error);
    case MEMORY_GONE:
        return error_set(error, ERROR_SYSTEM, "process %d has ended", pid);
    default:
        return error_set(error, ERROR_BAD_INPUT,
                         "process %d: memory that should hold Python's state is not mapped", pid);
    }
}
