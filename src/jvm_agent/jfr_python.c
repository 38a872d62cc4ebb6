#include "jvm_agent/jfr_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/hash.h"
#include "jvm_agent/jfr_shape.h"
#include "jvm_agent/jfr_types.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_names.h"

#define FUNCTIONS_LIMIT ((size_t)1 << 20)
#define TRACES_LIMIT ((size_t)1 << 22)
#define THREADS_LIMIT ((size_t)1 << 20)
/* Above the numbers of Java's and native code's stacks. */
#define TRACE_BASE 0x40000000u
#define INTERPRETED_FRAME 0
#define NO_TASK (-1)
#define SECOND_NS UINT64_C(1000000000)
/* More than a process can have used since it was last looked at: its number was given to another one. */
#define GAP_LIMIT_NS (5 * SECOND_NS)

void jfr_python_init(struct jfr_python *python, uint64_t interval_ns)
{
    memset(python, 0, sizeof(*python));
    python->interval_ns = interval_ns;
    id_map_init(&python->traces);
    id_map_init(&python->threads);
}

void jfr_python_release(struct jfr_python *python)
{
    free(python->function_chunks);
    free(python->trace_chunks);
    free(python->thread_states);
    id_map_release(&python->traces);
    id_map_release(&python->threads);
    memset(python, 0, sizeof(*python));
}

/* Room for one more, zeroed. */
static bool reserve_chunks(uint32_t **chunks, size_t *capacity, size_t wanted, size_t limit)
{
    size_t before = *capacity;
    if (!array_reserve(chunks, capacity, wanted, limit))
        return false;
    if (*capacity > before)
        memset(*chunks + before, 0, (*capacity - before) * sizeof(**chunks));
    return true;
}

static bool use_function(struct jfr_python *python, struct jfr_pools *pools, const struct python_stack *stack,
                         uint32_t function)
{
    if (!reserve_chunks(&python->function_chunks, &python->function_capacity, (size_t)function + 1,
                        FUNCTIONS_LIMIT))
        return false;
    if (python->function_chunks[function] == pools->chunk)
        return true;
    python->function_chunks[function] = pools->chunk;
    jfr_pool_method(pools, JFR_PYTHON_METHOD_BASE + function,
                    python_function_file(stack->functions, function),
                    python_function_name(stack->functions, function), TEXT("()V"), jfr_python_modifiers);
    return true;
}

static void put_trace(struct jfr_pools *pools, uint32_t number, const struct python_stack *stack)
{
    jfr_pool_begin_trace(pools, number, stack->frame_count);
    for (size_t i = 0; i < stack->frame_count; i++)
        jfr_pool_put_frame(pools, JFR_PYTHON_METHOD_BASE + stack->frames[i].function, stack->frames[i].line,
                           INTERPRETED_FRAME);
}

static uint64_t hash_frames(const struct python_stack *stack)
{
    uint64_t hash = HASH_SEED;
    for (size_t i = 0; i < stack->frame_count; i++)
        hash = hash_mix(hash ^ ((uint64_t)stack->frames[i].function << 32 | stack->frames[i].line),
                        HASH_MULTIPLIER);
    return hash;
}

/* 0: no room. */
static uint32_t use_trace(struct jfr_python *python, struct jfr_pools *pools,
                          const struct python_stack *stack)
{
    uint32_t *place = id_map_place(&python->traces, hash_frames(stack));
    if (place == NULL)
        return 0;
    if (*place == NO_ID) {
        if (!reserve_chunks(&python->trace_chunks, &python->trace_capacity, python->trace_count + 1,
                            TRACES_LIMIT)) {
            *place = 0;
            return 0;
        }
        *place = (uint32_t)python->trace_count++;
        python->trace_chunks[*place] = 0;
    }
    uint32_t index = *place, number = jfr_pool_foreign_trace(pools, TRACE_BASE + index);
    if (number != 0 && python->trace_chunks[index] != pools->chunk) {
        python->trace_chunks[index] = pools->chunk;
        for (size_t i = 0; i < stack->frame_count; i++)
            if (!use_function(python, pools, stack, stack->frames[i].function))
                return 0;
        put_trace(pools, number, stack);
    }
    return number;
}

static void put_labels(struct jfr_file *file, uint64_t time_ns, uint32_t thread,
                       const struct python_task *task)
{
    char text[160] = "";
    if (task->known)
        snprintf(text, sizeof(text), "stage=%lld;partition=%lld;attempt=%lld;task=%lld",
                 (long long)task->stage, (long long)task->partition, (long long)task->attempt,
                 (long long)task->task_id);
    size_t begin = jfr_event_begin(&file->events, JFR_LABELS);
    jfr_put_time(&file->events, time_ns);
    jfr_put_number(&file->events, thread);
    jfr_file_put_labels(file, text_of(text));
    jfr_event_end(&file->events, begin);
}

static struct jfr_python_thread *thread_state(struct jfr_python *python, int32_t tid)
{
    uint32_t *place = id_map_place(&python->threads, (uint64_t)(uint32_t)tid);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        if (!array_reserve(&python->thread_states, &python->thread_capacity, python->thread_count + 1,
                           THREADS_LIMIT)) {
            *place = 0;
            return NULL;
        }
        *place = (uint32_t)python->thread_count++;
        python->thread_states[*place] = (struct jfr_python_thread){0, NO_TASK, 0};
    }
    return *place < python->thread_count ? &python->thread_states[*place] : NULL;
}

/* The thread's task, when it is another than before, or new to the chunk. */
static void note_task(struct jfr_python *python, struct jfr_file *file, uint64_t time_ns, int32_t tid,
                      const struct python_task *task)
{
    struct jfr_python_thread *state = thread_state(python, tid);
    int64_t number = task->known ? task->task_id : NO_TASK;
    if (state == NULL || (state->task == number && (state->chunk == file->pools.chunk || number == NO_TASK)))
        return;
    state->chunk = file->pools.chunk;
    state->task = number;
    put_labels(file, time_ns, jfr_pool_thread(&file->pools, tid), task);
}

static void name_thread(const struct python_stack *stack, int32_t tid)
{
    char name[192];
    snprintf(name, sizeof(name), "Python %d %.*s", (int)stack->pid, (int)stack->thread_name.size,
             stack->thread_name.data);
    thread_names_set(tid, name, 0);
}

/* The kernel's number for the clock of all that a process has used. */
static clockid_t process_clock(pid_t pid)
{
    return (clockid_t)(~(uint32_t)pid << 3 | 2);
}

/* How many samples the CPU time since the last ones is worth. */
static uint64_t due_samples(struct jfr_python *python, pid_t pid)
{
    struct timespec used;
    struct jfr_python_thread *state = thread_state(python, pid);
    if (state == NULL || clock_gettime(process_clock(pid), &used) != 0)
        return 1;
    uint64_t used_ns = (uint64_t)used.tv_sec * SECOND_NS + (uint64_t)used.tv_nsec;
    if (state->counted_ns == 0 || used_ns < state->counted_ns || used_ns - state->counted_ns > GAP_LIMIT_NS)
        state->counted_ns = used_ns - used_ns % python->interval_ns; /* new to us */
    uint64_t due = (used_ns - state->counted_ns) / python->interval_ns;
    state->counted_ns += due * python->interval_ns;
    return due;
}

static void put_sample(struct jfr_file *file, enum jfr_type type, uint64_t time_ns, uint32_t thread,
                       uint32_t trace, enum thread_state state)
{
    size_t begin = jfr_event_begin(&file->events, type);
    jfr_put_time(&file->events, time_ns);
    jfr_put_number(&file->events, thread);
    jfr_put_number(&file->events, trace);
    jfr_put_number(&file->events, state);
    jfr_event_end(&file->events, begin);
}

/* The thread that serves a task stands for the worker: it works, or waits for the JVM or for others. */
static bool is_wall_sample(const struct python_stack *stack)
{
    return stack->idle_wanted && stack->task.known && stack->task.served_here && stack->frame_count > 0;
}

void jfr_python_add(struct jfr_python *python, struct jfr_file *file, const struct python_stack *stack)
{
    uint64_t now_ns = sampler_now_ns();
    int32_t tid = stack->thread_number != 0 ? stack->thread_number : stack->pid;
    bool runs = stack->on_cpu && stack->frame_count > 0;
    uint64_t due = runs ? due_samples(python, stack->pid) : 0;
    bool is_wall = is_wall_sample(stack);
    if (due == 0 && !is_wall)
        return;
    uint32_t trace = file->events.failed ? 0 : use_trace(python, &file->pools, stack);
    if (trace == 0) {
        python->dropped += due;
        return;
    }
    name_thread(stack, tid);
    uint32_t thread = jfr_pool_thread(&file->pools, tid);
    note_task(python, file, now_ns, tid, &stack->task);
    for (uint64_t i = 0; i < due; i++)
        put_sample(file, JFR_PYTHON_SAMPLE, now_ns, thread, trace, THREAD_STATE_RUNNABLE);
    if (is_wall)
        put_sample(file, JFR_PYTHON_WALL_SAMPLE, now_ns, thread, trace,
                   runs ? THREAD_STATE_RUNNABLE : THREAD_STATE_SLEEPING);
}
