#include "python_sampler/python_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/kcmp.h>

#include "base/array.h"
#include "python_sampler/python_code_counter.h"
#include "python_sampler/python_pulse.h"

#define MOST_DELIVERY_ATTEMPTS 8
/* In later ones a word of the bytecode that only looks like a return is accepted. */
#define STRICT_DELIVERY_ATTEMPTS 6
#define WORKER_FRAMES 12
/* An unchanged name is read again after twice the time, up to the second value. */
#define NAME_TRUST_NS INT64_C(2000000000)
#define MOST_NAME_TRUST_NS INT64_C(32000000000)
/* A stack that provably is unchanged is read again after this, since a thread may be ended by another one. */
#define MOST_KEPT_NS INT64_C(250000000)
/* Minimum number of further threads for a separate batch. */
#define THREADS_FOR_BATCH 3
#define MOST_COUNTER_TRIES 3

static struct python_process *allocate(pid_t pid)
{
    struct python_process *process = calloc(1, sizeof(*process));
    if (process == NULL)
        return NULL;
    process_memory_init(&process->memory, pid);
    python_code_cache_init(&process->codes);
    native_modules_init(&process->native, pid);
    span_set_init(&process->pulse);
    process->tick_effort = PYTHON_TICK_EFFORT;
    process_memory_allow(&process->memory, PYTHON_TICK_EFFORT);
    process->list_is_stale = true;
    return process;
}

struct python_process *python_process_new(pid_t pid, enum python_find_result *result, struct error *error)
{
    struct python_process *process = allocate(pid);
    *result = PYTHON_FAILED;
    if (process == NULL) {
        error_set_memory(error);
        return NULL;
    }
    *result = python_runtime_find(&process->runtime, &process->memory, error);
    if (*result == PYTHON_FOUND)
        return process;
    python_process_free(process);
    return NULL;
}

struct python_process *python_process_new_of(const struct python_runtime *runtime,
                                             const struct process_memory *memory)
{
    struct python_process *process = allocate(memory->pid);
    if (process == NULL)
        return NULL;
    process_memory_release(&process->memory);
    process->memory = *memory;
    process->runtime = *runtime;
    return process;
}

/* A child between vfork() and exec() still uses its parent's memory. */
static bool shares_memory(pid_t left, pid_t right)
{
    return syscall(SYS_kcmp, left, right, KCMP_VM, 0, 0) == 0;
}

struct python_process *python_process_new_fork(const struct python_process *parent, pid_t pid)
{
    if (shares_memory(parent->memory.pid, pid))
        return NULL;
    struct python_process *process = allocate(pid);
    if (process == NULL)
        return NULL;
    process->runtime = parent->runtime;
    process->codes.code_type = parent->codes.code_type;
    if (python_runtime_check(&process->runtime, &process->memory, NULL) == PYTHON_FOUND)
        return process;
    python_process_free(process);
    return NULL;
}

void python_process_free(struct python_process *process)
{
    if (process == NULL)
        return;
    for (size_t i = 0; i < process->thread_count; i++) {
        python_thread_release(&process->threads[i]);
    }
    free(process->threads);
    span_set_release(&process->pulse);
    python_code_cache_release(&process->codes);
    native_modules_release(&process->native);
    process_memory_release(&process->memory);
    free(process);
}

static struct python_thread *find_thread(const struct python_process *process, uint64_t address)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        if (process->threads[i].address == address)
            return &process->threads[i];
    }
    return NULL;
}

static struct python_thread *add_thread(struct python_process *process, uint64_t address,
                                        uint64_t interpreter)
{
    if (!array_reserve(&process->threads, &process->thread_capacity, process->thread_count + 1,
                       PYTHON_MOST_THREADS))
        return NULL;
    struct python_thread *thread = &process->threads[process->thread_count++];
    python_thread_init(thread, address, interpreter);
    thread->keeps_files = process->thread_count <= PYTHON_MOST_THREADS_WITH_FILES;
    return thread;
}

static bool list_threads_of(struct python_process *process, uint64_t interpreter)
{
    const struct python_layout *layout = &process->runtime.layout;
    unsigned char state[PYTHON_MOST_THREAD_BYTES];
    uint64_t address;
    if (layout->thread.bytes > sizeof(state) ||
        !process_memory_read_u64(&process->memory, interpreter + layout->interpreter.threads_head, &address))
        return false;
    for (size_t i = 0; address != 0 && i < PYTHON_MOST_THREADS; i++) {
        if (process_memory_read(&process->memory, address, state, layout->thread.bytes) != MEMORY_OK ||
            load_u64(state + layout->thread.interpreter) != interpreter)
            return false;
        struct python_thread *thread = find_thread(process, address);
        if (thread == NULL)
            thread = add_thread(process, address, interpreter);
        /* A list that repeats a thread is endless. */
        if (thread == NULL || thread->listed)
            return false;
        thread->listed = true;
        thread->interpreter = interpreter;
        thread->next = load_u64(state + layout->thread.next);
        python_thread_identify(thread, &process->runtime, &process->memory, state);
        address = thread->next;
    }
    return true;
}

static void drop_unlisted_threads(struct python_process *process)
{
    size_t kept = 0;
    for (size_t i = 0; i < process->thread_count; i++) {
        if (process->threads[i].listed)
            process->threads[kept++] = process->threads[i];
        else
            python_thread_release(&process->threads[i]);
    }
    process->thread_count = kept;
}

/* Walks the lists of interpreters and threads again. */
static bool list_threads(struct python_process *process)
{
    const struct python_layout *layout = &process->runtime.layout;
    uint64_t address;
    process->interpreter_count = 0;
    for (size_t i = 0; i < process->thread_count; i++)
        process->threads[i].listed = false;
    if (!process_memory_read_u64(&process->memory,
                                 process->runtime.address + layout->runtime.interpreters_head, &address))
        return false;
    process->interpreters_head = address;
    while (address != 0 && process->interpreter_count < PYTHON_MOST_INTERPRETERS) {
        struct python_interpreter *interpreter = &process->interpreters[process->interpreter_count++];
        *interpreter = (struct python_interpreter){.address = address};
        if (!list_threads_of(process, address))
            return false;
        if (layout->runtime.gil != NO_OFFSET)
            interpreter->gil = process->runtime.address + layout->runtime.gil;
        else if (layout->interpreter.gil != NO_OFFSET &&
                 !process_memory_read_u64(&process->memory, address + layout->interpreter.gil,
                                          &interpreter->gil))
            return false;
        if (!process_memory_read_u64(&process->memory, address + layout->interpreter.next, &address))
            return false;
    }
    drop_unlisted_threads(process);
    process->list_is_stale = !python_pulse_build(process);
    return !process->list_is_stale;
}

static const struct python_interpreter *interpreter_of(const struct python_process *process,
                                                       const struct python_thread *thread)
{
    for (size_t i = 0; i < process->interpreter_count; i++) {
        if (process->interpreters[i].address == thread->interpreter)
            return &process->interpreters[i];
    }
    return NULL;
}

static void read_name(struct python_process *process, struct python_thread *thread, int64_t now_ns)
{
    struct python_reader reader = {&process->memory, &process->runtime.layout};
    if (python_context_thread_name(&process->context, &reader, thread->interpreter, thread->thread_id, now_ns,
                                   thread->name, sizeof(thread->name)))
        return;
    /* Without the module threading there are only names from the kernel. */
    if (thread->number == process->memory.pid)
        snprintf(thread->name, sizeof(thread->name), "MainThread");
    else
        python_thread_read_kernel_name(thread, process->memory.pid);
}

/* True: the name has changed. */
static bool name_thread(struct python_process *process, struct python_thread *thread, int64_t now_ns)
{
    char before[PYTHON_THREAD_NAME_BYTES];
    if (thread->named_ns != 0 && now_ns - thread->named_ns < thread->name_trust_ns)
        return false;
    thread->named_ns = now_ns;
    memcpy(before, thread->name, sizeof(before));
    read_name(process, thread, now_ns);
    bool is_new = strcmp(before, thread->name) != 0;
    thread->name_trust_ns = is_new                                           ? NAME_TRUST_NS
                            : thread->name_trust_ns < MOST_NAME_TRUST_NS / 2 ? 2 * thread->name_trust_ns
                                                                             : MOST_NAME_TRUST_NS;
    return is_new;
}

/* A PySpark worker has worker.py's main near the root, below daemon.py or runpy. First main waits for a number:
 * until then the previous task is over and the next one has not started. */
static enum python_worker_state state_of_worker(const struct python_functions *functions,
                                                const struct python_named_stack *stack)
{
    for (size_t i = stack->shown_count; i-- > 0 && stack->shown_count - i <= WORKER_FRAMES;) {
        if (functions->functions[stack->shown[i].function].role != ROLE_WORKER_MAIN)
            continue;
        bool waits = i == 1 && functions->functions[stack->shown[0].function].role == ROLE_READ_INT;
        return waits ? WORKER_BETWEEN_TASKS : WORKER_SERVES;
    }
    return WORKER_NONE;
}

/* A task is run by the thread that runs worker.py's main; threads that it started work for the same task. */
static struct python_task find_task(struct python_process *process, struct python_thread *thread,
                                    const struct python_sampling *sampling, uint64_t interpreter,
                                    int64_t now_ns)
{
    struct python_reader reader = {&process->memory, &process->runtime.layout};
    if (thread->stack.unchanged < thread->stack.shown_count)
        thread->worker_state = state_of_worker(&sampling->functions, &thread->stack);
    enum python_worker_state state = thread->worker_state;
    if (state != WORKER_NONE || thread->number == process->memory.pid)
        process->worker_state = state;
    if (process->worker_state != WORKER_SERVES)
        return (struct python_task){.known = false};
    struct python_task task = *python_context_task(&process->context, &reader, interpreter, now_ns);
    task.served_here = state == WORKER_SERVES;
    return task;
}

/* The shown frames, innermost first, merged with native frames if these are known. */
static const struct python_frame *show_frames(const struct python_thread *thread,
                                              struct python_sampling *sampling, size_t *count)
{
    const struct python_named_stack *stack = &thread->stack;
    *count = stack->shown_count;
    if (!sampling->wants_native || thread->native.count == 0)
        return stack->shown;
    for (size_t i = 0; i < stack->count; i++) {
        size_t at = stack->count - 1 - i;
        sampling->merging[i] = (struct merged_python){stack->frames[at], stack->raw[at].is_entry};
    }
    *count = native_stack_merge(&thread->native, sampling->merging, stack->count, sampling->frames);
    return sampling->frames;
}

/* True if it is worth asking the kernel which threads did not run at all: the GIL shows it at no cost. */
static bool wants_sleep(const struct python_process *process, const struct python_interpreter *interpreter,
                        const struct python_sampling *sampling)
{
    return !sampling->want_idle || interpreter == NULL || !python_pulse_counts(process, interpreter);
}

/* Stores data reported with a stack. True: they are the same as with the previous one. */
static bool repeats_circumstances(struct python_thread *thread, const struct python_stack *stack)
{
    struct python_circumstances *before = &thread->circumstances;
    bool same = before->on_cpu == stack->on_cpu && before->has_gil == stack->has_gil &&
                before->collecting == stack->collecting && before->idle_wanted == stack->idle_wanted &&
                before->serves_task == stack->task.served_here && before->has_task == stack->task.known &&
                before->task_id == stack->task.task_id;
    if (!same)
        *before = (struct python_circumstances){
            stack->on_cpu,           stack->has_gil,    stack->collecting,  stack->idle_wanted,
            stack->task.served_here, stack->task.known, stack->task.task_id};
    return same;
}

/* True if its last stack may grow to that many frames. */
static bool may_keep(const struct python_process *process, const struct python_thread *thread, size_t count)
{
    size_t total = count;
    if (LIKELY(count <= thread->stack.raw_capacity))
        return true;
    for (size_t i = 0; i < process->thread_count; i++)
        total += process->threads[i].stack.raw_capacity;
    return total <= PYTHON_MOST_KEPT_FRAMES;
}

/* Names and delivers the stack, or the one of the thread's last sample if `read` is NULL. False: a frame has no code
 * object, so the stack was read while its innermost frame was created or ended. */
static bool deliver(struct python_process *process, struct python_thread *thread,
                    const struct python_interpreter *interpreter, struct python_sampling *sampling,
                    const struct python_stack_buffer *read, int64_t now_ns)
{
    struct python_reader reader = {&process->memory, &process->runtime.layout};
    if ((read != NULL && !may_keep(process, thread, read->frame_count)) ||
        !python_named_stack_set(&thread->stack, &process->codes, &reader, &sampling->functions, read, now_ns,
                                interpreter->code_generation))
        return false;
    bool has_gil = interpreter->gil_holder == thread->address;
    python_thread_settle_look(thread, process->memory.pid, has_gil,
                              wants_sleep(process, interpreter, sampling));
    bool is_renamed = name_thread(process, thread, now_ns);
    size_t frame_count;
    const struct python_frame *frames = show_frames(thread, sampling, &frame_count);
    struct python_stack stack = {
        .pid = process->memory.pid,
        .thread_number = thread->number,
        .thread_id = thread->thread_id,
        .thread_name = text_of(thread->name),
        .time_ns = sampling->time_ns,
        .on_cpu = thread->look == THREAD_RUNS,
        .idle_wanted = sampling->want_idle,
        .has_gil = has_gil,
        .collecting = interpreter->collecting,
        .task = find_task(process, thread, sampling, interpreter->address, now_ns),
        .functions = &sampling->functions,
        .frames = frames,
        .frame_count = frame_count,
        .marks = sampling->wants_native ? NULL : thread->stack.marks,
        .unchanged = is_renamed || sampling->wants_native ? 0 : thread->stack.unchanged,
        .mark = &thread->mark,
    };
    stack.is_repeated = repeats_circumstances(thread, &stack) && thread->stack.is_repeated && !is_renamed &&
                        !sampling->wants_native;
    sampling->counts.stacks++;
    sampling->deliver(sampling->context, &stack);
    return true;
}

/* True if the bytes read with the stack are still this thread's. */
static bool check_state(struct python_process *process, struct python_thread *thread,
                        const unsigned char *state)
{
    const struct python_layout *layout = &process->runtime.layout;
    if (load_u64(state + layout->thread.interpreter) != thread->interpreter) {
        process->list_is_stale = true;
        return false;
    }
    if (load_u64(state + layout->thread.next) != thread->next)
        process->list_is_stale = true;
    python_thread_identify(thread, &process->runtime, &process->memory, state);
    return true;
}

/* A waiting thread is not paused unless its registers are needed: its frames do not change. */
static bool is_to_be_paused(const struct python_thread *thread, const struct python_sampling *sampling)
{
    return thread->number != 0 &&
           (sampling->wants_native || (sampling->pauses && thread->look == THREAD_RUNS));
}

/* Called while the thread is paused, if it is to be. */
static enum python_stack_result read_stack(struct python_process *process, struct python_thread *thread,
                                           struct python_sampling *sampling, int64_t now_ns)
{
    bool wants_pause = is_to_be_paused(thread, sampling);
    bool is_paused = wants_pause && thread_pause_begin(&thread->pause, thread->number);
    enum python_stack_result result =
        python_stack_read(&sampling->buffer, &thread->remembered, &process->memory, &process->runtime.layout,
                          thread->address, &thread->plan);
    bool has_copy = is_paused && sampling->wants_native &&
                    native_copy_take(&sampling->native, &thread->pause, &process->memory);
    thread_pause_end(&thread->pause);
    thread->plan.batch = NULL;
    sampling->counts.unpaused += wants_pause && !is_paused;
    if (!has_copy || !native_stack_walk(&thread->native, &process->native, &sampling->native,
                                        &sampling->functions, process->runtime.address, now_ns))
        thread->native.count = 0;
    return result;
}

/* Reads and delivers one stack. False: another attempt may succeed. */
static bool read_and_deliver(struct python_process *process, struct python_thread *thread,
                             const struct python_interpreter *interpreter, struct python_sampling *sampling,
                             int64_t now_ns, enum python_stack_result *result)
{
    struct python_stack_buffer *buffer = &sampling->buffer;
    bool is_planned = thread->plan.batch != NULL;
    thread->gil_note.holder = 0;
    *result = read_stack(process, thread, sampling, now_ns);
    if (*result != STACK_OK || !check_state(process, thread, buffer->thread_state))
        return true;
    thread->gil_note = is_planned ? thread->plan_note : python_pulse_note(interpreter);
    thread->read_ns = now_ns;
    thread->has_kept = thread->look != THREAD_RUNS && !thread->looked_late;
    if (buffer->frame_count > 0) {
        thread->remembered.callers.is_taken = deliver(process, thread, interpreter, sampling, buffer, now_ns);
        return thread->remembered.callers.is_taken;
    }
    thread->stack.count = 0;
    sampling->counts.idle++;
    return true;
}

/* For a thread that has not run since its stack was read. */
static bool deliver_kept(struct python_process *process, struct python_thread *thread,
                         const struct python_interpreter *interpreter, struct python_sampling *sampling,
                         int64_t now_ns)
{
    if (thread->stack.count == 0) {
        sampling->counts.idle++;
        return true;
    }
    return deliver(process, thread, interpreter, sampling, NULL, now_ns);
}

static enum python_process_result count_result(struct python_process *process,
                                               struct python_sampling *sampling,
                                               enum python_stack_result result)
{
    switch (result) {
    case STACK_OK:
        break;
    case STACK_RESTLESS:
        sampling->counts.restless++;
        break;
    case STACK_TOO_DEEP:
        sampling->counts.too_deep++;
        break;
    case STACK_BROKEN:
        sampling->counts.broken++;
        process->list_is_stale = true;
        break;
    case STACK_GONE:
        return PROCESS_GONE;
    case STACK_DENIED:
        return PROCESS_DENIED;
    }
    return PROCESS_OK;
}

static bool has_kept_stack(const struct python_thread *thread)
{
    return thread->look == THREAD_SLEPT && thread->has_kept;
}

/* True if the GIL can prove anything about its last stack. */
static bool has_note(const struct python_process *process, const struct python_thread *thread,
                     const struct python_interpreter *interpreter, const struct python_sampling *sampling,
                     int64_t now_ns)
{
    return thread->gil_note.holder != 0 && now_ns - thread->read_ns < MOST_KEPT_NS &&
           python_pulse_counts(process, interpreter) && !is_to_be_paused(thread, sampling);
}

/* True if the GIL proves that its last stack is unchanged. */
static bool stands_still(const struct python_process *process, const struct python_thread *thread,
                         const struct python_interpreter *interpreter, const struct python_sampling *sampling,
                         int64_t now_ns)
{
    return has_note(process, thread, interpreter, sampling, now_ns) &&
           python_pulse_proves_still(thread, interpreter);
}

/* Delivers the last stack again if it is unchanged. */
static bool repeat_stack(struct python_process *process, struct python_thread *thread,
                         const struct python_interpreter *interpreter, struct python_sampling *sampling,
                         int64_t now_ns)
{
    bool is_proved = stands_still(process, thread, interpreter, sampling, now_ns);
    if ((!is_proved && !has_kept_stack(thread)) ||
        !deliver_kept(process, thread, interpreter, sampling, now_ns))
        return false;
    if (is_proved && (interpreter->is_steady || interpreter->switches != thread->gil_note.switches))
        thread->gil_note = python_pulse_note(interpreter);
    return true;
}

static bool had_gil(const struct python_process *process, const struct python_thread *thread)
{
    const struct python_interpreter *interpreter = interpreter_of(process, thread);
    return interpreter != NULL && interpreter->gil_holder == thread->address;
}

/* A single copy is as good as two if the thread could not run Python code while it was made. */
static void settle_plan(struct python_thread *thread, const struct python_interpreter *interpreter)
{
    thread->plan_note = python_pulse_note(interpreter);
    if (!thread->plan.is_single)
        return;
    bool was_still = interpreter->is_steady && interpreter->last_holder != thread->address;
    thread->plan.waits = was_still;
    if (!was_still)
        thread->plan.batch = NULL;
}

static enum python_process_result sample_thread(struct python_process *process, struct python_thread *thread,
                                                struct python_sampling *sampling, int64_t now_ns)
{
    const struct python_interpreter *interpreter = interpreter_of(process, thread);
    if (interpreter == NULL)
        return PROCESS_OK;
    if (sampling->only_gil && interpreter->gil_holder != thread->address) {
        sampling->counts.without_gil++;
        return PROCESS_OK;
    }
    if (thread->look == THREAD_UNSEEN)
        python_thread_presume(thread, process->memory.pid, interpreter->gil_holder == thread->address,
                              wants_sleep(process, interpreter, sampling));
    if (thread->look != THREAD_RUNS && !sampling->want_idle && !sampling->only_gil) {
        sampling->counts.idle++;
        return PROCESS_OK;
    }
    if (repeat_stack(process, thread, interpreter, sampling, now_ns))
        return PROCESS_OK;
    thread->has_kept = false;
    enum python_stack_result result = STACK_BROKEN;
    bool settled = false;
    for (int attempt = 0; !settled && attempt < MOST_DELIVERY_ATTEMPTS; attempt++) {
        process->codes.refuses_ended = attempt < STRICT_DELIVERY_ATTEMPTS;
        settled = read_and_deliver(process, thread, interpreter, sampling, now_ns, &result);
    }
    return count_result(process, sampling, settled ? result : STACK_BROKEN);
}

static enum python_process_result result_of_memory(enum memory_result result)
{
    if (result == MEMORY_GONE)
        return PROCESS_GONE;
    return result == MEMORY_DENIED ? PROCESS_DENIED : PROCESS_CHANGED;
}

/* Lists may change while they are walked, so a failure is not final; only a missing runtime is. */
static enum python_process_result refresh(struct python_process *process)
{
    for (int i = 0; process->list_is_stale && i < 3; i++) {
        if (list_threads(process))
            break;
    }
    if (!process->list_is_stale)
        return PROCESS_OK;
    switch (python_runtime_check(&process->runtime, &process->memory, NULL)) {
    case PYTHON_FOUND:
        return PROCESS_OK;
    case PYTHON_FAILED:
        return PROCESS_GONE;
    default:
        return PROCESS_CHANGED;
    }
}

/* If all threads are recorded, the state from the kernel is only reported and decides nothing. */
static bool may_presume(const struct python_process *process, struct python_thread *thread,
                        const struct python_sampling *sampling)
{
    return sampling->want_idle && !sampling->only_gil && !sampling->pauses && !sampling->wants_native &&
           thread->habits[had_gil(process, thread)].is_known &&
           !(sampling->asks_kernel && python_thread_is_due(thread));
}

/* Only frames of the GIL's holder change: others need no second copy, if it is proved that they did not have it. */
static bool is_likely_still(const struct python_process *process, const struct python_thread *thread)
{
    const struct python_interpreter *interpreter = interpreter_of(process, thread);
    return interpreter != NULL && python_pulse_counts(process, interpreter) &&
           interpreter->last_holder != 0 && interpreter->last_holder != thread->address;
}

/* True if a read does not include the thread's stack. First read of a tick: it did not have the GIL at the previous
 * tick, so its stack may be unchanged. Second read: it was unchanged, or the first read has it. */
static bool is_to_be_left_out(const struct python_process *process, const struct python_thread *thread,
                              const struct python_sampling *sampling, int64_t now_ns, bool is_rest)
{
    const struct python_interpreter *interpreter = interpreter_of(process, thread);
    if (interpreter == NULL || !has_note(process, thread, interpreter, sampling, now_ns))
        return false;
    return is_rest ? python_pulse_proves_still(thread, interpreter)
                   : interpreter->last_holder != 0 && interpreter->last_holder != thread->address;
}

/* True if the stack of the thread is to be read, as far as known before the tick's read. */
static bool is_wanted(const struct python_process *process, const struct python_thread *thread,
                      const struct python_sampling *sampling)
{
    /* The current holder of the GIL is not known yet; the previous one is as likely as any. */
    if (sampling->only_gil)
        return had_gil(process, thread);
    return thread->look == THREAD_RUNS || sampling->want_idle;
}

/* Queries the kernel for the threads' states. */
static void look_at_threads(struct python_process *process, const struct python_sampling *sampling)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        struct python_thread *thread = &process->threads[i];
        thread->look = THREAD_UNSEEN;
        thread->looked_late = thread->is_presumed = false;
        if ((sampling->only_gil && !had_gil(process, thread)) || may_presume(process, thread, sampling))
            continue;
        thread->look = python_thread_look(thread, process->memory.pid,
                                          wants_sleep(process, interpreter_of(process, thread), sampling));
    }
}

/* Adds the selected stacks to the batch. True: some of them as single copies. */
static bool plan_threads(struct python_process *process, struct python_sampling *sampling,
                         struct memory_batch *batch, int64_t now_ns)
{
    bool has_single = false, is_rest = batch == &sampling->rest;
    for (size_t i = 0; i < process->thread_count; i++) {
        struct python_thread *thread = &process->threads[i];
        if (is_rest && !thread->is_left_out)
            continue;
        thread->plan.batch = NULL;
        thread->is_left_out = false;
        if (!is_wanted(process, thread, sampling) || has_kept_stack(thread) ||
            is_to_be_paused(thread, sampling))
            continue;
        thread->is_left_out = is_to_be_left_out(process, thread, sampling, now_ns, is_rest);
        if (thread->is_left_out)
            continue;
        bool is_single = is_likely_still(process, thread);
        python_stack_plan(&thread->plan, batch, &thread->remembered, &process->runtime.layout,
                          thread->address, is_single);
        thread->plan.waits = thread->look == THREAD_WAITS || thread->look == THREAD_SLEPT;
        has_single = has_single || is_single;
    }
    return has_single;
}

/* Called after the batch was read. */
static void settle_plans(struct python_process *process, const struct memory_batch *batch)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        struct python_thread *thread = &process->threads[i];
        const struct python_interpreter *interpreter = interpreter_of(process, thread);
        if (thread->plan.batch == batch && interpreter != NULL)
            settle_plan(thread, interpreter);
    }
}

static void drop_plans(struct python_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        process->threads[i].plan.batch = NULL;
}

/* Reads only what shows changes of the lists and the GIL's holder. */
static enum memory_result read_pulse(struct python_process *process, struct python_sampling *sampling,
                                     int64_t now_ns)
{
    size_t pulse_at;
    memory_batch_clear(&sampling->batch);
    if (!python_pulse_plan(process, &sampling->batch, now_ns, &pulse_at))
        return MEMORY_FAULT;
    enum memory_result result = memory_batch_read(&sampling->batch, &process->memory);
    if (result == MEMORY_OK)
        python_pulse_take(process, &sampling->batch, pulse_at);
    return result;
}

/* Reads everything that a tick needs of a process at once. */
static enum memory_result read_batch(struct python_process *process, struct python_sampling *sampling,
                                     struct memory_batch *batch, int64_t now_ns)
{
    size_t pulse_at, codes_at;
    memory_batch_clear(batch);
    if (!python_pulse_plan(process, batch, now_ns, &pulse_at))
        return MEMORY_FAULT;
    bool with_codes = python_code_cache_plan(&process->codes, batch, now_ns, &codes_at);
    bool has_single = plan_threads(process, sampling, batch, now_ns);
    python_pulse_plan_end(process, batch, has_single || process->thread_count > 2);
    enum memory_result result = memory_batch_read(batch, &process->memory);
    if (result == MEMORY_OK) {
        python_pulse_take(process, batch, pulse_at);
        if (with_codes)
            python_code_cache_compare(&process->codes, &process->runtime.layout, batch->bytes + codes_at,
                                      now_ns);
        settle_plans(process, batch);
        return MEMORY_OK;
    }
    /* A remembered range is not mapped any more: each thread is read separately. */
    drop_plans(process);
    return result == MEMORY_FAULT ? read_pulse(process, sampling, now_ns) : result;
}

/* True if many stacks that were expected to be unchanged are not proved to be. */
static bool lacks_stacks(const struct python_process *process, const struct python_sampling *sampling,
                         int64_t now_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct python_thread *thread = &process->threads[i];
        const struct python_interpreter *interpreter = interpreter_of(process, thread);
        count += thread->is_left_out && interpreter != NULL &&
                 !stands_still(process, thread, interpreter, sampling, now_ns);
    }
    return count >= THREADS_FOR_BATCH;
}

static enum memory_result read_tick(struct python_process *process, struct python_sampling *sampling,
                                    int64_t now_ns)
{
    look_at_threads(process, sampling);
    enum memory_result result = read_batch(process, sampling, &sampling->batch, now_ns);
    if (result != MEMORY_OK || process->list_is_stale || !lacks_stacks(process, sampling, now_ns))
        return result;
    return read_batch(process, sampling, &sampling->rest, now_ns);
}

/* The lists changed while they were in use. */
static enum python_process_result refresh_lists(struct python_process *process,
                                                struct python_sampling *sampling, int64_t now_ns)
{
    drop_plans(process);
    enum python_process_result result = refresh(process);
    if (result != PROCESS_OK || process->list_is_stale)
        return result;
    enum memory_result memory_result = read_pulse(process, sampling, now_ns);
    return memory_result == MEMORY_OK ? PROCESS_OK : result_of_memory(memory_result);
}

/* If it is not described, it can be searched as soon as some codes are known. */
static void find_code_counter(struct python_process *process)
{
    struct python_layout *layout = &process->runtime.layout;
    if (LIKELY(layout->code.version == 0 || layout->interpreter.bytes == 0 || layout->free_threaded ||
               layout->interpreter.code_generation != NO_OFFSET ||
               process->counter_tries == MOST_COUNTER_TRIES || process->interpreter_count != 1 ||
               process->codes.size < PYTHON_CODES_TO_FIND_COUNTER))
        return;
    process->counter_tries++;
    /* It is read from the next tick on. */
    if (python_code_counter_find(&process->memory, &process->codes, process->interpreters[0].address,
                                 layout->interpreter.bytes, &layout->interpreter.code_generation))
        process->list_is_stale = true;
}

static enum python_process_result sample_all(struct python_process *process, struct python_sampling *sampling,
                                             int64_t now_ns)
{
    sampling->buffer.now_ns = now_ns;
    enum python_process_result result = refresh(process);
    if (result != PROCESS_OK || process->list_is_stale)
        return result;
    enum memory_result memory_result = read_tick(process, sampling, now_ns);
    if (memory_result != MEMORY_OK && memory_result != MEMORY_FAULT)
        return result_of_memory(memory_result);
    process->list_is_stale = process->list_is_stale || memory_result == MEMORY_FAULT;
    if (process->list_is_stale && (result = refresh_lists(process, sampling, now_ns)) != PROCESS_OK)
        return result;
    for (size_t i = 0; i < process->thread_count && result == PROCESS_OK; i++)
        result = sample_thread(process, &process->threads[i], sampling, now_ns);
    find_code_counter(process);
    return result;
}

enum python_process_result python_process_sample(struct python_process *process,
                                                 struct python_sampling *sampling, int64_t now_ns)
{
    if (UNLIKELY(now_ns < process->rest_until_ns))
        return PROCESS_OK;
    process_memory_allow(&process->memory, process->tick_effort);
    enum python_process_result result = sample_all(process, sampling, now_ns);
    if (LIKELY(process->memory.effort_left >= 0))
        return result;
    sampling->counts.broken++;
    drop_plans(process);
    process->list_is_stale = true;
    process->rest_until_ns = now_ns + PYTHON_REST_NS;
    return result == PROCESS_CHANGED ? PROCESS_OK : result;
}
