#include "jvm_agent/jfr/jfr_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/hash.h"
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "jvm_agent/thread_names.h"
#include "model/frame_table.h"

#define FUNCTIONS_LIMIT ((size_t)1 << 20)
#define TRACES_LIMIT ((size_t)1 << 22)
#define THREADS_LIMIT ((size_t)1 << 20)
/* Above the numbers of Java and native stacks. */
#define TRACE_BASE 0x40000000u
#define FUNCTION_BASE ((uint32_t)1 << 24)
#define INTERPRETED_FRAME 0
/* Of methods. The kind stands above the JVM's modifiers, plus one, as the reader of JFR expects it; 1: public. */
#define KIND_SHIFT 20
#define PYTHON_MODIFIERS (((uint32_t)FRAME_PYTHON + 1) << KIND_SHIFT | 1)
#define NO_TASK (-1)
#define SECOND_NS UINT64_C(1000000000)
/* More than a process can have used since its last sample: its process id was reused. */
#define GAP_LIMIT_NS (5 * SECOND_NS)

void jfr_python_init(struct jfr_python *python, uint64_t interval_ns, size_t limit_bytes)
{
    memset(python, 0, sizeof(*python));
    python->limit_bytes = limit_bytes;
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

size_t jfr_python_bytes(const struct jfr_python *python)
{
    return id_map_bytes(&python->traces) + id_map_bytes(&python->threads) +
           python->function_capacity * sizeof(*python->function_chunks) +
           python->trace_capacity * sizeof(*python->trace_chunks) +
           python->thread_capacity * sizeof(*python->thread_states);
}

void jfr_python_renew(struct jfr_python *python, bool always)
{
    uint64_t dropped = python->dropped;
    if (!always && jfr_python_bytes(python) < python->limit_bytes / 2)
        return;
    uint32_t next_trace = python->trace_base + (uint32_t)python->trace_count;
    uint32_t function_base = python->function_base ^ (always ? FUNCTION_BASE : 0);
    uint64_t interval_ns = python->interval_ns;
    size_t limit_bytes = python->limit_bytes;
    jfr_python_release(python);
    jfr_python_init(python, interval_ns, limit_bytes);
    python->dropped = dropped;
    python->trace_base = next_trace > TRACES_LIMIT ? 0 : next_trace;
    python->function_base = function_base;
}

/* Makes space for one more, zeroed. */
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
    jfr_pool_method(pools, JFR_PYTHON_METHOD_BASE + python->function_base + function,
                    python_function_file(stack->functions, function),
                    python_function_name(stack->functions, function), TEXT("()V"), PYTHON_MODIFIERS);
    return true;
}

static void put_trace(const struct jfr_python *python, struct jfr_pools *pools, uint32_t number,
                      const struct python_stack *stack)
{
    jfr_pool_begin_trace(pools, number, stack->frame_count);
    for (size_t i = 0; i < stack->frame_count; i++)
        jfr_pool_put_frame(pools, JFR_PYTHON_METHOD_BASE + python->function_base + stack->frames[i].function,
                           stack->frames[i].line, INTERPRETED_FRAME);
}

static uint64_t hash_frames(const struct python_stack *stack)
{
    uint64_t hash = HASH_SEED;
    for (size_t i = 0; i < stack->frame_count; i++)
        hash = hash_mix(hash ^ ((uint64_t)stack->frames[i].function << 32 | stack->frames[i].line),
                        HASH_MULTIPLIER);
    return hash;
}

/* NO_ID: no space. A stack is added only together with its entry. */
static uint32_t trace_index(struct jfr_python *python, uint64_t hash)
{
    uint32_t index = id_map_get(&python->traces, hash);
    if (index != NO_ID)
        return index;
    index = (uint32_t)python->trace_count;
    if (jfr_python_bytes(python) >= python->limit_bytes ||
        !reserve_chunks(&python->trace_chunks, &python->trace_capacity, python->trace_count + 1,
                        TRACES_LIMIT) ||
        !id_map_set(&python->traces, hash, index))
        return NO_ID;
    python->trace_chunks[index] = 0;
    python->trace_count++;
    return index;
}

/* 0: no space. */
static uint32_t use_trace(struct jfr_python *python, struct jfr_pools *pools,
                          const struct python_stack *stack)
{
    uint32_t index = trace_index(python, hash_frames(stack));
    uint32_t number =
        index == NO_ID ? 0 : jfr_pool_foreign_trace(pools, TRACE_BASE + python->trace_base + index);
    if (number != 0 && python->trace_chunks[index] != pools->chunk) {
        python->trace_chunks[index] = pools->chunk;
        for (size_t i = 0; i < stack->frame_count; i++)
            if (!use_function(python, pools, stack, stack->frames[i].function))
                return 0;
        put_trace(python, pools, number, stack);
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
    uint32_t index = id_map_get(&python->threads, (uint64_t)(uint32_t)tid);
    if (index != NO_ID)
        return &python->thread_states[index];
    index = (uint32_t)python->thread_count;
    if (jfr_python_bytes(python) >= python->limit_bytes ||
        !array_reserve(&python->thread_states, &python->thread_capacity, python->thread_count + 1,
                       THREADS_LIMIT) ||
        !id_map_set(&python->threads, (uint64_t)(uint32_t)tid, index))
        return NULL;
    python->thread_states[index] = (struct jfr_python_thread){0, NO_TASK, 0};
    python->thread_count++;
    return &python->thread_states[index];
}

/* Adds the thread's task if it has changed or is new in the chunk. */
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

/* The clock of a process's CPU time, in the kernel's encoding. */
static clockid_t process_clock(pid_t pid)
{
    return (clockid_t)(~(uint32_t)pid << 3 | 2);
}

/* The number of samples for the CPU time since the last ones. */
static uint64_t due_samples(struct jfr_python *python, pid_t pid)
{
    struct timespec used;
    struct jfr_python_thread *state = thread_state(python, pid);
    if (state == NULL || clock_gettime(process_clock(pid), &used) != 0)
        return 1;
    uint64_t used_ns = (uint64_t)used.tv_sec * SECOND_NS + (uint64_t)used.tv_nsec;
    if (state->counted_ns == 0 || used_ns < state->counted_ns || used_ns - state->counted_ns > GAP_LIMIT_NS)
        state->counted_ns = used_ns - used_ns % python->interval_ns; /* first sample of the process */
    uint64_t due = (used_ns - state->counted_ns) / python->interval_ns;
    state->counted_ns += due * python->interval_ns;
    return due;
}

static void put_sample(struct jfr_file *file, enum jfr_type_number type, uint64_t time_ns, uint32_t thread,
                       uint32_t trace, enum thread_state state)
{
    size_t begin = jfr_event_begin(&file->events, type);
    jfr_put_time(&file->events, time_ns);
    jfr_put_number(&file->events, thread);
    jfr_put_number(&file->events, trace);
    jfr_put_number(&file->events, state);
    jfr_event_end(&file->events, begin);
}

/* The thread that runs a task represents the worker: it works, or waits for the JVM or for other threads. */
static bool is_wall_sample(const struct python_stack *stack)
{
    return stack->idle_wanted && stack->task.known && stack->task.served_here && stack->frame_count > 0;
}

void jfr_python_add(struct jfr_python *python, struct jfr_file *file, const struct python_stack *stack)
{
    uint64_t now_ns = agent_now_ns();
    int32_t tid = stack->thread_number != 0 ? stack->thread_number : stack->pid;
    bool runs = stack->on_cpu && stack->frame_count > 0;
    uint64_t due = runs ? due_samples(python, stack->pid) : 0;
    bool is_wall = is_wall_sample(stack);
    if (due == 0 && !is_wall)
        return;
    uint32_t trace = !jfr_file_has_room(file) ? 0 : use_trace(python, &file->pools, stack);
    if (trace == 0) {
        python->dropped += due;
        file->dropped += due;
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
