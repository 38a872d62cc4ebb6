#include "python_sampler/python_thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python_sampler/process_numbers.h"

#define MOST_SKIPPED_LOOKS 16
#define MOST_SKIPPED_ASKS 3

void python_thread_init(struct python_thread *thread, uint64_t address, uint64_t interpreter)
{
    *thread = (struct python_thread){.address = address,
                                     .interpreter = interpreter,
                                     .state_descriptor = -1,
                                     .schedule_descriptor = -1,
                                     .mark = UINT32_MAX};
    python_stack_memory_init(&thread->remembered);
    python_named_stack_init(&thread->stack);
}

static void close_files(struct python_thread *thread)
{
    if (thread->state_descriptor >= 0)
        close(thread->state_descriptor);
    if (thread->schedule_descriptor >= 0)
        close(thread->schedule_descriptor);
    thread->state_descriptor = thread->schedule_descriptor = -1;
    thread->schedule_size = 0;
    thread->was_waiting = thread->surely_waited = false;
}

void python_thread_release(struct python_thread *thread)
{
    close_files(thread);
    thread_pause_end(&thread->pause);
    native_stack_release(&thread->native);
    python_named_stack_release(&thread->stack);
    python_stack_memory_release(&thread->remembered);
}

/* In a container the process's own id of the thread is not ours: the line NSpid has both. */
static pid_t translate_number(const struct process_memory *memory, pid_t inner)
{
    /* The id comes from the target, and may be that of another process's thread. */
    if (memory->inner_pid == memory->pid)
        return process_has_thread(memory->pid, inner) ? inner : 0;
    return inner == memory->inner_pid ? memory->pid : process_find_thread(memory->pid, inner);
}

void python_thread_identify(struct python_thread *thread, const struct python_runtime *runtime,
                            struct process_memory *memory, const unsigned char *state)
{
    const struct python_layout *layout = &runtime->layout;
    uint64_t thread_id = load_u64(state + layout->thread.thread_id);
    if (thread_id == thread->thread_id && thread->number != 0)
        return;
    uint32_t number = 0;
    if (layout->thread.native_thread_id != NO_OFFSET)
        number = load_u32(state + layout->thread.native_thread_id);
    else if (runtime->thread_number_offset != 0 &&
             process_memory_read(memory, thread_id + runtime->thread_number_offset, &number,
                                 sizeof(number)) != MEMORY_OK)
        number = 0;
    thread->thread_id = thread_id;
    thread->number = number == 0 ? 0 : translate_number(memory, (pid_t)number);
    close_files(thread);
}

/* -2: cannot be opened. */
static int open_file(const struct python_thread *thread, pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)thread->number, name);
    int descriptor = thread->number == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    return descriptor < 0 ? -2 : descriptor;
}

/* Reads the file; negative if it cannot be read. It stays open if the thread may keep it. */
static ssize_t read_file(const struct python_thread *thread, pid_t pid, const char *name, int *descriptor,
                         char *text, size_t room)
{
    if (*descriptor == -1)
        *descriptor = open_file(thread, pid, name);
    if (*descriptor < 0)
        return -1;
    ssize_t got = pread(*descriptor, text, room, 0);
    if (!thread->keeps_files) {
        close(*descriptor);
        *descriptor = -1;
    }
    return got;
}

/* Stores how often it has run. True: not at all since the last call. */
static bool note_schedule(struct python_thread *thread, pid_t pid)
{
    char text[PYTHON_SCHEDULE_BYTES];
    /* Time on a processor, time waited for one, and number of runs: the last one increases as soon as it runs. */
    ssize_t got = read_file(thread, pid, "schedstat", &thread->schedule_descriptor, text, sizeof(text));
    size_t size = got < 0 ? 0 : (size_t)got;
    bool is_same = size > 0 && size == thread->schedule_size && memcmp(text, thread->schedule, size) == 0;
    memcpy(thread->schedule, text, size);
    thread->schedule_size = size;
    return is_same;
}

static bool is_on_cpu(struct python_thread *thread, pid_t pid)
{
    char text[8];
    /* The file contains "running", or the system call in which the thread waits. */
    ssize_t got = read_file(thread, pid, "syscall", &thread->state_descriptor, text, sizeof(text));
    return got <= 0 || text[0] == 'r';
}

/* True if it has not run since the previous query; false if that is not worth querying. */
static bool ask_slept(struct python_thread *thread, pid_t pid)
{
    if (!thread->was_waiting)
        return false;
    if (thread->looks_to_skip > 0) {
        thread->looks_to_skip--;
        thread->was_waiting = false;
        return false;
    }
    bool has_slept = note_schedule(thread, pid);
    if (has_slept)
        thread->unslept_looks = 0;
    else if (thread->unslept_looks < MOST_SKIPPED_LOOKS)
        thread->unslept_looks++;
    thread->looks_to_skip = thread->unslept_looks;
    return has_slept;
}

/* A thread that wakes up between the two reads of one query is detected by the next query: it has certainly slept
 * only if it was waiting in both with no run in between. */
enum python_thread_look python_thread_look(struct python_thread *thread, pid_t pid, bool wants_sleep)
{
    if (!wants_sleep) {
        thread->was_waiting = thread->surely_waited = false;
        return is_on_cpu(thread, pid) ? THREAD_RUNS : THREAD_WAITS;
    }
    bool has_slept = ask_slept(thread, pid);
    if (has_slept && thread->surely_waited)
        return THREAD_SLEPT;
    bool on_cpu = is_on_cpu(thread, pid);
    if (!on_cpu && !thread->was_waiting && thread->looks_to_skip == 0)
        (void)note_schedule(thread, pid);
    thread->surely_waited = has_slept && !on_cpu;
    thread->was_waiting = !on_cpu;
    if (on_cpu)
        return THREAD_RUNS;
    return has_slept ? THREAD_SLEPT : THREAD_WAITS;
}

void python_thread_presume(struct python_thread *thread, pid_t pid, bool has_gil, bool wants_sleep)
{
    const struct python_thread_habit *habit = &thread->habits[has_gil];
    thread->looked_late = true;
    thread->is_presumed = habit->is_known;
    if (habit->is_known)
        thread->look = habit->runs ? THREAD_RUNS : THREAD_WAITS;
    else
        thread->look = python_thread_look(thread, pid, wants_sleep);
}

bool python_thread_is_due(struct python_thread *thread)
{
    if (thread->asks_to_skip == 0)
        return true;
    thread->asks_to_skip--;
    return false;
}

void python_thread_settle_look(struct python_thread *thread, pid_t pid, bool has_gil, bool wants_sleep)
{
    struct python_thread_habit *habit = &thread->habits[has_gil];
    uint64_t place = thread->stack.count == 0 ? 0 : thread->stack.raw[thread->stack.count - 1].code;
    if (thread->is_presumed && habit->place == place)
        return;
    if (thread->is_presumed)
        thread->look = python_thread_look(thread, pid, wants_sleep);
    thread->is_presumed = false;
    bool runs = thread->look == THREAD_RUNS;
    bool is_steady = habit->is_known && habit->place == place && habit->runs == runs;
    *habit = (struct python_thread_habit){true, runs, place};
    if (!is_steady)
        thread->steadiness = 0;
    else if (thread->steadiness < MOST_SKIPPED_ASKS)
        thread->steadiness++;
    thread->asks_to_skip = thread->steadiness;
}

void python_thread_read_kernel_name(struct python_thread *thread, pid_t pid)
{
    char path[64];
    thread->name[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)thread->number);
    int descriptor = thread->number == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ssize_t got = read(descriptor, thread->name, sizeof(thread->name) - 1);
    close(descriptor);
    thread->name[got < 0 ? 0 : got] = '\0';
    thread->name[strcspn(thread->name, "\n")] = '\0';
}
