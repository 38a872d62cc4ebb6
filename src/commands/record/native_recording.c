#include "commands/record/native_recording.h"

#include "base/text_builder.h"
#include "jvm_attach/jvm_process.h"
#include "native_sampler/process_image.h"
#include "python_sampler/python_process.h"

bool is_native(pid_t pid)
{
    enum python_find_result result;
    struct jvm_process jvm;
    bool is_jvm = jvm_process_read(&jvm, pid, NULL);
    if (is_jvm) {
        is_jvm = jvm.kind == JVM_HOTSPOT;
        jvm_process_release(&jvm);
    }
    struct python_process *python = is_jvm ? NULL : python_process_new(pid, &result, NULL);
    python_process_free(python);
    /* One that starts or is damaged shows no interpreter yet. */
    return !is_jvm && python == NULL && result == PYTHON_NONE && !process_image_is_python(pid);
}

static void *run(void *context)
{
    struct native_recording *recording = context;
    native_sampler_run(recording->sampler, &recording->stop);
    return NULL;
}

bool native_recording_start(struct native_recording *recording, struct error *error)
{
    recording->options.pids = recording->pids;
    recording->options.pid_count = recording->pid_count;
    recording->options.excluded = recording->jvms;
    recording->options.excluded_count = recording->jvm_count;
    if (!profile_init(&recording->profile, recording->keep_times, error))
        return false;
    recording->profile.times_are_absolute = true;
    recording->sampler = native_sampler_new(&recording->options, &recording->profile, error);
    if (recording->sampler != NULL && pthread_create(&recording->thread, NULL, run, recording) == 0)
        return true;
    if (recording->sampler != NULL)
        error_set(error, ERROR_SYSTEM, "cannot start a thread");
    native_sampler_free(recording->sampler);
    recording->sampler = NULL;
    profile_release(&recording->profile);
    return false;
}

void native_recording_start_program(void *context, pid_t pid)
{
    struct native_recording *recording = context;
    recording->pids[0] = pid;
    recording->pid_count = 1;
    recording->options.starts_on_exec = true;
    if (native_recording_start(recording, &recording->failure))
        recording->failure.code = ERROR_NONE;
}

size_t native_recording_live(const struct native_recording *recording)
{
    return recording->sampler == NULL ? 0 : native_sampler_live(recording->sampler);
}

static void add_count(struct text_builder *text, uint64_t count, const char *what)
{
    if (count > 0)
        text_builder_format(text, "; %llu %s", (unsigned long long)count, what);
}

static void print_counts(const struct native_recording *recording,
                         const struct native_sampler_statistics *statistics)
{
    struct text_builder text;
    text_builder_init(&text, 4096);
    add_count(&text, statistics->waits, statistics->waits == 1 ? "wait" : "waits");
    add_count(&text, statistics->unknown_waits, "of these without stack");
    add_count(&text, statistics->lost, "lost");
    add_count(&text, statistics->cut, "stacks cut at 32 KB");
    add_count(&text, statistics->broken, "stacks incomplete");
    add_count(&text, statistics->throttled, "times throttled by the kernel");
    add_count(&text, statistics->left_out, "left to the recording of Python");
    add_count(&text, statistics->forbidden,
              statistics->forbidden == 1 ? "child process not permitted" : "child processes not permitted");
    add_count(&text, statistics->lost_switches, "switches of threads missed");
    add_count(&text, statistics->lost_wakers, "wakers missed");
    add_count(&text, statistics->lost_changes, "starts, exits, names and mappings missed");
    command_complain(recording->command, "%llu samples of native code%s",
                     (unsigned long long)statistics->samples, text_builder_c_string(&text));
    text_builder_release(&text);
}

/* How waits were recorded, in a line. */
static void print_wakers(const struct native_recording *recording,
                         const struct native_sampler_statistics *statistics)
{
    if (statistics->no_wakers != NULL)
        command_complain(recording->command,
                         "waits by the switch records of perf events; who ended them is not known: %s",
                         statistics->no_wakers);
    else
        command_complain(recording->command,
                         "waits by the switch records of perf events, wakers of %llu by the tracepoint "
                         "sched:sched_waking",
                         (unsigned long long)statistics->woken_waits);
}

static void print_summary(const struct native_recording *recording)
{
    struct native_sampler_statistics statistics = native_sampler_statistics(recording->sampler);
    if (recording->quiet || (statistics.samples + statistics.waits + statistics.forbidden == 0 &&
                             recording->options.leaves_out_python))
        return;
    print_counts(recording, &statistics);
    if (recording->options.kind != NATIVE_EVENT && !statistics.has_wait_stacks)
        command_complain(recording->command,
                         "stacks of short waits are missing: kernel.perf_event_paranoid does not permit "
                         "them; 1 or less does, or CAP_PERFMON");
    if (recording->options.kind != NATIVE_EVENT)
        print_wakers(recording, &statistics);
    if (!statistics.has_kernel)
        command_complain(recording->command,
                         "time in the kernel is missing: kernel.perf_event_paranoid does not "
                         "permit it; 1 or less does, or CAP_PERFMON");
    else if (!statistics.has_kernel_names)
        command_complain(recording->command, "frames of the kernel have no names: kernel.kptr_restrict hides "
                                             "/proc/kallsyms from this user");
}

/* Others may have added an event of this name, whose samples have one length. */
static void show_values(const struct native_recording *recording, struct profile *profile)
{
    for (size_t i = 0; i < recording->profile.event_count; i++) {
        const struct event *event = &recording->profile.events[i];
        uint32_t number = profile_event(profile, profile_text(&recording->profile, event->name), event->unit,
                                        event->shows_value);
        if (number != EVENT_LIMIT)
            profile->events[number].shows_value |= event->shows_value;
    }
}

static void stop(struct native_recording *recording)
{
    atomic_store(&recording->stop, true);
    pthread_join(recording->thread, NULL);
}

bool native_recording_take(struct native_recording *recording, struct profile *profile)
{
    struct error error = {0};
    if (recording->sampler == NULL) {
        bool is_told = profile->sample_count == 0 || !recording->quiet;
        if (is_told && recording->failure.code != ERROR_NONE)
            command_complain(recording->command, "native code is not recorded: %s",
                             recording->failure.message);
        return true;
    }
    stop(recording);
    recording->is_partial = native_sampler_statistics(recording->sampler).failed;
    bool good = profile_merge(profile, &recording->profile, &error);
    show_values(recording, profile);
    print_summary(recording);
    if (recording->is_partial)
        command_complain(recording->command, "out of memory: later samples of native code are missing");
    if (!good)
        command_complain(recording->command, "%s", error.message);
    native_sampler_free(recording->sampler);
    recording->sampler = NULL;
    profile_release(&recording->profile);
    return good;
}

void native_recording_release(struct native_recording *recording)
{
    if (recording->sampler == NULL)
        return;
    stop(recording);
    native_sampler_free(recording->sampler);
    recording->sampler = NULL;
    profile_release(&recording->profile);
}
