#include "python_sampler/python_sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "python_sampler/process_numbers.h"

/* New children of main threads are searched for at each tick, but at most this often; children of all threads, and
 * processes that started another program, less often. */
#define CHILDREN_POLL_NS INT64_C(9000000)
#define THOROUGH_POLL_NS INT64_C(100000000)
/* A Python that is not ready is checked again after twice the time, up to this. */
#define FIRST_PATIENCE_NS INT64_C(5000000)
#define MOST_PATIENCE_NS INT64_C(200000000)
#define CHILDREN_TEXT_BYTES 8192
/* If waiting threads are recorded like others, the thread state is a label, and the kernel is queried only at every
 * eighth tick: for all threads at once, since the first query of a tick costs ten times the second. */
#define ASKED_TICKS 8
#define LEAST_UNASKED_NS INT64_C(1000000)
#define MOST_UNASKED_NS INT64_C(80000000)

struct tracked {
    pid_t pid;                     /* 0: a free entry */
    uint32_t parent;               /* entry of the process that started it; NO_ID: none */
    struct python_process *python; /* NULL: not (yet) known */
    int children_descriptor;       /* -1: not open */
    uint64_t program_hash;         /* of the program's path, if it does not run Python */
    int64_t next_find_ns; /* time of the next search for Python; INT64_MAX: only if the program changes */
    int64_t patience_ns;
};

struct python_sampler {
    struct python_sampler_options options;
    struct python_sampling sampling;
    struct tracked *tracked;
    size_t size;
    size_t capacity;
    size_t live;
    struct id_map places; /* by process id; may refer to an entry that another process took */
    int64_t next_tick_ns; /* 0: none yet */
    int64_t next_children_ns;
    int load_descriptor; /* of /proc/loadavg; -1: not open */
    char newest_number
        [24]; /* last id of a process or thread of this machine, before children were last polled */
    int64_t next_thorough_ns;
    int64_t next_idle_ns;
    int64_t next_ask_ns;
    int64_t wall_clock_lead_ns; /* difference of CLOCK_REALTIME and CLOCK_MONOTONIC */
    uint64_t ticks;
    uint64_t missed_ticks;
    uint64_t processes;
    uint32_t visited_parent;
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

struct python_sampler *python_sampler_new(const struct python_sampler_options *options,
                                          void (*deliver)(void *context, const struct python_stack *stack),
                                          void *context, struct error *error)
{
    struct python_sampler *sampler = calloc(1, sizeof(*sampler));
    if (sampler == NULL || !python_sampling_init(&sampler->sampling) ||
        (options->wants_native && !python_sampling_add_native(&sampler->sampling))) {
        if (sampler != NULL)
            python_sampling_release(&sampler->sampling);
        free(sampler);
        error_set_memory(error);
        return NULL;
    }
    sampler->options = *options;
    sampler->load_descriptor = -1;
    sampler->sampling.want_idle = options->want_idle;
    sampler->sampling.only_gil = options->only_gil;
    sampler->sampling.pauses = options->pauses;
    sampler->sampling.deliver = deliver;
    sampler->sampling.context = context;
    id_map_init(&sampler->places);
    return sampler;
}

static void untrack(struct python_sampler *sampler, struct tracked *tracked)
{
    python_process_free(tracked->python);
    if (tracked->children_descriptor >= 0)
        close(tracked->children_descriptor);
    *tracked = (struct tracked){.children_descriptor = -1};
    sampler->live--;
}

void python_sampler_free(struct python_sampler *sampler)
{
    if (sampler == NULL)
        return;
    for (size_t i = 0; i < sampler->size; i++) {
        if (sampler->tracked[i].pid != 0)
            untrack(sampler, &sampler->tracked[i]);
    }
    if (sampler->load_descriptor >= 0)
        close(sampler->load_descriptor);
    free(sampler->tracked);
    id_map_release(&sampler->places);
    python_sampling_release(&sampler->sampling);
    free(sampler);
}

static uint32_t find_place(const struct python_sampler *sampler, pid_t pid)
{
    uint32_t place = id_map_get(&sampler->places, (uint64_t)pid);
    return place != NO_ID && sampler->tracked[place].pid == pid ? place : NO_ID;
}

/* NO_ID: no space. */
static uint32_t track(struct python_sampler *sampler, pid_t pid, uint32_t parent)
{
    size_t place = 0;
    while (place < sampler->size && sampler->tracked[place].pid != 0)
        place++;
    if (place == sampler->size) {
        if (!array_reserve(&sampler->tracked, &sampler->capacity, sampler->size + 1, PYTHON_MOST_PROCESSES))
            return NO_ID;
        sampler->size++;
    }
    sampler->tracked[place] = (struct tracked){.children_descriptor = -1};
    if (!id_map_set(&sampler->places, (uint64_t)pid, (uint32_t)place))
        return NO_ID;
    sampler->tracked[place].pid = pid;
    sampler->tracked[place].parent = parent;
    sampler->tracked[place].patience_ns = FIRST_PATIENCE_NS;
    sampler->live++;
    return (uint32_t)place;
}

static uint64_t hash_program(pid_t pid)
{
    char link[64], path[4096];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    ssize_t size = readlink(link, path, sizeof(path));
    return hash_bytes(path, size < 0 ? 0 : (size_t)size);
}

/* A zombie still has its id, but no program. */
static bool has_ended(pid_t pid)
{
    char link[64], path[8];
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    return readlink(link, path, sizeof(path)) < 0 && errno == ENOENT;
}

/* First as a forked child, else as a Python process of its own. */
static enum python_find_result find_python(struct python_sampler *sampler, struct tracked *tracked,
                                           int64_t now, struct error *error)
{
    enum python_find_result result = PYTHON_FOUND;
    const struct python_process *parent =
        tracked->parent == NO_ID ? NULL : sampler->tracked[tracked->parent].python;
    if (parent != NULL)
        tracked->python = python_process_new_fork(parent, tracked->pid);
    if (tracked->python == NULL)
        tracked->python = python_process_new(tracked->pid, &result, error);
    if (tracked->python != NULL) {
        sampler->processes++;
        tracked->patience_ns = FIRST_PATIENCE_NS;
        return PYTHON_FOUND;
    }
    tracked->program_hash = hash_program(tracked->pid);
    /* A program that was just started may not have loaded its libraries yet. */
    bool hopeless =
        result == PYTHON_FAILED || (result == PYTHON_NONE && tracked->patience_ns == MOST_PATIENCE_NS);
    tracked->next_find_ns = hopeless ? INT64_MAX : now + tracked->patience_ns;
    tracked->patience_ns =
        tracked->patience_ns < MOST_PATIENCE_NS / 2 ? tracked->patience_ns * 2 : MOST_PATIENCE_NS;
    return result;
}

bool python_sampler_add(struct python_sampler *sampler, pid_t pid, struct error *error)
{
    if (find_place(sampler, pid) != NO_ID)
        return true;
    if (pid <= 0 || has_ended(pid))
        return error_set(error, ERROR_SYSTEM, "there is no process %d", (int)pid);
    uint32_t place = track(sampler, pid, NO_ID);
    if (place == NO_ID)
        return error_set(error, ERROR_MEMORY, "too many processes");
    struct tracked *tracked = &sampler->tracked[place];
    struct error reason;
    switch (find_python(sampler, tracked, now_ns(), &reason)) {
    case PYTHON_FOUND:
    case PYTHON_NOT_READY:
        return true;
    case PYTHON_NONE:
        if (sampler->options.follow_children || sampler->options.wait_for_python)
            return true;
        break;
    case PYTHON_FAILED:
        break;
    }
    untrack(sampler, tracked);
    return error_set(error, reason.code, "%s", reason.message);
}

static void meet_child(void *context, pid_t child)
{
    struct python_sampler *sampler = context;
    if (find_place(sampler, child) != NO_ID)
        return;
    uint32_t place = track(sampler, child, sampler->visited_parent);
    if (place != NO_ID)
        (void)find_python(sampler, &sampler->tracked[place], now_ns(), NULL);
}

/* Children of the main thread, which starts most of them. False: the process has ended. */
static bool poll_main_thread(struct python_sampler *sampler, uint32_t place)
{
    char text[CHILDREN_TEXT_BYTES];
    struct tracked *tracked = &sampler->tracked[place];
    if (tracked->children_descriptor < 0) {
        snprintf(text, sizeof(text), "/proc/%d/task/%d/children", (int)tracked->pid, (int)tracked->pid);
        tracked->children_descriptor = open(text, O_RDONLY | O_CLOEXEC);
    }
    if (tracked->children_descriptor < 0)
        return !has_ended(tracked->pid);
    ssize_t got = pread(tracked->children_descriptor, text, sizeof(text), 0);
    if (got < 0)
        return false;
    sampler->visited_parent = place;
    process_visit_numbers(text, (size_t)got, meet_child, sampler);
    return true;
}

/* The last word of /proc/loadavg is the last process id: while it is unchanged, there is no new child. True also if
 * it cannot be read. */
static bool has_new_processes(struct python_sampler *sampler)
{
    char text[64];
    if (sampler->load_descriptor < 0)
        sampler->load_descriptor = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t size =
        sampler->load_descriptor < 0 ? 0 : pread(sampler->load_descriptor, text, sizeof(text) - 1, 0);
    text[size < 0 ? 0 : size] = '\0';
    const char *number = strrchr(text, ' ');
    if (number == NULL || strlen(number) >= sizeof(sampler->newest_number))
        return true;
    bool is_new = strcmp(number, sampler->newest_number) != 0;
    memcpy(sampler->newest_number, number, strlen(number) + 1);
    return is_new;
}

static void poll_children(struct python_sampler *sampler, int64_t now)
{
    bool thorough = now >= sampler->next_thorough_ns;
    sampler->next_children_ns = now + CHILDREN_POLL_NS;
    if (!has_new_processes(sampler) && !thorough)
        return;
    /* New processes are appended, so their own children are searched for immediately. */
    for (uint32_t place = 0; place < sampler->size; place++) {
        pid_t pid = sampler->tracked[place].pid;
        if (pid == 0)
            continue;
        if (!poll_main_thread(sampler, place)) {
            untrack(sampler, &sampler->tracked[place]);
            continue;
        }
        if (thorough) {
            sampler->visited_parent = place;
            process_visit_children(pid, meet_child, sampler);
        }
    }
}

/* Checks processes without Python again: it was not ready, or the program has changed. */
static void look_again(struct python_sampler *sampler, struct tracked *tracked, int64_t now, bool thorough)
{
    if (now >= tracked->next_find_ns) {
        (void)find_python(sampler, tracked, now, NULL);
    } else if (thorough) {
        if (has_ended(tracked->pid))
            untrack(sampler, tracked);
        else if (hash_program(tracked->pid) != tracked->program_hash)
            (void)find_python(sampler, tracked, now, NULL);
    }
}

static void sample(struct python_sampler *sampler, struct tracked *tracked, int64_t now)
{
    switch (python_process_sample(tracked->python, &sampler->sampling, now)) {
    case PROCESS_OK:
        break;
    case PROCESS_GONE:
        untrack(sampler, tracked);
        break;
    case PROCESS_CHANGED:
    case PROCESS_DENIED:
        python_process_free(tracked->python);
        tracked->python = NULL;
        tracked->next_find_ns = now + tracked->patience_ns;
        break;
    }
}

/* Missed ones are not repeated. */
static void choose_idle(struct python_sampler *sampler, int64_t now)
{
    int64_t interval = sampler->options.idle_interval_ns;
    bool is_due = interval > 0 && now >= sampler->next_idle_ns;
    if (is_due)
        sampler->next_idle_ns = now - now % interval + interval;
    sampler->sampling.want_idle = sampler->options.want_idle || is_due;
}

static void choose_asking(struct python_sampler *sampler, int64_t now)
{
    int64_t pause = (ASKED_TICKS - 1) * sampler->options.interval_ns;
    sampler->sampling.asks_kernel = now >= sampler->next_ask_ns;
    if (pause > MOST_UNASKED_NS)
        pause = MOST_UNASKED_NS;
    if (sampler->sampling.asks_kernel)
        sampler->next_ask_ns = now + (pause < LEAST_UNASKED_NS ? LEAST_UNASKED_NS : pause);
}

static void tick_at(struct python_sampler *sampler, int64_t now)
{
    choose_idle(sampler, now);
    choose_asking(sampler, now);
    bool thorough = now >= sampler->next_thorough_ns;
    if (thorough)
        sampler->wall_clock_lead_ns = read_clock(CLOCK_REALTIME) - now_ns();
    sampler->sampling.time_ns = now + sampler->wall_clock_lead_ns;
    if (sampler->options.follow_children && now >= sampler->next_children_ns)
        poll_children(sampler, now);
    for (size_t i = 0; i < sampler->size; i++) {
        struct tracked *tracked = &sampler->tracked[i];
        if (tracked->pid != 0 && tracked->python == NULL)
            look_again(sampler, tracked, now, thorough);
        if (tracked->pid != 0 && tracked->python != NULL)
            sample(sampler, tracked, now);
    }
    if (thorough)
        sampler->next_thorough_ns = now + THOROUGH_POLL_NS;
    sampler->ticks++;
}

void python_sampler_tick(struct python_sampler *sampler)
{
    tick_at(sampler, now_ns());
}

static void sleep_until(int64_t deadline)
{
    struct timespec time = {deadline / 1000000000, deadline % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* Ticks stay in step if one run immediately follows another. */
static int64_t first_tick(const struct python_sampler *sampler, int64_t now)
{
    bool is_near =
        sampler->next_tick_ns != 0 && now - sampler->next_tick_ns < 2 * sampler->options.interval_ns;
    return is_near ? sampler->next_tick_ns : now;
}

void python_sampler_run(struct python_sampler *sampler, int64_t duration_ns, const atomic_bool *stop)
{
    int64_t interval = sampler->options.interval_ns;
    int64_t begin = now_ns();
    int64_t next = first_tick(sampler, begin);
    int64_t end = duration_ns == 0 ? INT64_MAX : begin + duration_ns;
    while (!atomic_load_explicit(stop, memory_order_relaxed) && next < end && sampler->live > 0) {
        int64_t now = now_ns();
        if (now < next) {
            sleep_until(next);
            continue;
        }
        int64_t late = (now - next) / interval;
        sampler->missed_ticks += (uint64_t)late;
        next += (late + 1) * interval;
        tick_at(sampler, now);
    }
    sampler->next_tick_ns = next;
}

struct python_sampler_statistics python_sampler_statistics(const struct python_sampler *sampler)
{
    struct python_sampler_statistics statistics = {
        .counts = sampler->sampling.counts,
        .ticks = sampler->ticks,
        .missed_ticks = sampler->missed_ticks,
        .processes = sampler->processes,
        .live = sampler->live,
    };
    for (size_t i = 0; i < sampler->size; i++)
        statistics.live_python += sampler->tracked[i].python != NULL;
    return statistics;
}
