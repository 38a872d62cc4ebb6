#include "commands/record/python_recording.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text_view.h"
#include "commands/record/python_targets.h"
#include "commands/time_text.h"

#define PROGRESS_NS INT64_C(500000000)
#define SECOND_NS INT64_C(1000000000)

static atomic_bool stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

static bool parse_pid(const char *text, pid_t *pid, struct error *error)
{
    uint64_t number;
    struct text_view view = text_of(text);
    bool is_hex = text_starts_with(view, TEXT("0x"));
    if (is_hex ? !text_to_hex64(text_from(view, 2), &number) : !text_to_u64(view, &number))
        return error_set(error, ERROR_USAGE, "\"%s\" is not a process id", text);
    if (number == 0 || number > INT32_MAX)
        return error_set(error, ERROR_USAGE, "there is no process %s", text);
    *pid = (pid_t)number;
    return true;
}

bool python_recording_add_pid(struct python_recording *recording, const char *text, struct error *error)
{
    if (recording->targets.pid_count == TARGET_MOST_PIDS)
        return error_set(error, ERROR_USAGE, "too many processes");
    return parse_pid(text, &recording->targets.pids[recording->targets.pid_count++], error);
}

bool python_recording_set_rate(struct python_recording *recording, double rate, struct error *error)
{
    if (!(rate >= 0.1 && rate <= 1000000))
        return error_set(error, ERROR_USAGE, "--rate: %g is not between 0.1 and 1000000", rate);
    recording->sampler.interval_ns = (int64_t)(1e9 / rate);
    recording->profile.interval_ns = recording->sampler.interval_ns;
    return true;
}

char **python_recording_cut_program(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            char **program = i + 1 < *argc ? argv + i + 1 : NULL;
            *argc = i;
            return program;
        }
    }
    return NULL;
}

bool python_recording_parse_duration(const char *text, int64_t *duration_ns, struct error *error)
{
    *duration_ns = 0;
    if (strcmp(text, "unlimited") == 0)
        return true;
    int64_t asked_ns;
    if (!time_text_duration(text, &asked_ns, NULL) || asked_ns < SECOND_NS / 1000 ||
        asked_ns >= SECOND_NS * 1000000000)
        return error_set(error, ERROR_USAGE,
                         "\"%s\" is not a duration: use seconds, 90s, 2m, 1h or unlimited", text);
    *duration_ns = asked_ns;
    return true;
}

static size_t live_jvms(const struct python_recording *recording)
{
    return recording->jvms == NULL ? 0 : jvm_recordings_live(recording->jvms);
}

static size_t live_natives(const struct python_recording *recording)
{
    return recording->native == NULL ? 0 : native_recording_live(recording->native);
}

static bool has_pythons(const struct python_recording *recording)
{
    const struct target_selection *targets = &recording->targets;
    return targets->pid_count > 0 || targets->program != NULL || targets->spark_application != NULL;
}

static void print_progress(const struct python_recording *recording, const struct python_sampler *sampler,
                           int64_t begin)
{
    struct python_sampler_statistics statistics = python_sampler_statistics(sampler);
    double seconds = (double)(now_ns() - begin) / (double)SECOND_NS;
    size_t jvms = live_jvms(recording);
    fprintf(stderr, "\r%.0f s", seconds);
    if (recording->duration_ns > 0)
        fprintf(stderr, " of %.0f", (double)recording->duration_ns / (double)SECOND_NS);
    if (jvms > 0)
        fprintf(stderr, ": %zu JVM%s", jvms, jvms == 1 ? "" : "s");
    if (has_pythons(recording))
        fprintf(stderr, "%s %llu stacks of %zu Python process%s", jvms > 0 ? "," : ":",
                (unsigned long long)statistics.counts.stacks, statistics.live_python,
                statistics.live_python == 1 ? "" : "es");
    else if (live_natives(recording) > 0)
        fprintf(stderr, "%s native code", jvms > 0 ? "," : ":");
    fprintf(stderr, "; Ctrl-C ends\033[K");
    fflush(stderr);
}

/* Without a Python nothing keeps time. */
static void wait_for_others(int64_t most_ns)
{
    int64_t part = most_ns > 0 && most_ns < PROGRESS_NS / 5 ? most_ns : PROGRESS_NS / 5;
    nanosleep(&(struct timespec){.tv_nsec = (long)part}, NULL);
}

/* In short runs when somebody watches. */
static void run_sampler(const struct python_recording *recording, struct python_targets *targets,
                        struct python_sampler *sampler)
{
    int64_t begin = now_ns();
    bool watched = !recording->quiet && isatty(STDERR_FILENO) && recording->targets.program == NULL;
    int64_t left = recording->duration_ns;
    do {
        int64_t part = watched && (left == 0 || left > PROGRESS_NS) ? PROGRESS_NS : left;
        python_targets_sample(targets, sampler, part, &stopped);
        if (python_sampler_statistics(sampler).live == 0 &&
            live_jvms(recording) + live_natives(recording) > 0)
            wait_for_others(part);
        if (watched)
            print_progress(recording, sampler, begin);
        if (recording->duration_ns > 0) {
            left = recording->duration_ns - (now_ns() - begin);
            if (left <= 0)
                break;
        }
    } while (!atomic_load(&stopped) &&
             python_sampler_statistics(sampler).live + live_jvms(recording) + live_natives(recording) > 0);
    if (watched)
        fprintf(stderr, "\r\033[K");
}

static void print_summary(const struct python_recording *recording, const struct python_sampler *sampler)
{
    struct python_sampler_statistics statistics = python_sampler_statistics(sampler);
    const struct python_counts *counts = &statistics.counts;
    char lost[200] = "";
    if (counts->restless + counts->broken + counts->too_deep > 0)
        snprintf(lost, sizeof(lost), "; skipped: %llu changed while read, %llu unreadable, %llu too deep",
                 (unsigned long long)counts->restless, (unsigned long long)counts->broken,
                 (unsigned long long)counts->too_deep);
    char unpaused[60] = "";
    if (counts->unpaused > 0)
        snprintf(unpaused, sizeof(unpaused), "; %llu times not paused", (unsigned long long)counts->unpaused);
    char missed[60] = "";
    if (statistics.missed_ticks > 0)
        snprintf(missed, sizeof(missed), "; %llu missed", (unsigned long long)statistics.missed_ticks);
    bool has_others = recording->jvms != NULL || recording->native != NULL;
    if (!has_pythons(recording) || recording->ignores_python || (has_others && counts->stacks == 0))
        return;
    if (!recording->quiet)
        command_complain(recording->command, "%llu stacks of %llu process%s in %llu ticks%s%s%s",
                         (unsigned long long)counts->stacks, (unsigned long long)statistics.processes,
                         statistics.processes == 1 ? "" : "es", (unsigned long long)statistics.ticks, missed,
                         lost, unpaused);
    if (counts->stacks == 0 && counts->idle > 0)
        command_complain(
            recording->command,
            "no thread ran Python code during the recording; --idle also records waiting threads");
    else if (counts->stacks == 0)
        command_complain(recording->command, "no Python process ran during the recording");
}

static void ignore_stack(void *context, const struct python_stack *stack)
{
    (void)context;
    (void)stack;
}

bool python_recording_run(const struct python_recording *recording, struct profile *profile,
                          int *program_exit)
{
    struct error error = {0};
    struct python_profile into;
    struct python_sampler *sampler = NULL;
    struct python_targets targets = {.selection = &recording->targets};
    bool good = false;
    if (!python_profile_init(&into, profile, &recording->profile, &error))
        goto done;
    sampler =
        python_sampler_new(&recording->sampler,
                           recording->ignores_python ? ignore_stack : python_profile_deliver, &into, &error);
    if (sampler == NULL)
        goto done;
    catch_signals();
    if (!python_targets_init(&targets, &recording->targets, sampler, &error))
        goto done;
    run_sampler(recording, &targets, sampler);
    print_summary(recording, sampler);
    if (into.failed)
        error_set_memory(&error);
    good =
        !into.failed && (profile->sample_count > 0 || recording->jvms != NULL || recording->native != NULL);
done:
    if (error.code != ERROR_NONE)
        command_complain(recording->command, "%s", error.message);
    python_sampler_free(sampler);
    python_profile_release(&into);
    *program_exit = python_targets_release(&targets);
    return good;
}

static bool record_with_jvms(const struct python_recording *recording, const struct profile_needs *needs,
                             struct profile *profile, int *program_exit)
{
    struct error error = {0};
    if (recording->jvms == NULL)
        return python_recording_run(recording, profile, program_exit);
    if (!jvm_recordings_start(recording->jvms, &error)) {
        command_complain(recording->command, "%s", error.message);
        return false;
    }
    bool good = python_recording_run(recording, profile, program_exit);
    return jvm_recordings_take(recording->jvms, needs, profile) && good;
}

/* A program is sampled from its exec on, other processes from now. */
static bool record_with_natives(const struct python_recording *recording, const struct profile_needs *needs,
                                struct profile *profile, int *program_exit)
{
    struct error error = {0};
    struct native_recording *native = recording->native;
    if (native == NULL)
        return record_with_jvms(recording, needs, profile, program_exit);
    native->keep_times = needs->times;
    bool starts_now = native->pid_count > 0 || native->options.whole_machine;
    if (starts_now && !native_recording_start(native, &error)) {
        command_complain(recording->command, "%s", error.message);
        return false;
    }
    bool good = record_with_jvms(recording, needs, profile, program_exit);
    return native_recording_take(native, profile) && good;
}

/* The agent's start takes a moment, so JVMs come before Python. */
static bool record_all(const struct python_recording *recording, const struct profile_needs *needs,
                       struct profile *profile, int *program_exit)
{
    bool good = record_with_natives(recording, needs, profile, program_exit);
    bool has_others = recording->jvms != NULL || recording->native != NULL;
    if (good && has_others && profile->sample_count == 0)
        command_complain(recording->command, "no sample was taken during the recording");
    return good && profile->sample_count > 0;
}

int python_recording_write(const struct python_recording *recording, const struct picture_options *picture)
{
    static struct profile_input_options input_options;
    struct error error = {0};
    struct picture_target target;
    int exit_code = picture_target_prepare(&target, recording->command, picture, "folded");
    if (exit_code != EXIT_GOOD)
        return exit_code;
    struct profile_needs needs = picture_needs(&target, picture);
    struct profile_input input = {.command = recording->command, .options = &input_options};
    profile_input_options_init(&input_options);
    input.names.lines = true;
    if (!profile_init(&input.profile, needs.times, &error)) {
        command_complain(recording->command, "%s", error.message);
        return EXIT_FAILED;
    }
    input.profile.times_are_absolute = true;
    exit_code = EXIT_FAILED;
    int program_exit = 0;
    if (record_all(recording, &needs, &input.profile, &program_exit))
        exit_code = picture_write(&target, picture, &input, NULL, NULL);
    if (recording->native != NULL && recording->native->is_partial)
        exit_code = EXIT_FAILED;
    profile_release(&input.profile);
    return program_exit != 0 ? program_exit : exit_code;
}
