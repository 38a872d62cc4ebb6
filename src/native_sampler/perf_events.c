#include "native_sampler/perf_events.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file_limit.h"
#include "base/text_view.h"
#include "native_sampler/namespace_filter.h"
#include "native_sampler/perf_record.h"
#include "native_sampler/tracefs.h"

/* Above it, one event per processor is cheaper, if that is allowed. */
#define MOST_THREAD_EVENTS 4096
#define MOST_EVENTS 1000000
#define MOST_PROCESSORS 4096
#define RING_BYTES ((size_t)2 << 20)
#define LEAST_RING_BYTES ((size_t)128 << 10)
#define CHANGES_RING_BYTES ((size_t)512 << 10)
#define LEAST_CHANGES_RING_BYTES ((size_t)16 << 10)
#define SWITCHES_RING_BYTES ((size_t)512 << 10)
#define LEAST_SWITCHES_RING_BYTES ((size_t)32 << 10)
#define MOST_HALVINGS 5 /* then both are as small as they may be */
#define SECOND_NS INT64_C(1000000000)
#define FAILED (-1) /* with an error; else 0 or errno */
#define WAKING "events/sched/sched_waking"
#define MOST_FORMAT_BYTES 4096

struct opening {
    struct perf_events *events;
    const struct perf_request *request;
    struct perf_event_attr attributes[RING_ROLE_COUNT];
    pid_t *threads;
    size_t thread_count, thread_capacity;
    int *owners; /* by processor and role: whose ring all such events write to; -1: none yet */
    long processors;
    unsigned halvings; /* of the rings' sizes */
    bool lacks_ring;
    bool uses[RING_ROLE_COUNT];
    size_t roles; /* how many of them */
};

static void describe(struct perf_event_attr *attributes, const struct perf_event_choice *choice,
                     bool with_kernel)
{
    *attributes = (struct perf_event_attr){
        .type = choice->type,
        .config = choice->config,
        .size = sizeof(*attributes),
        .sample_period = 10000000,
        .sample_type = PERF_RECORD_FIELDS,
        .sample_regs_user = PERF_RECORD_REGISTERS,
        .sample_stack_user = PERF_STACK_BYTES,
        .exclude_kernel = !with_kernel || choice->excludes_kernel,
        .exclude_user = choice->excludes_user,
        .exclude_hv = 1,
        .exclude_idle = 1,
        .exclude_callchain_user = 1,
        .exclude_callchain_kernel = !with_kernel,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

/* Records without samples: times and threads of what happens. */
static struct perf_event_attr describe_records(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .size = sizeof(struct perf_event_attr),
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static void describe_changes(struct perf_event_attr *attributes)
{
    *attributes = describe_records();
    attributes->mmap = 1;
    attributes->mmap2 = 1;
    attributes->comm = 1;
    attributes->comm_exec = 1;
    attributes->task = 1;
}

/* Who stops and begins to run, and when. */
static void describe_switches(struct perf_event_attr *attributes)
{
    *attributes = describe_records();
    attributes->context_switch = 1;
}

static const struct perf_event_choice each_switch = {.name = "context-switches",
                                                     .type = PERF_TYPE_SOFTWARE,
                                                     .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                                     .is_of_kernel = true};

static int open_event(struct perf_event_attr *attributes, pid_t pid, int processor)
{
    return (int)syscall(SYS_perf_event_open, attributes, pid, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

int perf_events_try(pid_t pid, bool with_kernel)
{
    struct perf_event_attr attributes;
    describe(&attributes, &perf_event_cpu, with_kernel);
    attributes.disabled = 1;
    int descriptor = open_event(&attributes, pid, pid == -1 ? 0 : -1);
    if (descriptor < 0)
        return errno;
    close(descriptor);
    return 0;
}

static int read_setting(const char *path)
{
    int value = -1;
    FILE *stream = fopen(path, "re");
    if (stream != NULL && fscanf(stream, "%d", &value) != 1)
        value = -1;
    if (stream != NULL)
        fclose(stream);
    return value;
}

static bool explain(int reason, pid_t pid, const struct perf_event_choice *choice, struct error *error)
{
    char what[48] = "all processes";
    int level = read_setting("/proc/sys/kernel/perf_event_paranoid");
    bool is_missing = reason == ENOENT || reason == ENODEV || reason == EOPNOTSUPP || reason == EINVAL;
    if (is_missing && choice->is_of_hardware)
        return error_set(error, ERROR_UNSUPPORTED,
                         "event %s: this machine has no such hardware counter (virtual machines often have "
                         "none); \"cpu\" samples processor time everywhere",
                         choice->name);
    if (is_missing && !choice->is_clock)
        return error_set(error, ERROR_UNSUPPORTED, "event %s: this kernel cannot sample it", choice->name);
    if (pid != -1)
        snprintf(what, sizeof(what), "process %d", (int)pid);
    if (reason == ESRCH)
        return error_set(error, ERROR_SYSTEM, "there is no process %d", (int)pid);
    if (reason == EMFILE)
        return error_set(error, ERROR_SYSTEM, "too many threads for the limit of open files (ulimit -n)");
    if (reason == ENOSYS)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s: the kernel has no perf events, or a seccomp profile hides them", what);
    if (reason == EPERM && level <= 2 && pid != -1 && perf_events_try(0, false) == EPERM)
        return error_set(error, ERROR_SYSTEM,
                         "%s: a seccomp profile forbids perf_event_open: allow it, or add CAP_PERFMON", what);
    if (reason == EACCES || reason == EPERM)
        return error_set(error, ERROR_SYSTEM,
                         "%s: perf events are not permitted: kernel.perf_event_paranoid is %d, without "
                         "CAP_PERFMON it must be %s",
                         what, level, pid == -1 ? "0 or less" : "2 or less, and the process your own");
    errno = reason;
    return error_set_system(error, "%s: perf events", what);
}

/* 0 or errno; ESRCH: there is no such process. */
static int add_threads(struct opening *opening, pid_t pid)
{
    char path[64];
    uint64_t number;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return errno == ENOENT ? ESRCH : errno;
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(folder)) != NULL;) {
        if (!text_to_u64(text_of(entry->d_name), &number))
            continue;
        good = array_reserve(&opening->threads, &opening->thread_capacity, opening->thread_count + 1,
                             MOST_EVENTS);
        if (good)
            opening->threads[opening->thread_count++] = (pid_t)number;
    }
    closedir(folder);
    return good ? 0 : ENOMEM;
}

static bool keep_descriptor(struct perf_events *events, int descriptor, enum perf_ring_role role)
{
    if (!array_reserve(&events->opened, &events->capacity, events->count + 1, MOST_EVENTS)) {
        close(descriptor);
        return false;
    }
    events->opened[events->count++] = (struct perf_opened){descriptor, role};
    return true;
}

static size_t ring_bytes(const struct opening *opening, enum perf_ring_role role)
{
    static const size_t most[] = {CHANGES_RING_BYTES, RING_BYTES, SWITCHES_RING_BYTES, RING_BYTES,
                                  SWITCHES_RING_BYTES};
    static const size_t least[] = {LEAST_CHANGES_RING_BYTES, LEAST_RING_BYTES, LEAST_SWITCHES_RING_BYTES,
                                   LEAST_RING_BYTES, LEAST_SWITCHES_RING_BYTES};
    size_t size = most[role] >> opening->halvings;
    return size < least[role] ? least[role] : size;
}

/* The first event of a processor gets a ring, which the others share. */
static bool connect_ring(struct opening *opening, int descriptor, int processor, enum perf_ring_role role,
                         struct error *error)
{
    struct perf_events *events = opening->events;
    int *owner = &opening->owners[processor * RING_ROLE_COUNT + (int)role];
    if (*owner >= 0)
        return ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, *owner) == 0 ||
               error_set_system(error, "perf events: cannot share a ring");
    if (!perf_ring_open(&events->rings[events->ring_count], descriptor, role, ring_bytes(opening, role))) {
        opening->lacks_ring = true;
        return error_set_system(
            error, "perf events: no ring: raise kernel.perf_event_mlock_kb (it is %d) or ulimit -l",
            read_setting("/proc/sys/kernel/perf_event_mlock_kb"));
    }
    events->ring_count++;
    *owner = descriptor;
    return true;
}

/* 0, or errno. */
static int open_on(struct opening *opening, enum perf_ring_role role, pid_t thread, int processor,
                   int *descriptor)
{
    struct perf_event_attr *attributes = &opening->attributes[role];
    const struct perf_event_choice *choice =
        role == RING_OF_WAIT_STACKS ? &each_switch : &opening->request->choice;
    *descriptor = open_event(attributes, thread, processor);
    bool can_exclude = !attributes->exclude_kernel && !choice->is_of_kernel;
    if (*descriptor < 0 && (errno == EACCES || errno == EPERM) && can_exclude) {
        opening->events->has_kernel = false;
        attributes->exclude_kernel = attributes->exclude_callchain_kernel = 1;
        *descriptor = open_event(attributes, thread, processor);
    }
    if (*descriptor < 0 && errno == EINVAL && attributes->read_format != 0) {
        attributes->read_format = 0; /* before Linux 6.0 */
        *descriptor = open_event(attributes, thread, processor);
    }
    if (*descriptor < 0 && errno == EINVAL && attributes->inherit_thread) {
        attributes->inherit_thread = 0; /* before Linux 5.13; children are left out later */
        *descriptor = open_event(attributes, thread, processor);
    }
    return *descriptor < 0 ? errno : 0;
}

/* A processor that is off is skipped; a machine without the hardware says the same of all. */
static int open_all(struct opening *opening, pid_t thread, int processor, struct error *error)
{
    for (int role = 0; role < RING_ROLE_COUNT; role++) {
        int descriptor;
        if (!opening->uses[role])
            continue;
        int reason = open_on(opening, (enum perf_ring_role)role, thread, processor, &descriptor);
        if (role == RING_OF_WAIT_STACKS && (reason == EACCES || reason == EPERM)) {
            opening->uses[role] = opening->events->has_wait_stacks = false;
            continue; /* when they waited is permitted */
        }
        if (reason != 0)
            return reason == ENODEV ? 0 : reason;
        if (!keep_descriptor(opening->events, descriptor, (enum perf_ring_role)role)) {
            error_set_memory(error);
            return FAILED;
        }
        if (!connect_ring(opening, descriptor, processor, (enum perf_ring_role)role, error))
            return FAILED;
    }
    return 0;
}

static int open_thread(struct opening *opening, pid_t thread, struct error *error)
{
    int reason = 0;
    for (int processor = 0; reason == 0 && processor < opening->processors; processor++)
        reason = open_all(opening, thread, processor, error);
    return reason;
}

/* Threads that have exited meanwhile are skipped, also the first: others may outlive it. */
static int open_threads(struct opening *opening, pid_t pid, struct error *error)
{
    bool has_thread = false;
    opening->thread_count = 0;
    int reason = add_threads(opening, pid);
    for (size_t i = 0; reason == 0 && i < opening->thread_count; i++) {
        reason = open_thread(opening, opening->threads[i], error);
        has_thread |= reason == 0;
        if (reason == ESRCH)
            reason = 0;
    }
    return reason == 0 && !has_thread ? ESRCH : reason;
}

static bool open_processes(struct opening *opening, struct error *error)
{
    const struct perf_request *request = opening->request;
    for (size_t i = 0; i < request->pid_count; i++) {
        int reason = open_threads(opening, request->pids[i], error);
        bool is_forbidden = reason == EACCES || reason == EPERM;
        if (reason == FAILED)
            return false;
        if (reason != 0 && (i < request->root_count || (reason != ESRCH && !is_forbidden)))
            return explain(reason, request->pids[i], &request->choice, error);
        opening->events->forbidden += is_forbidden;
    }
    return true;
}

/* What the kernel does not let through needs no copy of a stack. Best effort. */
static void filter_namespace(const struct perf_events *events)
{
    int filter = namespace_filter_open();
    for (size_t i = 0; filter >= 0 && i < events->count; i++)
        if (events->opened[i].role == RING_OF_SAMPLES || events->opened[i].role == RING_OF_WAIT_STACKS)
            (void)ioctl(events->opened[i].descriptor, PERF_EVENT_IOC_SET_BPF, filter);
    if (filter >= 0)
        close(filter);
}

static bool open_machine(struct opening *opening, struct error *error)
{
    int reason = open_thread(opening, -1, error);
    if (reason == 0 && opening->request->whole_machine)
        filter_namespace(opening->events);
    return reason == 0 || (reason != FAILED && explain(reason, -1, &opening->request->choice, error));
}

/* ---- wakers ---- */

/* NULL, or why not. */
static const char *describe_wakers(struct opening *opening)
{
    static char format[MOST_FORMAT_BYTES];
    char id[32];
    uint64_t number;
    struct perf_event_attr *attributes = &opening->attributes[RING_OF_WAKERS];
    struct perf_waking_format *waking = &opening->events->waking;
    if (!namespace_is_first()) /* whose numbers its records have */
        return "in a PID namespace";
    int reason = tracefs_read(WAKING "/id", id, sizeof(id));
    if (reason == 0)
        reason = tracefs_read(WAKING "/format", format, sizeof(format));
    if (reason == EACCES || reason == EPERM)
        return "/sys/kernel/tracing may not be read by this user";
    if (reason == ENODEV)
        return "tracefs is not mounted (mount -t tracefs tracefs /sys/kernel/tracing)";
    if (reason != 0 || !text_to_u64(text_trim(text_of(id)), &number) ||
        !tracefs_find_field(format, "pid", sizeof(pid_t), &waking->pid) ||
        !tracefs_find_field(format, "common_flags", 1, &waking->flags))
        return "this kernel has no tracepoint sched:sched_waking";
    *attributes = describe_records();
    attributes->type = PERF_TYPE_TRACEPOINT;
    attributes->config = number;
    attributes->exclude_kernel = 0;
    attributes->sample_period = 1;
    attributes->sample_type = PERF_WAKING_FIELDS;
    attributes->read_format = PERF_FORMAT_LOST;
    return NULL;
}

/* Whoever wakes a thread may be any, so there is one event for each processor. Without them nothing else is missing. */
static void open_wakers(struct opening *opening)
{
    struct perf_events *events = opening->events;
    struct perf_event_attr *attributes = &opening->attributes[RING_OF_WAKERS];
    struct error ignored = {0};
    events->no_wakers = describe_wakers(opening);
    for (int processor = 0; events->no_wakers == NULL && processor < opening->processors; processor++) {
        int descriptor = open_event(attributes, -1, processor);
        if (descriptor < 0 && errno == EINVAL && attributes->read_format != 0) {
            attributes->read_format = 0; /* before Linux 6.0 */
            descriptor = open_event(attributes, -1, processor);
        }
        if (descriptor < 0 && errno == ENODEV)
            continue; /* it is off */
        if (descriptor < 0)
            events->no_wakers =
                "perf events of the whole machine are not permitted: kernel.perf_event_paranoid "
                "must be -1, without CAP_PERFMON";
        else if (!keep_descriptor(events, descriptor, RING_OF_WAKERS) ||
                 !connect_ring(opening, descriptor, processor, RING_OF_WAKERS, &ignored))
            events->no_wakers = "no ring for them: raise kernel.perf_event_mlock_kb or ulimit -l";
    }
    opening->lacks_ring = false;
    events->has_wakers = events->no_wakers == NULL;
}

/* ---- all ---- */

static bool is_better_on_machine(struct opening *opening)
{
    const struct perf_request *request = opening->request;
    opening->thread_count = 0;
    for (size_t i = 0; i < request->pid_count; i++)
        if (add_threads(opening, request->pids[i]) == ENOMEM)
            return false;
    return opening->thread_count * (size_t)opening->processors * opening->roles > MOST_THREAD_EVENTS &&
           perf_events_try(-1, true) == 0;
}

/* Of software events the kernel must not choose the period: with bursts it gets away from what really happens. With
 * PERF_SAMPLE_PERIOD it would take each event, so another field of that size has its place. */
static void choose_period(struct perf_event_attr *attributes, const struct perf_request *request)
{
    const struct perf_event_choice *choice = &request->choice;
    int most_hz = read_setting("/proc/sys/kernel/perf_event_max_sample_rate");
    int64_t hz = SECOND_NS / request->period_ns;
    attributes->sample_period = choice->is_clock ? (uint64_t)request->period_ns : request->count;
    if (request->count > 0 && !choice->is_clock)
        attributes->sample_type ^= PERF_SAMPLE_PERIOD | PERF_SAMPLE_CPU;
    if (choice->is_clock || request->count > 0)
        return;
    attributes->freq = 1;
    attributes->sample_freq = (uint64_t)(hz < 1 ? 1 : most_hz > 0 && hz > most_hz ? most_hz : hz);
}

static bool prepare(struct opening *opening, bool on_machine)
{
    const struct perf_request *request = opening->request;
    size_t count = (size_t)opening->processors * RING_ROLE_COUNT;
    opening->owners = malloc(count * sizeof(*opening->owners));
    opening->events->rings = calloc(count, sizeof(*opening->events->rings));
    for (size_t i = 0; opening->owners != NULL && i < count; i++)
        opening->owners[i] = -1;
    describe(&opening->attributes[RING_OF_SAMPLES], &request->choice, true);
    describe_changes(&opening->attributes[RING_OF_CHANGES]);
    choose_period(&opening->attributes[RING_OF_SAMPLES], request);
    describe_switches(&opening->attributes[RING_OF_SWITCHES]);
    describe(&opening->attributes[RING_OF_WAIT_STACKS], &each_switch, true);
    opening->attributes[RING_OF_WAIT_STACKS].sample_period = 1;
    for (int role = 0; role < RING_ROLE_COUNT; role++) {
        struct perf_event_attr *attributes = &opening->attributes[role];
        attributes->read_format = PERF_FORMAT_LOST;
        attributes->inherit = !on_machine;
        attributes->inherit_thread = !on_machine && !request->inherits;
        attributes->disabled = attributes->enable_on_exec = request->starts_on_exec && !on_machine;
    }
    return opening->owners != NULL && opening->events->rings != NULL;
}

static void choose_roles(struct opening *opening)
{
    const struct perf_request *request = opening->request;
    opening->uses[RING_OF_CHANGES] = true;
    opening->uses[RING_OF_SAMPLES] = request->wants_samples;
    opening->uses[RING_OF_SWITCHES] = opening->uses[RING_OF_WAIT_STACKS] = request->wants_waits;
    opening->roles = 0;
    for (int role = 0; role < RING_ROLE_COUNT; role++)
        opening->roles += opening->uses[role];
}

static bool try_opening(struct opening *opening, bool on_machine, struct error *error)
{
    opening->lacks_ring = false;
    *opening->events =
        (struct perf_events){.has_kernel = true, .has_wait_stacks = opening->request->wants_waits};
    choose_roles(opening);
    bool good = prepare(opening, on_machine) || error_set_memory(error);
    if (good)
        good = on_machine ? open_machine(opening, error) : open_processes(opening, error);
    if (good && opening->request->wants_waits)
        open_wakers(opening);
    free(opening->owners);
    opening->owners = NULL;
    return good;
}

/* All rings have the same sizes: with large ones for the first processors, nothing may be left for the others. */
bool perf_events_open(struct perf_events *events, const struct perf_request *request, struct error *error)
{
    struct opening opening = {
        .events = events, .request = request, .processors = sysconf(_SC_NPROCESSORS_CONF)};
    if (opening.processors > MOST_PROCESSORS)
        opening.processors = MOST_PROCESSORS;
    choose_roles(&opening);
    bool on_machine = request->whole_machine || is_better_on_machine(&opening);
    file_limit_raise();
    bool good = try_opening(&opening, on_machine, error);
    while (!good && opening.lacks_ring && opening.halvings < MOST_HALVINGS) {
        perf_events_release(events);
        opening.halvings++;
        good = try_opening(&opening, on_machine, error);
    }
    free(opening.threads);
    return good;
}

void perf_events_stop(struct perf_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        (void)ioctl(events->opened[i].descriptor, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t perf_events_lost(const struct perf_events *events, enum perf_ring_role role)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < events->count; i++) {
        uint64_t counts[2] = {0, 0}; /* of all, of lost ones */
        if (events->opened[i].role == role &&
            read(events->opened[i].descriptor, counts, sizeof(counts)) == (ssize_t)sizeof(counts))
            sum += counts[1];
    }
    return sum;
}

void perf_events_release(struct perf_events *events)
{
    for (size_t i = 0; i < events->ring_count; i++)
        perf_ring_release(&events->rings[i]);
    for (size_t i = 0; i < events->count; i++)
        close(events->opened[i].descriptor);
    free(events->rings);
    free(events->opened);
    *events = (struct perf_events){.rings = NULL};
}
