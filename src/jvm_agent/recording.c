#include "jvm_agent/recording.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/class_names.h"
#include "jvm_agent/event_plan.h"
#include "jvm_agent/fault_guard.h"
#include "jvm_agent/features.h"
#include "jvm_agent/frame_text.h"
#include "jvm_agent/java_fallback.h"
#include "jvm_agent/java_vm.h"
#include "jvm_agent/jfr_session.h"
#include "jvm_agent/label_details.h"
#include "jvm_agent/library_watch.h"
#include "jvm_agent/own_thread.h"
#include "jvm_agent/profile_text.h"
#include "jvm_agent/python_watch.h"
#include "jvm_agent/rate_limit.h"
#include "jvm_agent/runtime_stubs.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/spans.h"
#include "jvm_agent/thread_birth.h"
#include "jvm_agent/thread_filter.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/thread_watch.h"
#include "jvm_agent/walk_choice.h"
#include "jvm_agent/windows.h"

#define DEFAULT_MEMORY_BYTES ((size_t)512 << 20)
#define STEP_NS UINT64_C(1000000000)
#define ASKING_STEP_NS (STEP_NS / 5)

struct recording {
    struct arguments arguments;
    struct event_plan plan;
    bool has_data;
    bool active;
    uint64_t began_ns;
    uint64_t deadline_ns; /* 0: none */
    uint32_t sequence;    /* of files, for %n */
    struct jfr_session session;
    bool has_session;
    bool watches_python;
    pthread_t writer;
    bool writer_runs;
    _Atomic bool writer_wanted;
};

static struct recording recording;
static pthread_mutex_t command_mutex = PTHREAD_MUTEX_INITIALIZER; /* one command at a time */
static pthread_mutex_t data_mutex = PTHREAD_MUTEX_INITIALIZER;    /* counts and files */

static bool end_and_repeat(struct error *error);

static void drain(void)
{
    struct sample sample;
    pthread_mutex_lock(&data_mutex);
    while (sample_ring_take(&sampler.ring, &sample)) {
        if (sampler.asks_vm)
            java_fallback_name_methods(&sampler.methods);
        if (sample.kind < SAMPLE_FREE)
            (void)sample_counts_add(&sampler.counts, &sample);
        if (recording.has_session)
            jfr_session_add(&recording.session, &sample);
    }
    pthread_mutex_unlock(&data_mutex);
}

/* timeout=, loop=: the writer cannot end itself, so another thread does it. */
static void *end_recording(void *context)
{
    own_thread_enter();
    JNIEnv *environment = java_vm_attach("Sparkflame Timer");
    struct error error = {0};
    if (!end_and_repeat(&error))
        agent_log(LOG_ERROR, "%s", error.message);
    if (environment != NULL)
        java_vm_detach();
    own_thread_leave();
    return NULL;
}

static void end_in_time(void)
{
    pthread_t thread;
    if (recording.deadline_ns == 0 || sampler_now_ns() < recording.deadline_ns)
        return;
    recording.deadline_ns = 0;
    if (own_thread_start(&thread, end_recording, NULL))
        pthread_detach(thread);
}

/* Methods that have to be asked for may be unloaded meanwhile. */
static uint64_t step_ns(void)
{
    uint64_t now_ns = sampler_now_ns(), step = sampler.asks_vm ? ASKING_STEP_NS : STEP_NS;
    if (recording.deadline_ns == 0 || recording.deadline_ns >= now_ns + step)
        return step;
    return recording.deadline_ns > now_ns ? recording.deadline_ns - now_ns : 0;
}

static void tick_session(void)
{
    pthread_mutex_lock(&data_mutex);
    if (recording.has_session)
        jfr_session_tick(&recording.session);
    pthread_mutex_unlock(&data_mutex);
}

static void note_own_time(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    atomic_store(&sampler.writer_ns, (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec);
}

/*
 * There is one where each sample is wanted by itself, methods have to be asked for or something has to end in time. Wakes
 * seldom, and more often only when so many samples come that they might not find room. Known to the JVM when it has to ask
 * it something: how full the heap is, or what a method is called.
 */
static void *write_samples(void *context)
{
    own_thread_enter();
    JNIEnv *environment = recording.has_session || sampler.asks_vm ? java_vm_attach("Sparkflame") : NULL;
    uint32_t calls = 0;
    while (atomic_load(&recording.writer_wanted)) {
        sample_ring_await(&sampler.ring, calls, step_ns());
        calls = atomic_load(&sampler.ring.calls);
        thread_watch_refresh();
        library_watch_refresh();
        drain();
        note_own_time();
        tick_session();
        end_in_time();
    }
    if (environment != NULL)
        java_vm_detach();
    own_thread_leave();
    return NULL;
}

static bool start_writer(struct error *error)
{
    atomic_store(&recording.writer_wanted, true);
    recording.writer_runs = own_thread_start(&recording.writer, write_samples, NULL);
    if (!recording.writer_runs)
        return error_set(error, ERROR_SYSTEM, "cannot start the writer thread");
    return true;
}

static void stop_writer(void)
{
    if (!recording.writer_runs)
        return;
    atomic_store(&recording.writer_wanted, false);
    sample_ring_call(&sampler.ring);
    pthread_join(recording.writer, NULL);
    recording.writer_runs = false;
}

static void forget_data(void)
{
    if (!recording.has_data)
        return;
    sampler_close();
    class_names_clear();
    arguments_release(&recording.arguments);
    recording.has_data = false;
}

/* A recording in JFR is written while it runs; all other formats when it is asked for. */
static bool open_session(struct error *error)
{
    const struct arguments *arguments = &recording.arguments;
    char path[4096];
    if (arguments_format(arguments) != FORMAT_JFR)
        return true;
    if (arguments->file == NULL)
        return error_set(error, ERROR_USAGE, "a JFR recording needs file=");
    if (!arguments_expand_file(arguments->file, recording.sequence, path, sizeof(path)))
        return error_set(error, ERROR_USAGE, "the file name %s is too long", arguments->file);
    recording.has_session = jfr_session_open(&recording.session, arguments, &recording.plan, path, error);
    if (recording.has_session)
        spans_recording(java_vm_environment(), true);
    return recording.has_session;
}

static bool close_session(struct error *error)
{
    if (recording.has_session)
        spans_recording(java_vm_environment(), false);
    pthread_mutex_lock(&data_mutex);
    bool closed = !recording.has_session || jfr_session_close(&recording.session, error);
    recording.has_session = false;
    pthread_mutex_unlock(&data_mutex);
    return closed;
}

static bool open_data(struct error *error)
{
    int64_t limit = recording.arguments.memory_limit_bytes;
    recording.has_data =
        sampler_open(limit > 0 ? (size_t)limit : DEFAULT_MEMORY_BYTES, recording.arguments.threads, error);
    return recording.has_data;
}

static void configure_sampler(const struct arguments *arguments)
{
    int64_t depth = arguments->depth;
    sampler.depth_limit = depth > 0 && depth < SAMPLER_DEPTH_LIMIT ? (uint32_t)depth : SAMPLER_DEPTH_LIMIT;
    sampler.truncated_depth =
        arguments->truncated_depth > 0 && arguments->truncated_depth < sampler.depth_limit
            ? (uint32_t)arguments->truncated_depth
            : 0;
    sampler.processor_frames = arguments->record_cpu;
    sampler.policy_frames = arguments->scheduler;
    sampler.execution_state = THREAD_STATE_DEFAULT;
}

static void learn_threads(void)
{
    JNIEnv *environment = java_vm_environment();
    if (environment != NULL)
        java_vm_scan_threads(environment);
    thread_watch_scan();
}

static void add_python(void *context, const struct python_stack *stack)
{
    pthread_mutex_lock(&data_mutex);
    if (recording.has_session)
        jfr_session_add_python(&recording.session, stack);
    pthread_mutex_unlock(&data_mutex);
}

/* Only JFR has a place for them. Without them the rest is still worth having. */
static void start_python(void)
{
    struct error error = {0};
    int64_t rate = recording.arguments.python_rate;
    if (rate <= 0 || !recording.has_session)
        return;
    int64_t wall_ns = recording.plan.wall == NULL ? 0 : (int64_t)recording.plan.wall_settings.interval_ns;
    recording.watches_python = python_watch_start(rate < 1000 ? rate : 1000, wall_ns, add_python, &error);
    if (!recording.watches_python)
        agent_log(LOG_WARN, "Python processes are not sampled: %s", error.message);
}

static void stop_python(void)
{
    if (recording.watches_python)
        python_watch_stop();
    recording.watches_python = false;
}

/* Without a JVM threads and libraries have to be looked for. */
static bool needs_writer(void)
{
    return !sampler.counts_directly || recording.deadline_ns != 0 || java_vm.machine == NULL;
}

/* In a JVM threads, libraries and generated code tell of themselves from now on. */
static void begin_to_watch(void)
{
    thread_watch_run(true);
    thread_birth_watch(!needs_writer());
    learn_threads();
    runtime_stubs_publish();
    library_watch_start();
}

static bool start_engines(struct error *error)
{
    const struct arguments *arguments = &recording.arguments;
    int64_t limit_s = arguments->timeout_s > 0 ? arguments->timeout_s : arguments->loop_s;
    recording.began_ns = sampler_now_ns();
    recording.deadline_ns = limit_s > 0 ? recording.began_ns + (uint64_t)limit_s * 1000000000u : 0;
    sampler.counts_directly = arguments_format(arguments) != FORMAT_JFR && !sampler.asks_vm;
    begin_to_watch();
    if (!windows_start(arguments, error))
        return false;
    sampler_run(true);
    if (!event_plan_start(&recording.plan, error)) {
        sampler_run(false);
        return false;
    }
    if (!open_session(error) || (needs_writer() && !start_writer(error))) {
        struct error ignored = {0};
        event_plan_stop(&recording.plan);
        sampler_run(false);
        recording.has_session = recording.has_session && !close_session(&ignored);
        return false;
    }
    start_python();
    recording.active = true;
    return true;
}

static void stop_engines(void)
{
    if (!recording.active)
        return;
    stop_python();
    event_plan_stop(&recording.plan);
    sampler_run(false);
    stop_writer();
    thread_watch_run(false);
    learn_threads();
    drain();
    recording.active = false;
}

/* async-profiler's options that change nothing here: better said than silently different. */
static void warn_of_ignored(const struct arguments *arguments)
{
    if (arguments->jfr_sync != NULL)
        agent_log(LOG_WARN, "jfrsync: the JVM's own events are not added to the recording");
    if (arguments->descriptor_source != NULL)
        agent_log(LOG_WARN, "fdtransfer: not needed, perf events are opened by the JVM itself or not at all");
}

static bool start_locked(struct arguments *arguments, bool keep, struct error *error)
{
    struct event_plan plan;
    if (recording.active)
        return error_set(error, ERROR_USAGE, "Profiler already started");
    if (!java_vm.initialized && java_vm.machine != NULL)
        return error_set(error, ERROR_USAGE, "the JVM is not ready yet");
    enum output_format format = arguments_format(arguments);
    if (format != FORMAT_NONE && format != FORMAT_JFR && !profile_text_can_write(format, error))
        return false; /* now, not when all samples are taken */
    if (!event_plan_make(&plan, arguments, error) || !rate_limit_set(arguments->rate_limit, error) ||
        !thread_filter_set(arguments->filter, error) || !features_choose(arguments->features, error) ||
        !fault_guard_install(error))
        return false;
    warn_of_ignored(arguments);
    keep = keep && recording.has_data;
    if (!keep)
        forget_data();
    else
        arguments_release(&recording.arguments);
    recording.arguments = *arguments;
    memset(arguments, 0, sizeof(*arguments));
    recording.plan = plan;
    configure_sampler(&recording.arguments);
    walk_choice_make(&recording.arguments);
    if (!keep && !open_data(error))
        return false;
    bool started = start_engines(error);
    if (!started)
        thread_watch_run(false);
    return started;
}

bool recording_start(struct arguments *arguments, bool keep, struct error *error)
{
    pthread_mutex_lock(&command_mutex);
    if (!recording.active)
        recording.sequence = 1;
    bool started = start_locked(arguments, keep, error);
    pthread_mutex_unlock(&command_mutex);
    if (!started)
        arguments_release(arguments);
    return started;
}

static bool write_to(struct output *output, const struct arguments *arguments, enum output_format format,
                     struct error *error)
{
    struct profile_view view = {&sampler.counts, arguments, recording.plan.main_kind, recording.plan.unit};
    pthread_mutex_lock(&data_mutex);
    bool written = profile_text_write(&view, format, output, error);
    pthread_mutex_unlock(&data_mutex);
    return written && output_finish(output, error);
}

/* The later command's wishes win over those of the start. */
static struct arguments merge_arguments(const struct arguments *later)
{
    struct arguments merged = recording.arguments;
    if (later->file != NULL)
        merged.file = later->file;
    if (later->format != FORMAT_NONE || later->file != NULL)
        merged.format = later->format;
    if (later->format != FORMAT_NONE && later->format != FORMAT_JFR && later->file == NULL)
        merged.file = NULL; /* the start's file is the recording's, or of another format */
    if (later->traces >= 0 || later->flat >= 0) {
        merged.traces = later->traces;
        merged.flat = later->flat;
    }
    merged.simple |= later->simple;
    merged.normal |= later->normal;
    merged.signatures |= later->signatures;
    merged.annotate |= later->annotate;
    merged.library |= later->library;
    merged.dot |= later->dot;
    merged.total |= later->total;
    merged.reverse |= later->reverse;
    merged.inverted |= later->inverted;
    if (later->title != NULL)
        merged.title = later->title;
    if (later->least_width != NULL)
        merged.least_width_percent = later->least_width_percent;
    if (later->include.count > 0)
        merged.include = later->include;
    if (later->exclude.count > 0)
        merged.exclude = later->exclude;
    return merged;
}

static bool dump_session(struct error *error)
{
    if (arguments_format(&recording.arguments) != FORMAT_JFR)
        return error_set(error, ERROR_USAGE, "to record JFR, give jfr and file= at the start");
    pthread_mutex_lock(&data_mutex);
    bool flushed = !recording.has_session || jfr_session_flush(&recording.session, error);
    pthread_mutex_unlock(&data_mutex);
    return flushed;
}

static bool dump_locked(const struct arguments *later, struct text_builder *text, struct error *error)
{
    struct arguments arguments = merge_arguments(later);
    enum output_format format = arguments_format(&arguments);
    struct output output;
    char path[4096];
    if (!recording.has_data)
        return error_set(error, ERROR_USAGE, "Profiler has not started");
    if (format == FORMAT_NONE)
        return true;
    if (recording.active && recording.plan.wall != NULL)
        recording.plan.wall->flush();
    drain();
    thread_watch_refresh();
    library_watch_refresh();
    if (format == FORMAT_JFR)
        return dump_session(error);
    if (arguments.file == NULL) {
        if (!output_open_memory(&output, text, error))
            return false;
    } else if (!arguments_expand_file(arguments.file, recording.sequence, path, sizeof(path))) {
        return error_set(error, ERROR_USAGE, "the file name %s is too long", arguments.file);
    } else if (!output_open(&output, path, error)) {
        return false;
    }
    bool written = write_to(&output, &arguments, format, error);
    output_release(&output);
    return written;
}

bool recording_dump(const struct arguments *arguments, struct text_builder *text, struct error *error)
{
    pthread_mutex_lock(&command_mutex);
    bool dumped = dump_locked(arguments, text, error);
    pthread_mutex_unlock(&command_mutex);
    return dumped;
}

static bool rotate_locked(const struct arguments *arguments, struct error *error)
{
    char path[JFR_PATH_BYTES];
    struct jfr_ended_file ended;
    if (!recording.active || !recording.has_session)
        return error_set(error, ERROR_USAGE, "there is no JFR recording to go on with");
    if (arguments->file == NULL)
        return error_set(error, ERROR_USAGE, "rotate needs file=");
    if (!arguments_expand_file(arguments->file, ++recording.sequence, path, sizeof(path)))
        return error_set(error, ERROR_USAGE, "the file name %s is too long", arguments->file);
    drain();
    pthread_mutex_lock(&data_mutex);
    bool switched = jfr_session_switch(&recording.session, path, &ended, error);
    pthread_mutex_unlock(&data_mutex);
    return jfr_file_end(&ended, error) && switched;
}

bool recording_rotate(const struct arguments *arguments, struct error *error)
{
    pthread_mutex_lock(&command_mutex);
    bool rotated = rotate_locked(arguments, error);
    pthread_mutex_unlock(&command_mutex);
    return rotated;
}

static bool stop_locked(const struct arguments *arguments, struct text_builder *text, struct error *error)
{
    if (!recording.active && recording.has_data && arguments->format != FORMAT_NONE)
        return dump_locked(arguments, text, error); /* what the last recording left */
    if (!recording.active)
        return error_set(error, ERROR_USAGE, "Profiler is not active");
    stop_engines();
    if (!close_session(error))
        return false;
    uint64_t seconds = (sampler_now_ns() - recording.began_ns) / 1000000000u;
    struct arguments merged = merge_arguments(arguments);
    if (arguments_format(&merged) == FORMAT_NONE) {
        text_builder_format(text, "Profiling stopped after %llu seconds. No dump options specified\n",
                            (unsigned long long)seconds);
        return true;
    }
    return dump_locked(arguments, text, error);
}

bool recording_stop(const struct arguments *arguments, struct text_builder *text, struct error *error)
{
    pthread_mutex_lock(&command_mutex);
    bool stopped = stop_locked(arguments, text, error);
    pthread_mutex_unlock(&command_mutex);
    return stopped;
}

static bool end_and_repeat(struct error *error)
{
    struct arguments none, again;
    struct text_builder text;
    if (!arguments_parse(&none, "stop", error))
        return false;
    text_builder_init(&text, 1 << 20);
    pthread_mutex_lock(&command_mutex);
    bool repeat = recording.arguments.loop_s > 0 && recording.arguments.timeout_s <= 0;
    bool done = stop_locked(&none, &text, error);
    if (done && repeat && arguments_parse(&again, recording.arguments.source, error)) {
        recording.sequence++;
        done = start_locked(&again, false, error);
        arguments_release(&again);
    }
    pthread_mutex_unlock(&command_mutex);
    text_builder_release(&text);
    arguments_release(&none);
    return done;
}

void recording_describe(struct text_view label, struct text_view labels)
{
    pthread_mutex_lock(&data_mutex);
    if (label_details_set(label, labels) && recording.has_session)
        jfr_session_describe(&recording.session, label);
    pthread_mutex_unlock(&data_mutex);
}

bool recording_is_active(void)
{
    return recording.active;
}

uint64_t recording_samples(void)
{
    return sampler.opened ? atomic_load(&sampler.samples) : 0;
}

void recording_status(struct text_builder *text)
{
    pthread_mutex_lock(&command_mutex);
    if (recording.active)
        text_builder_format(text, "Profiling is running for %llu seconds\n",
                            (unsigned long long)((sampler_now_ns() - recording.began_ns) / 1000000000u));
    else
        text_builder_add_c_string(text, "Profiler is not active\n");
    pthread_mutex_unlock(&command_mutex);
}

static void add_metric(struct text_builder *text, const char *name, uint64_t value)
{
    text_builder_format(text, "%s %llu\n", name, (unsigned long long)value);
}

void recording_metrics(struct text_builder *text)
{
    pthread_mutex_lock(&command_mutex);
    add_metric(text, "signals_total", atomic_load(&sampler.signals));
    add_metric(text, "samples_total", recording_samples());
    add_metric(
        text, "samples_skipped_total",
        atomic_load(&sampler.busy) + atomic_load(&sampler.unknown_thread) +
            (sampler.opened ? atomic_load(&sampler.ring.dropped) + atomic_load(&sampler.counts.dropped) : 0));
    add_metric(text, "calltracestorage_overflows_total", atomic_load(&sampler.failed[FRAME_ERROR_NO_ROOM]));
    add_metric(text, "calltracestorage_bytes", sampler_table_bytes());
    add_metric(text, "stackwalk_ns_total", atomic_load(&sampler.handler_ns));
    add_metric(text, "faults_recovered_total", fault_guard_count());
    for (uint32_t i = 0; i < FRAME_ERRORS; i++)
        text_builder_format(text, "samples_failed_total{reason=\"%s\"} %llu\n", frame_error_text(i),
                            (unsigned long long)atomic_load(&sampler.failed[i]));
    pthread_mutex_unlock(&command_mutex);
}
