/* What the kernel and the container allow. Where possible it is tried, since settings do not tell everything. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "commands/doctor/doctor.h"

bool doctor_read_line(const char *path, char *line, size_t size)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    bool good = fgets(line, (int)size, stream) != NULL;
    fclose(stream);
    if (good)
        line[strcspn(line, "\n")] = '\0';
    return good;
}

bool doctor_has_capability(unsigned number)
{
    char line[256];
    unsigned long long mask = 0;
    FILE *stream = fopen("/proc/self/status", "re");
    while (stream != NULL && fgets(line, sizeof(line), stream) != NULL)
        if (sscanf(line, "CapEff: %llx", &mask) == 1)
            break;
    if (stream != NULL)
        fclose(stream);
    return (mask >> number & 1) != 0;
}

enum perf_scope { OWN_PROCESS, WHOLE_MACHINE };

static int try_perf_event(uint32_t type, uint64_t config, enum perf_scope scope, bool with_kernel)
{
    struct perf_event_attr attributes = {.type = type,
                                         .size = sizeof(attributes),
                                         .config = config,
                                         .sample_period = 10000000,
                                         .disabled = 1,
                                         .exclude_kernel = !with_kernel,
                                         .exclude_hv = 1};
    bool whole = scope == WHOLE_MACHINE;
    long descriptor = syscall(SYS_perf_event_open, &attributes, whole ? -1 : 0, whole ? 0 : -1, -1, 0);
    if (descriptor < 0)
        return errno;
    close((int)descriptor);
    return 0;
}

static const char *perf_fix(int reason)
{
    bool in_container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
    if (reason == ENOSYS)
        return "use a kernel with CONFIG_PERF_EVENTS";
    if (reason == EPERM && in_container) /* a seccomp profile's answer; the level's is EACCES */
        return "start the container with --cap-add PERFMON and a seccomp profile that allows perf_event_open";
    return "sysctl -w kernel.perf_event_paranoid=1   (or run with CAP_PERFMON; in Docker --cap-add PERFMON)";
}

static void check_perf_events(struct doctor *doctor)
{
    char level[32] = "?";
    doctor_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
    int user = try_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, OWN_PROCESS, false);
    int kernel = try_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, OWN_PROCESS, true);
    int hardware = try_perf_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, OWN_PROCESS, false);
    if (user != 0)
        doctor_say(
            doctor, DOCTOR_LIMITED, "perf events", perf_fix(user),
            "not allowed here (perf_event_paranoid is %s): %s; CPU of JVMs is sampled by timers, no finer "
            "than the kernel's tick; native programs cannot be recorded",
            level, strerror(user));
    else
        doctor_say(doctor, DOCTOR_GOOD, "perf events", NULL, "allowed (perf_event_paranoid is %s)", level);
    if (kernel != 0)
        doctor_say(
            doctor, DOCTOR_LIMITED, "kernel stacks", perf_fix(kernel),
            "not allowed: %s; stacks end at the system call, and of native programs the time in the kernel "
            "is missing",
            strerror(kernel));
    else
        doctor_say(doctor, DOCTOR_GOOD, "kernel stacks", NULL, "allowed");
    if (hardware == ENOENT || hardware == EOPNOTSUPP || hardware == ENODEV)
        doctor_say(doctor, DOCTOR_LIMITED, "hardware events", NULL,
                   "this machine has no counters (a virtual machine?): no cycles, cache-misses");
    else if (hardware == 0)
        doctor_say(doctor, DOCTOR_GOOD, "hardware events", NULL, "available");
}

static void check_whole_machine(struct doctor *doctor)
{
    int reason = try_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, WHOLE_MACHINE, true);
    if (reason == 0)
        doctor_say(doctor, DOCTOR_GOOD, "whole machine", NULL, "allowed (record --host)");
    else
        doctor_say(doctor, DOCTOR_LIMITED, "whole machine",
                   "sysctl -w kernel.perf_event_paranoid=0   (or run with CAP_PERFMON)",
                   "not allowed: %s; record --host does not work, own processes can be recorded",
                   strerror(reason));
}

/* The first lines may be offsets of per-CPU data, which are 0 without being hidden. */
static bool shows_addresses(FILE *kallsyms)
{
    char line[512];
    while (fgets(line, sizeof(line), kallsyms) != NULL)
        if (strtoull(line, NULL, 16) != 0)
            return true;
    return false;
}

static void check_kernel_symbols(struct doctor *doctor)
{
    char level[32] = "?";
    doctor_read_line("/proc/sys/kernel/kptr_restrict", level, sizeof(level));
    FILE *kallsyms = fopen("/proc/kallsyms", "re");
    if (kallsyms == NULL)
        doctor_say(doctor, DOCTOR_LIMITED, "kernel symbols", NULL,
                   "there is no /proc/kallsyms: kernel frames have no names");
    else if (!shows_addresses(kallsyms))
        doctor_say(doctor, DOCTOR_LIMITED, "kernel symbols",
                   "sysctl -w kernel.kptr_restrict=0 kernel.perf_event_paranoid=1   (or run as root)",
                   "hidden (kptr_restrict is %s): kernel frames have no names", level);
    else
        doctor_say(doctor, DOCTOR_GOOD, "kernel symbols", NULL, "readable (kptr_restrict is %s)", level);
    if (kallsyms != NULL)
        fclose(kallsyms);
}

static void check_ptrace(struct doctor *doctor)
{
    char level[32];
    bool privileged = doctor_has_capability(CAPABILITY_SYS_PTRACE);
    if (!doctor_read_line("/proc/sys/kernel/yama/ptrace_scope", level, sizeof(level)))
        doctor_say(doctor, DOCTOR_GOOD, "reading processes", NULL, "no Yama: processes of the same user, %s",
                   privileged ? "and with CAP_SYS_PTRACE all others" : "others only as root");
    else if (level[0] == '0' || privileged)
        doctor_say(doctor, DOCTOR_GOOD, "reading processes", NULL, "allowed (ptrace_scope is %s%s)", level,
                   privileged ? ", CAP_SYS_PTRACE" : "");
    else
        doctor_say(doctor, DOCTOR_LIMITED, "reading processes",
                   "sysctl -w kernel.yama.ptrace_scope=0   (or run as root; in Docker --cap-add SYS_PTRACE)",
                   "Yama's ptrace_scope is %s: a running Python or native program can be read only by its "
                   "parent; JVMs are not "
                   "concerned",
                   level);
}

/* Containers' seccomp profiles may forbid the call altogether. */
static void check_memory_reading(struct doctor *doctor)
{
    int value = 1, copy = 0;
    struct iovec local = {&copy, sizeof(copy)}, remote = {&value, sizeof(value)};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)sizeof(copy))
        doctor_say(doctor, DOCTOR_GOOD, "process_vm_readv", NULL, "works");
    else
        doctor_say(doctor, DOCTOR_LIMITED, "process_vm_readv",
                   "start the container with --cap-add SYS_PTRACE, or with a seccomp profile that allows it",
                   "refused: %s; Python stacks cannot be read", strerror(errno));
}

static void check_limit(struct doctor *doctor, const char *subject, const char *new_path,
                        const char *old_path)
{
    char line[128];
    if (!doctor_read_line(new_path, line, sizeof(line)) && !doctor_read_line(old_path, line, sizeof(line)))
        return;
    bool unlimited = strncmp(line, "max", 3) == 0 || line[0] == '-' || strtoull(line, NULL, 10) >= 1ULL << 60;
    doctor_say(doctor, DOCTOR_GOOD, subject, NULL, "%s", unlimited ? "none" : line);
}

static void check_container(struct doctor *doctor)
{
    const char *kind = access("/.dockerenv", F_OK) == 0            ? "Docker"
                       : access("/run/.containerenv", F_OK) == 0   ? "Podman"
                       : getenv("KUBERNETES_SERVICE_HOST") != NULL ? "Kubernetes"
                                                                   : NULL;
    doctor_say(doctor, DOCTOR_GOOD, "container", NULL, "%s", kind == NULL ? "none detected" : kind);
    check_limit(doctor, "memory limit", "/sys/fs/cgroup/memory.max",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes");
    check_limit(doctor, "CPU limit", "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
}

void doctor_system(struct doctor *doctor)
{
    check_perf_events(doctor);
    check_whole_machine(doctor);
    check_kernel_symbols(doctor);
    check_ptrace(doctor);
    check_memory_reading(doctor);
    check_container(doctor);
}
