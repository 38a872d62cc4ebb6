#include "native_sampler/thread_times.h"

#include <stdlib.h>

#include "base/array.h"

#define MOST_THREADS ((size_t)1 << 22) /* the kernel's limit of numbers */

void thread_times_init(struct thread_times *times,
                       bool (*deliver)(void *context, const struct thread_interval *interval), void *context)
{
    *times = (struct thread_times){.deliver = deliver, .context = context};
    id_map_init(&times->places);
}

void thread_times_release(struct thread_times *times)
{
    free(times->threads);
    id_map_release(&times->places);
    thread_times_init(times, times->deliver, times->context);
}

static void reset(struct thread_time *thread, pid_t pid, pid_t tid, enum thread_activity activity,
                  int64_t since_ns)
{
    *thread = (struct thread_time){
        .pid = pid,
        .tid = tid,
        .activity = activity,
        .since_ns = since_ns,
        .wait_stack = NO_THREAD_STACK,
        .running_stack = NO_THREAD_STACK,
        .waker = NO_WAKER,
    };
}

/* The thread's, which is new if there is none. NULL: out of memory. */
static struct thread_time *find(struct thread_times *times, pid_t pid, pid_t tid)
{
    uint32_t place = id_map_get(&times->places, (uint64_t)tid);
    if (place != NO_ID)
        return &times->threads[place];
    if (!array_reserve(&times->threads, &times->capacity, times->count + 1, MOST_THREADS) ||
        !id_map_set(&times->places, (uint64_t)tid, (uint32_t)times->count))
        return NULL;
    struct thread_time *thread = &times->threads[times->count++];
    reset(thread, pid, tid, THREAD_UNSEEN, times->begin_ns);
    return thread;
}

static bool deliver(struct thread_times *times, const struct thread_time *thread,
                    enum thread_interval_state state, uint32_t stack, int64_t start_ns, int64_t duration_ns)
{
    struct thread_interval interval = {.pid = thread->pid,
                                       .tid = thread->tid,
                                       .state = state,
                                       .stack = stack,
                                       .start_ns = start_ns,
                                       .duration_ns = duration_ns,
                                       .waker = state == THREAD_WAITING ? thread->waker : NO_WAKER};
    return duration_ns <= 0 || times->deliver(times->context, &interval);
}

/* One that was read from outside is of this wait only if the wait lasted until then. */
static uint32_t stack_of_wait(const struct thread_time *thread, int64_t to_ns)
{
    if (thread->is_stack_of_outside && thread->wait_stack_ns > to_ns)
        return NO_THREAD_STACK;
    return thread->wait_stack;
}

static bool deliver_wait(struct thread_times *times, struct thread_time *thread, int64_t from_ns,
                         int64_t to_ns)
{
    uint32_t stack = stack_of_wait(thread, to_ns);
    enum thread_interval_state state = thread->was_preempted ? THREAD_PREEMPTED : THREAD_WAITING;
    bool was_woken = state == THREAD_WAITING && thread->woken_ns != 0 && thread->woken_ns >= from_ns &&
                     thread->woken_ns <= to_ns;
    int64_t until_ns = was_woken ? thread->woken_ns : to_ns;
    thread->waker = was_woken ? thread->waker : NO_WAKER;
    thread->wait_stack = NO_THREAD_STACK;
    thread->is_stack_of_outside = thread->was_asked = thread->was_preempted = false;
    thread->woken_ns = 0;
    bool good = deliver(times, thread, state, stack, from_ns, until_ns - from_ns) &&
                deliver(times, thread, THREAD_RUNNABLE, stack, until_ns, to_ns - until_ns);
    thread->waker = NO_WAKER;
    return good;
}

static void become(struct thread_time *thread, enum thread_activity activity, int64_t time_ns)
{
    thread->activity = activity;
    thread->since_ns = time_ns;
    thread->next_in_ns = 0;
}

static void add_running(struct thread_time *thread, int64_t time_ns)
{
    if (time_ns > thread->since_ns)
        thread->running_ns += time_ns - thread->since_ns;
}

bool thread_times_add(struct thread_times *times, pid_t pid, pid_t tid)
{
    return find(times, pid, tid) != NULL;
}

bool thread_times_start(struct thread_times *times, pid_t pid, pid_t tid)
{
    struct thread_time *thread = find(times, pid, tid);
    if (thread == NULL)
        return false;
    reset(thread, pid, tid, THREAD_NEW, 0);
    return true;
}

bool thread_times_exec(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns)
{
    uint32_t place = id_map_get(&times->places, (uint64_t)tid);
    /* The first thread's number may be that of another one since: the one that executes the program takes it. */
    if (place != NO_ID && times->threads[place].activity != THREAD_ENDED)
        return true;
    struct thread_time *thread = find(times, pid, tid);
    if (thread == NULL)
        return false;
    reset(thread, pid, tid, THREAD_RUNS, time_ns);
    return true;
}

static bool deliver_rest(struct thread_times *times, struct thread_time *thread, int64_t end_ns)
{
    int64_t running_ns = thread->running_ns;
    thread->running_ns = 0;
    return deliver(times, thread, THREAD_RUNNING, thread->running_stack, end_ns - running_ns, running_ns);
}

bool thread_times_exit(struct thread_times *times, pid_t tid, int64_t time_ns)
{
    uint32_t place = id_map_get(&times->places, (uint64_t)tid);
    if (place == NO_ID)
        return true;
    struct thread_time *thread = &times->threads[place];
    bool good = true;
    if (thread->activity == THREAD_WAITS)
        good = deliver_wait(times, thread, thread->since_ns, time_ns);
    if (thread->activity == THREAD_RUNS || thread->activity == THREAD_UNSEEN)
        add_running(thread, time_ns);
    good = good && deliver_rest(times, thread, time_ns);
    become(thread, THREAD_ENDED, time_ns);
    return good;
}

bool thread_times_switch_in(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns)
{
    struct thread_time *thread = find(times, pid, tid);
    if (thread == NULL)
        return false;
    enum thread_activity before = thread->activity;
    int64_t since_ns = thread->since_ns;
    if (before == THREAD_ENDED || (before == THREAD_WAITS && time_ns < since_ns))
        return true;
    if (before == THREAD_RUNS) {
        thread->next_in_ns = time_ns;
        return true;
    }
    become(thread, THREAD_RUNS, time_ns);
    return before == THREAD_NEW || deliver_wait(times, thread, since_ns, time_ns);
}

bool thread_times_switch_out(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns,
                             bool was_preempted)
{
    struct thread_time *thread = find(times, pid, tid);
    if (thread == NULL)
        return false;
    if (thread->activity == THREAD_ENDED)
        return true;
    if (thread->activity == THREAD_WAITS && !deliver_wait(times, thread, thread->since_ns, time_ns))
        return false; /* the switch to it was lost */
    if (thread->activity == THREAD_RUNS || thread->activity == THREAD_UNSEEN)
        add_running(thread, time_ns);
    /* One of before it ran is of a wait whose record was lost. */
    if (thread->is_stack_of_outside || thread->wait_stack_ns < thread->since_ns)
        thread->wait_stack = NO_THREAD_STACK;
    thread->is_stack_of_outside = thread->was_asked = false;
    thread->was_preempted = was_preempted;
    thread->woken_ns = 0;
    int64_t next_in_ns = thread->next_in_ns;
    if (next_in_ns > time_ns) {
        become(thread, THREAD_RUNS, next_in_ns);
        return deliver_wait(times, thread, time_ns, next_in_ns);
    }
    become(thread, THREAD_WAITS, time_ns);
    return true;
}

bool thread_times_wait_stack(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns,
                             uint32_t stack)
{
    struct thread_time *thread = find(times, pid, tid);
    if (thread == NULL)
        return false;
    /* That of a wait which has no end yet stays: the switch to it was lost, and the next record ends it. */
    if (thread->activity == THREAD_WAITS && !deliver_wait(times, thread, thread->since_ns, time_ns))
        return false;
    if (thread->activity == THREAD_WAITS)
        become(thread, THREAD_RUNS, time_ns);
    thread->wait_stack = stack;
    thread->wait_stack_ns = time_ns;
    thread->is_stack_of_outside = false;
    return true;
}

static struct thread_time *find_waiting(const struct thread_times *times, pid_t tid)
{
    uint32_t place = id_map_get(&times->places, (uint64_t)tid);
    struct thread_time *thread = place == NO_ID ? NULL : &times->threads[place];
    bool waits = thread != NULL && thread->woken_ns == 0 && !thread->was_preempted &&
                 (thread->activity == THREAD_WAITS || thread->activity == THREAD_UNSEEN);
    return waits ? thread : NULL;
}

bool thread_times_is_waiting(const struct thread_times *times, pid_t tid)
{
    return find_waiting(times, tid) != NULL;
}

void thread_times_woken(struct thread_times *times, pid_t tid, int64_t time_ns, uint32_t waker)
{
    struct thread_time *thread = find_waiting(times, tid);
    if (thread == NULL || time_ns < thread->since_ns)
        return;
    thread->woken_ns = time_ns;
    thread->waker = waker;
}

bool thread_times_sample(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns, uint32_t stack)
{
    struct thread_time *thread = find(times, pid, tid);
    if (thread == NULL)
        return false;
    if (thread->activity == THREAD_ENDED || thread->activity == THREAD_NEW)
        return true;
    if (thread->activity == THREAD_WAITS) {
        if (time_ns <= thread->since_ns)
            return true;
        if (!deliver_wait(times, thread, thread->since_ns, time_ns))
            return false;
        become(thread, THREAD_RUNS, time_ns);
    }
    add_running(thread, time_ns);
    int64_t next_in_ns = thread->next_in_ns;
    become(thread, THREAD_RUNS, time_ns > thread->since_ns ? time_ns : thread->since_ns);
    thread->next_in_ns = next_in_ns;
    thread->running_stack = stack;
    return deliver_rest(times, thread, time_ns);
}

bool thread_time_lacks_stack(const struct thread_time *thread, int64_t now_ns, int64_t least_ns)
{
    return (thread->activity == THREAD_WAITS || thread->activity == THREAD_UNSEEN) && !thread->was_asked &&
           !thread->was_preempted && thread->wait_stack == NO_THREAD_STACK &&
           now_ns - thread->since_ns >= least_ns;
}

void thread_time_set_stack(struct thread_time *thread, uint32_t stack, int64_t read_ns)
{
    thread->wait_stack = stack;
    thread->wait_stack_ns = read_ns;
    thread->is_stack_of_outside = true;
}

bool thread_times_finish(struct thread_times *times, int64_t end_ns)
{
    bool good = true;
    for (size_t i = 0; good && i < times->count; i++) {
        struct thread_time *thread = &times->threads[i];
        bool waits = thread->activity == THREAD_WAITS ||
                     (thread->activity == THREAD_UNSEEN && thread->is_stack_of_outside);
        bool runs = thread->activity == THREAD_RUNS || (thread->activity == THREAD_UNSEEN && !waits);
        if (waits)
            good = deliver_wait(times, thread, thread->since_ns, end_ns);
        if (runs)
            add_running(thread, end_ns);
        good = good && deliver_rest(times, thread, end_ns);
        become(thread, THREAD_ENDED, end_ns);
    }
    return good;
}
