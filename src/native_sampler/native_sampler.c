#include "native_sampler/native_sampler.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "native_sampler/native_stacks.h"
#include "native_sampler/perf_events.h"
#include "native_sampler/process_tree.h"
#include "native_sampler/thread_times.h"
#include "native_sampler/waiting_stack.h"

#define SECOND_NS INT64_C(1000000000)
#define LONGEST_PAUSE_NS (SECOND_NS / 10)
#define LEAST_PAUSE_NS (SECOND_NS / 500)
#define LEAST_ASKED_NS (SECOND_NS / 20) /* shorter waits would cost too much to ask for */
#define MOST_ASKED 256                  /* between two looks at the rings */
#define OWN_NICE (-10)
#define LEAST_INTERVAL_NS 10000 /* the kernel takes no less for cpu-clock */

struct native_sampler {
    struct native_sampler_options options;
    struct profile *profile;
    uint32_t event;
    struct perf_events events;
    struct native_stacks stacks;
    struct thread_times times;
    struct waiting_stack waiting;
    struct native_sampler_statistics statistics;
    int64_t to_real_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    int64_t pause_ns;   /* between two looks at the rings */
    int64_t longest_pause_ns;
    int64_t looked_ns; /* when for processes that have ended, and threads that wait */
    atomic_size_t live;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* ---- samples ---- */

static bool is_left_out(const struct native_sampler *sampler, const struct process_image *image)
{
    const struct native_sampler_options *options = &sampler->options;
    if (!image->has_python || !options->leaves_out_python)
        return false;
    for (size_t i = 0; i < options->pid_count && !options->starts_on_exec; i++)
        if (options->pids[i] == image->pid)
            return false;
    return true;
}

static bool add_sample(struct native_sampler *sampler, const struct perf_record *record, uint32_t stack)
{
    const struct native_sampler_options *options = &sampler->options;
    struct sample sample = {
        .stack = stack,
        .context = native_stacks_context(&sampler->stacks, record->pid, record->tid, TEXT("running"), 0),
        .event = sampler->event,
        .time_ns = record->time_ns + sampler->to_real_ns,
        .value = (double)(options->event.is_clock ? (uint64_t)options->interval_ns
                          : options->count > 0    ? options->count
                                                  : record->period),
        .count = 1,
    };
    return sample.context != NO_CONTEXT && profile_add_sample(sampler->profile, &sample);
}

static bool take_stack(struct native_sampler *sampler, const struct perf_record *record,
                       enum perf_ring_role role, uint32_t stack)
{
    struct thread_times *times = &sampler->times;
    if (stack == NO_STACK)
        return false;
    if (role == RING_OF_WAIT_STACKS)
        return thread_times_wait_stack(times, record->pid, record->tid, record->time_ns, stack);
    sampler->statistics.samples++;
    return sampler->options.kind == NATIVE_WALL
               ? thread_times_sample(times, record->pid, record->tid, record->time_ns, stack)
               : add_sample(sampler, record, stack);
}

static bool take_sample(struct native_sampler *sampler, const struct perf_record *record,
                        enum perf_ring_role role, int64_t now_ns)
{
    struct process_table *table = &sampler->stacks.table;
    if (!process_table_is_target(table, record->pid))
        return true;
    struct process_image *image = process_table_image(table, record->pid, now_ns);
    if (image == NULL)
        return false;
    if (is_left_out(sampler, image)) {
        sampler->statistics.left_out += role == RING_OF_SAMPLES;
        return true;
    }
    return take_stack(sampler, record, role,
                      native_stacks_add(&sampler->stacks, image, record->tid, &record->stack, now_ns));
}

/* ---- times of threads ---- */

static uint32_t add_state_frame(struct native_sampler *sampler, uint32_t stack,
                                enum thread_interval_state state)
{
    struct profile *profile = sampler->profile;
    struct text_view name = state == THREAD_WAITING    ? TEXT("[waiting]")
                            : state == THREAD_RUNNABLE ? TEXT("[runnable]")
                                                       : TEXT("[preempted]");
    if (state == THREAD_RUNNING || stack == NO_STACK)
        return stack;
    uint32_t frame = profile_frame(profile, name, TEXT(""), 0, FRAME_CLASS);
    return frame == NO_FRAME ? NO_STACK : stack_tree_child(&profile->stacks, stack, frame);
}

/* Running threads take part in the event "wall" only. */
static bool deliver_interval(void *context, const struct thread_interval *interval)
{
    static const struct text_view states[] = {TEXT("running"), TEXT("waiting"), TEXT("preempted"),
                                              TEXT("runnable")};
    struct native_sampler *sampler = context;
    struct native_stacks *stacks = &sampler->stacks;
    struct process_image *image =
        process_table_image(&stacks->table, interval->pid, clock_ns(CLOCK_MONOTONIC));
    bool is_wait = interval->state != THREAD_RUNNING, is_known = interval->stack != NO_THREAD_STACK;
    if (image == NULL)
        return false;
    if ((!is_wait && sampler->options.kind == NATIVE_OFF_CPU) || is_left_out(sampler, image))
        return true;
    uint32_t stack = is_known
                         ? interval->stack
                         : native_stacks_add_only(stacks, interval->pid, interval->tid, TEXT("[no stack]"));
    struct sample sample = {
        .stack = add_state_frame(sampler, stack, interval->state),
        .context = native_stacks_context(stacks, interval->pid, interval->tid, states[interval->state],
                                         interval->waker == NO_WAKER ? 0 : interval->waker),
        .event = sampler->event,
        .time_ns = interval->start_ns + sampler->to_real_ns,
        .value = (double)interval->duration_ns,
        .count = 1,
    };
    is_wait = is_wait && interval->state != THREAD_RUNNABLE; /* the rest of a wait */
    sampler->statistics.waits += is_wait;
    sampler->statistics.unknown_waits += is_wait && !is_known;
    sampler->statistics.woken_waits += interval->waker != NO_WAKER;
    return sample.stack != NO_STACK && sample.context != NO_CONTEXT &&
           profile_add_sample(sampler->profile, &sample);
}

static bool take_switch(struct native_sampler *sampler, const struct perf_record *record)
{
    struct thread_times *times = &sampler->times;
    pid_t pid = record->pid, tid = record->tid;
    if (!process_table_is_target(&sampler->stacks.table, pid))
        return true;
    return record->kind == PERF_KIND_SWITCH_IN
               ? thread_times_switch_in(times, pid, tid, record->time_ns)
               : thread_times_switch_out(times, pid, tid, record->time_ns, record->was_preempted);
}

/* The name of the thread that woke it. A processor that does nothing is woken by an interrupt, too. */
static bool take_waking(struct native_sampler *sampler, const struct perf_record *record)
{
    struct native_stacks *stacks = &sampler->stacks;
    if (!thread_times_is_waiting(&sampler->times, record->woken_tid))
        return true;
    uint32_t waker = record->is_interrupt || record->pid <= 0
                         ? profile_string(sampler->profile, TEXT("[interrupt]"))
                         : process_table_thread_name(&stacks->table, record->pid, record->tid);
    if (waker != NO_STRING)
        thread_times_woken(&sampler->times, record->woken_tid, record->time_ns, waker);
    return waker != NO_STRING;
}

/* Starts, ends and programs, which the table of processes has seen already. */
static bool follow_threads(struct native_sampler *sampler, const struct perf_record *record)
{
    struct thread_times *times = &sampler->times;
    if (sampler->options.kind == NATIVE_EVENT ||
        !process_table_is_target(&sampler->stacks.table, record->pid))
        return true;
    if (record->kind == PERF_KIND_START)
        return thread_times_start(times, record->pid, record->tid);
    if (record->kind == PERF_KIND_EXIT)
        return thread_times_exit(times, record->tid, record->time_ns);
    return record->kind != PERF_KIND_NAME || !record->is_exec ||
           thread_times_exec(times, record->pid, record->tid, record->time_ns);
}

/* Stacks of threads that wait since before the recording, or whose switch was lost or not permitted. */
static bool ask_waiting(struct native_sampler *sampler, int64_t now_ns)
{
    struct thread_times *times = &sampler->times;
    size_t asked = 0;
    for (size_t i = 0; i < times->count && asked < MOST_ASKED; i++) {
        struct thread_time *thread = &times->threads[i];
        if (!thread_time_lacks_stack(thread, now_ns, LEAST_ASKED_NS))
            continue;
        struct process_image *image = process_table_image(&sampler->stacks.table, thread->pid, now_ns);
        if (image == NULL)
            return false;
        thread->was_asked = true;
        asked++;
        if (is_left_out(sampler, image) || !waiting_stack_read(&sampler->waiting, thread->pid, thread->tid))
            continue;
        uint32_t stack =
            native_stacks_add(&sampler->stacks, image, thread->tid, &sampler->waiting.stack, now_ns);
        if (stack == NO_STACK)
            return false;
        thread_time_set_stack(thread, stack, clock_ns(CLOCK_MONOTONIC));
    }
    return true;
}

static bool add_threads_of(struct native_sampler *sampler, pid_t pid)
{
    char path[64];
    uint64_t number;
    bool good = true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; good && folder != NULL && (entry = readdir(folder)) != NULL;)
        if (text_to_u64(text_of(entry->d_name), &number))
            good = thread_times_add(&sampler->times, pid, (pid_t)number);
    if (folder != NULL)
        closedir(folder);
    return good;
}

/* ---- all records ---- */

static void take_record(struct native_sampler *sampler, const unsigned char *bytes, size_t size,
                        enum perf_ring_role role, int64_t now_ns)
{
    struct perf_record record;
    uint64_t lost_stacks = 0;
    struct native_sampler_statistics *statistics = &sampler->statistics;
    bool is_record = role == RING_OF_WAKERS
                         ? perf_record_decode_waking(&record, bytes, size, &sampler->events.waking)
                         : perf_record_decode(&record, bytes, size);
    if (!is_record || statistics->failed)
        return;
    *(role == RING_OF_SAMPLES    ? &statistics->lost
      : role == RING_OF_CHANGES  ? &statistics->lost_changes
      : role == RING_OF_SWITCHES ? &statistics->lost_switches
      : role == RING_OF_WAKERS   ? &statistics->lost_wakers
                                 : &lost_stacks) += record.lost; /* waits without stack are counted */
    statistics->throttled += record.kind == PERF_KIND_THROTTLED;
    bool good;
    if (record.kind == PERF_KIND_WAKING)
        good = take_waking(sampler, &record);
    else if (record.kind == PERF_KIND_SAMPLE)
        good = take_sample(sampler, &record, role, now_ns);
    else if (record.kind == PERF_KIND_SWITCH_IN || record.kind == PERF_KIND_SWITCH_OUT)
        good = take_switch(sampler, &record);
    else
        good =
            process_table_apply(&sampler->stacks.table, &record, now_ns) && follow_threads(sampler, &record);
    statistics->failed = !good;
}

/* The ring with the oldest record; NULL: none has one of before the limit. */
static struct perf_ring *find_oldest(struct perf_events *events, int64_t limit_ns,
                                     const unsigned char **bytes, size_t *size)
{
    struct perf_ring *oldest = NULL;
    int64_t oldest_ns = limit_ns;
    for (size_t i = 0; i < events->ring_count; i++) {
        size_t ring_size;
        int64_t time_ns = 0;
        const unsigned char *record = perf_ring_next(&events->rings[i], &ring_size);
        if (record == NULL || (perf_record_time(record, ring_size, &time_ns) && time_ns >= oldest_ns))
            continue;
        oldest = &events->rings[i];
        oldest_ns = time_ns;
        *bytes = record;
        *size = ring_size;
    }
    return oldest;
}

/* Events that are not of a clock come at any rate, so it is seen from the rings how long it takes to fill them. */
static void adapt_pause(struct native_sampler *sampler)
{
    bool fills = false;
    for (size_t i = 0; i < sampler->events.ring_count; i++) {
        const struct perf_ring *ring = &sampler->events.rings[i];
        fills |= ring->head - ring->tail > ring->size / 4;
    }
    int64_t pause_ns = fills ? sampler->pause_ns / 2 : sampler->pause_ns + sampler->pause_ns / 4;
    sampler->pause_ns = pause_ns < LEAST_PAUSE_NS              ? LEAST_PAUSE_NS
                        : pause_ns > sampler->longest_pause_ns ? sampler->longest_pause_ns
                                                               : pause_ns;
}

/* In the order of time, since a thread may have started on another processor. Records of before the limit are in the
 * rings when they are looked at. */
static void take_records(struct native_sampler *sampler, int64_t limit_ns)
{
    struct perf_events *events = &sampler->events;
    struct perf_ring *ring;
    const unsigned char *bytes;
    size_t size;
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < events->ring_count; i++)
        perf_ring_look(&events->rings[i]);
    adapt_pause(sampler);
    while ((ring = find_oldest(events, limit_ns, &bytes, &size)) != NULL) {
        take_record(sampler, bytes, size, ring->role, now_ns);
        perf_ring_pass(ring, size);
    }
    process_table_sweep(&sampler->stacks.table, now_ns);
}

/* On a busy machine, samples are lost when this thread does not run. Best effort: needs CAP_SYS_NICE. */
static void take_precedence(void)
{
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), OWN_NICE);
}

int64_t native_sampler_take(struct native_sampler *sampler)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    take_records(sampler, now_ns);
    if (now_ns - sampler->looked_ns < LONGEST_PAUSE_NS)
        return sampler->pause_ns;
    sampler->looked_ns = now_ns;
    if (sampler->options.kind != NATIVE_EVENT && !sampler->statistics.failed)
        sampler->statistics.failed = !ask_waiting(sampler, now_ns);
    atomic_store(&sampler->live, process_table_live(&sampler->stacks.table));
    return sampler->pause_ns;
}

static void count_lost_of(const struct native_sampler *sampler, enum perf_ring_role role, uint64_t *lost)
{
    uint64_t known = perf_events_lost(&sampler->events, role);
    if (known > *lost)
        *lost = known;
}

/* The last ones that were lost have no record. */
static void count_lost(struct native_sampler *sampler)
{
    count_lost_of(sampler, RING_OF_SAMPLES, &sampler->statistics.lost);
    count_lost_of(sampler, RING_OF_CHANGES, &sampler->statistics.lost_changes);
    count_lost_of(sampler, RING_OF_SWITCHES, &sampler->statistics.lost_switches);
    count_lost_of(sampler, RING_OF_WAKERS, &sampler->statistics.lost_wakers);
}

void native_sampler_run(struct native_sampler *sampler, const atomic_bool *stop)
{
    take_precedence();
    while (!atomic_load_explicit(stop, memory_order_relaxed)) {
        struct timespec pause = {.tv_nsec = (long)sampler->pause_ns};
        nanosleep(&pause, NULL);
        (void)native_sampler_take(sampler);
    }
    int64_t end_ns = clock_ns(CLOCK_MONOTONIC);
    perf_events_stop(&sampler->events);
    take_records(sampler, INT64_MAX);
    count_lost(sampler);
    if (!sampler->statistics.failed)
        sampler->statistics.failed = !thread_times_finish(&sampler->times, end_ns);
}

/* ---- start and end ---- */

/* A quarter of the smallest ring may fill up meanwhile. */
static int64_t choose_pause(const struct native_sampler *sampler)
{
    int64_t pause_ns = LONGEST_PAUSE_NS;
    for (size_t i = 0; i < sampler->events.ring_count; i++) {
        const struct perf_ring *ring = &sampler->events.rings[i];
        if (ring->role != RING_OF_SAMPLES)
            continue;
        int64_t samples = (int64_t)(ring->size / 4 / (PERF_STACK_BYTES + 2048));
        int64_t fitting_ns = (samples > 0 ? samples : 1) * sampler->options.interval_ns;
        if (fitting_ns < pause_ns)
            pause_ns = fitting_ns;
    }
    return pause_ns < LEAST_PAUSE_NS ? LEAST_PAUSE_NS : pause_ns;
}

static bool open_events(struct native_sampler *sampler, const struct process_tree *tree, struct error *error)
{
    const struct native_sampler_options *options = &sampler->options;
    struct perf_request request = {
        .pids = tree->pids,
        .pid_count = tree->count,
        .root_count = tree->root_count,
        .whole_machine = options->whole_machine,
        .inherits = options->follow_children,
        .starts_on_exec = options->starts_on_exec,
        .wants_samples = options->kind != NATIVE_OFF_CPU,
        .wants_waits = options->kind != NATIVE_EVENT,
        .choice = options->event,
        .period_ns = options->interval_ns,
        .count = options->count,
    };
    return perf_events_open(&sampler->events, &request, error);
}

/* The code of processes is known before they start others. */
static bool add_targets(struct native_sampler *sampler, const struct process_tree *tree)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    const struct native_sampler_options *options = &sampler->options;
    sampler->times.begin_ns = now_ns;
    for (size_t i = 0; i < tree->count; i++) {
        if (!process_table_add_target(&sampler->stacks.table, tree->pids[i]) ||
            process_table_image(&sampler->stacks.table, tree->pids[i], now_ns) == NULL)
            return false;
        if (options->kind != NATIVE_EVENT && !options->starts_on_exec &&
            !add_threads_of(sampler, tree->pids[i]))
            return false;
    }
    return true;
}

static bool is_steady(const struct native_sampler_options *options)
{
    return options->kind == NATIVE_EVENT && options->event.is_clock;
}

/* Waits have lengths of their own; samples of processor time have one, so that their number can be shown. */
static uint32_t add_event(struct native_sampler *sampler)
{
    const struct native_sampler_options *options = &sampler->options;
    bool is_clock = options->event.is_clock;
    if (options->kind == NATIVE_EVENT)
        return profile_event(sampler->profile, text_of(options->event.name),
                             is_clock ? UNIT_NANOSECONDS : UNIT_COUNT, !is_clock);
    return profile_event(sampler->profile, options->kind == NATIVE_WALL ? TEXT("wall") : TEXT("offcpu"),
                         UNIT_NANOSECONDS, true);
}

static bool start(struct native_sampler *sampler, struct error *error)
{
    struct process_tree tree;
    const struct native_sampler_options *options = &sampler->options;
    sampler->event = add_event(sampler);
    bool good = process_tree_read(&tree, options->pids, options->pid_count, options->follow_children) &&
                sampler->event != EVENT_LIMIT;
    for (size_t i = 0; good && i < options->excluded_count; i++)
        process_tree_leave_out(&tree, options->excluded[i]);
    good = good || error_set_memory(error);
    good = good && open_events(sampler, &tree, error);
    good = good && (add_targets(sampler, &tree) || error_set_memory(error));
    atomic_store(&sampler->live, options->whole_machine ? 1 : tree.count);
    process_tree_release(&tree);
    sampler->longest_pause_ns = choose_pause(sampler);
    sampler->pause_ns = is_steady(options) ? sampler->longest_pause_ns : LEAST_PAUSE_NS;
    return good;
}

struct native_sampler *native_sampler_new(const struct native_sampler_options *options,
                                          struct profile *profile, struct error *error)
{
    struct native_sampler *sampler = calloc(1, sizeof(*sampler));
    if (sampler == NULL) {
        error_set_memory(error);
        return NULL;
    }
    sampler->options = *options;
    if (sampler->options.interval_ns < LEAST_INTERVAL_NS)
        sampler->options.interval_ns = LEAST_INTERVAL_NS;
    if (options->kind != NATIVE_EVENT)
        sampler->options.event = perf_event_cpu;
    if (options->count == 0 && !sampler->options.event.is_of_hardware)
        sampler->options.count = 1;
    sampler->profile = profile;
    sampler->to_real_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    native_stacks_init(&sampler->stacks, profile);
    sampler->stacks.group_by_thread = options->group_by_thread;
    sampler->stacks.group_by_process = options->group_by_process;
    sampler->stacks.table.whole_machine = options->whole_machine;
    sampler->stacks.table.follow_children = options->follow_children;
    thread_times_init(&sampler->times, deliver_interval, sampler);
    if (start(sampler, error))
        return sampler;
    native_sampler_free(sampler);
    return NULL;
}

size_t native_sampler_live(const struct native_sampler *sampler)
{
    return atomic_load(&sampler->live);
}

struct native_sampler_statistics native_sampler_statistics(const struct native_sampler *sampler)
{
    struct native_sampler_statistics statistics = sampler->statistics;
    statistics.forbidden = sampler->events.forbidden;
    statistics.has_kernel = sampler->events.has_kernel;
    statistics.has_wait_stacks = sampler->events.has_wait_stacks;
    statistics.no_wakers = sampler->events.no_wakers;
    statistics.cut = sampler->stacks.cut;
    statistics.broken = sampler->stacks.broken;
    statistics.has_kernel_names = !sampler->stacks.names.kernel_is_hidden;
    return statistics;
}

void native_sampler_free(struct native_sampler *sampler)
{
    if (sampler == NULL)
        return;
    perf_events_release(&sampler->events);
    native_stacks_release(&sampler->stacks);
    thread_times_release(&sampler->times);
    free(sampler);
}
