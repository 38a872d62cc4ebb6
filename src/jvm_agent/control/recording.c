#include "jvm_agent/control/recording.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/agent_marker.h"
#include "jvm_agent/control/python_watch.h"
#include "jvm_agent/control/recording_data.h"
#include "jvm_agent/control/recording_views.h"
#include "jvm_agent/jfr/secret_patterns.h"
#include "jvm_agent/engines/event_plan.h"
#include "jvm_agent/engines/java_threads.h"
#include "jvm_agent/engines/library_watch.h"
#include "jvm_agent/engines/thread_birth.h"
#include "jvm_agent/engines/thread_filter.h"
#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/engines/windows.h"
#include "jvm_agent/handler/features.h"
#include "jvm_agent/handler/java_fallback.h"
#include "jvm_agent/handler/rate_limit.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/handler/walk_choice.h"
#include "jvm_agent/jfr/label_details.h"
#include "jvm_agent/labels/spans.h"
#include "jvm_agent/labels/tags.h"
#include "jvm_agent/output/frame_text.h"
#include "jvm_agent/output/profile_text.h"
#include "jvm_agent/own_thread.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/native_names.h"
#include "jvm_agent/vm/runtime_stubs.h"

#define STEP_NS UINT64_C(1000000000)
#define ASKING_STEP_NS (STEP_NS / 5)
#define FOREVER_NS (3600 * STEP_NS)
#define SPILL_FACTOR 64
#define SPILL_LIMIT_BYTES ((uint64_t)4 << 30)

static pthread_mutex_t command_mutex = PTHREAD_MUTEX_INITIALIZER; /* one command at a time */

static bool end_and_repeat(struct error *error);
static bool needs_writer(void);

/* timeout=, loop=: the writer cannot end itself, so another thread does. */
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

static void check_deadline(void)
{
    pthread_t thread;
    if (recording.deadline_ns == 0 || agent_now_ns() < recording.deadline_ns)
        return;
    recording.deadline_ns = 0;
    if (own_thread_start(&thread, end_recording, NULL))
        pthread_detach(thread);
}

/* If handlers count samples, the writer is woken when tables are nearly full. If method names come from the JVM, it
 * wakes more often, as classes may be unloaded. */
static uint64_t step_ns(void)
{
    if (!needs_writer())
        return recording_tables_are_nearly_full(atomic_load(&sampler.tables)) ? STEP_NS : FOREVER_NS;
    uint64_t now_ns = agent_now_ns(), step = sampler.asks_vm ? ASKING_STEP_NS : STEP_NS;
    if (recording.deadline_ns == 0 || recording.deadline_ns >= now_ns + step)
        return step;
    return recording.deadline_ns > now_ns ? recording.deadline_ns - now_ns : 0;
}

static void tick_session(void)
{
    pthread_mutex_lock(&recording.data_mutex);
    if (recording.has_session)
        jfr_session_tick(&recording.session);
    recording_views_tick();
    pthread_mutex_unlock(&recording.data_mutex);
}

static void note_own_time(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    atomic_store(&sampler.writer_ns, (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec);
}

/*
 * Needed if samples are recorded individually, if method names come from the JVM, or if the recording has a deadline:
 * then it wakes rarely, and more often only if samples arrive so fast that the ring might overflow. Otherwise it sleeps
 * until tables are to be renewed. Attached to the JVM if it needs the JVM for heap use or method names.
 */
static void *write_samples(void *context)
{
    own_thread_enter();
    bool asks = recording.has_session || sampler.asks_vm || recording_views_exist();
    JNIEnv *environment = asks ? java_vm_attach("Sparkflame") : NULL;
    uint32_t calls = 0;
    while (atomic_load(&recording.writer_wanted)) {
        sample_ring_await(&sampler.ring, calls, step_ns());
        calls = atomic_load(&sampler.ring.calls);
        if (needs_writer()) {
            thread_watch_refresh();
            library_watch_refresh();
        }
        recording_drain();
        recording_renew_full_tables();
        recording_log_drops(false);
        note_own_time();
        tick_session();
        check_deadline();
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
    spilled_tables_release(&recording.spilled);
    native_names_release();
    arguments_release(&recording.arguments);
    recording.has_data = false;
}

/* A JFR recording is written while it runs; all other formats on request. */
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
    recording.has_session = jfr_session_open(&recording.session, arguments, &recording.plan, path,
                                             recording.shares.session, atomic_load(&sampler.tables), error);
    if (recording.has_session)
        spans_recording(java_vm_environment(), true);
    return recording.has_session;
}

static bool close_session(struct error *error)
{
    if (recording.has_session)
        spans_recording(java_vm_environment(), false);
    pthread_mutex_lock(&recording.data_mutex);
    recording_views_end_all();
    bool closed = !recording.has_session || jfr_session_close(&recording.session, error);
    recording.has_session = false;
    pthread_mutex_unlock(&recording.data_mutex);
    return closed;
}

static uint64_t spill_limit(size_t memory_bytes)
{
    uint64_t bytes = (uint64_t)memory_bytes * SPILL_FACTOR;
    return bytes < SPILL_LIMIT_BYTES ? bytes : SPILL_LIMIT_BYTES;
}

static bool open_data(struct error *error)
{
    int64_t limit = recording.arguments.memory_limit_bytes;
    recording.shares = memory_shares_of(limit > 0 ? (size_t)limit : 0);
    if (limit > 0 && (size_t)limit < recording.shares.limit)
        agent_log(LOG_WARN, "memlimit=%lld is too small: using %zu bytes", (long long)limit,
                  recording.shares.limit);
    thread_names_limit(recording.shares.thread_names);
    tags_limit(recording.shares.tags);
    native_names_limit(recording.shares.native_names);
    spilled_tables_init(&recording.spilled, spill_limit(recording.shares.limit));
    recording.has_data = sampler_open(recording.shares.tables, recording.arguments.threads, error);
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
        java_threads_scan(environment);
    thread_watch_scan();
}

static void add_python(void *context, const struct python_stack *stack)
{
    pthread_mutex_lock(&recording.data_mutex);
    if (recording.has_session)
        jfr_session_add_python(&recording.session, stack);
    pthread_mutex_unlock(&recording.data_mutex);
}

static void forget_python(void)
{
    pthread_mutex_lock(&recording.data_mutex);
    if (recording.has_session)
        jfr_session_forget_python(&recording.session);
    pthread_mutex_unlock(&recording.data_mutex);
}

/* Only JFR recordings hold Python samples. A failure does not end the recording. */
static void start_python(void)
{
    struct error error = {0};
    int64_t rate = recording.arguments.python_rate;
    if (rate <= 0 || !recording.has_session)
        return;
    int64_t wall_ns = recording.plan.wall == NULL ? 0 : (int64_t)recording.plan.wall_settings.interval_ns;
    struct python_watch_settings settings = {.rate = rate < 1000 ? rate : 1000,
                                             .idle_interval_ns = wall_ns,
                                             .limit_bytes = recording.shares.python_names,
                                             .deliver = add_python,
                                             .forget = forget_python};
    recording.watches_python = python_watch_start(&settings, &error);
    if (!recording.watches_python)
        agent_log(LOG_WARN, "Python processes are not sampled: %s", error.message);
}

static void stop_python(void)
{
    if (recording.watches_python)
        python_watch_stop();
    recording.watches_python = false;
}

/* Without a JVM, threads and libraries have to be searched for. */
static bool needs_writer(void)
{
    return !sampler.counts_directly || recording.deadline_ns != 0 || java_vm.machine == NULL;
}

/* In a JVM, events and hooks report threads, libraries and generated code from now on. */
static void begin_to_watch(void)
{
    sparkflame_agent_state.recording_ns = recording.began_ns;
    thread_watch_run(true);
    thread_birth_watch(!needs_writer());
    library_watch_start();
    learn_threads();
    runtime_stubs_publish();
}

static void end_to_watch(void)
{
    sparkflame_agent_state.recording_ns = 0;
    thread_watch_run(false);
    thread_birth_unwatch();
    library_watch_stop();
}

static void allow_renewal(bool allow)
{
    pthread_mutex_lock(&recording.data_mutex);
    recording.is_renewable = allow;
    pthread_mutex_unlock(&recording.data_mutex);
}

static bool start_engines(struct error *error)
{
    const struct arguments *arguments = &recording.arguments;
    int64_t limit_s = arguments->timeout_s > 0 ? arguments->timeout_s : arguments->loop_s;
    recording.began_ns = agent_now_ns();
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
    if (!open_session(error) || !start_writer(error)) {
        struct error ignored = {0};
        event_plan_stop(&recording.plan);
        sampler_run(false);
        recording.has_session = recording.has_session && !close_session(&ignored);
        return false;
    }
    start_python();
    recording_begin_drops();
    allow_renewal(true);
    recording.active = true;
    return true;
}

static void stop_engines(void)
{
    if (!recording.active)
        return;
    stop_python();
    allow_renewal(false); /* stacks of live objects are being added */
    event_plan_stop(&recording.plan);
    sampler_run(false);
    stop_writer();
    end_to_watch();
    learn_threads();
    recording_drain();
    recording_log_drops(true);
    recording.active = false;
}

/* Options of async-profiler without effect here are logged. */
static void warn_of_ignored(const struct arguments *arguments)
{
    if (arguments->jfr_sync != NULL)
        agent_log(LOG_WARN, "jfrsync: the JVM's own events are not added to the recording");
    if (arguments->descriptor_source != NULL)
        agent_log(LOG_WARN, "fdtransfer: ignored, the JVM opens perf events itself");
}

static bool start_locked(struct arguments *arguments, bool keep, struct error *error)
{
    struct event_plan plan;
    if (recording.active)
        return error_set(error, ERROR_USAGE, "Profiler already started");
    if (!java_vm.initialized && java_vm.declined[0] != 0)
        return error_set(error, ERROR_UNSUPPORTED, "%s", java_vm.declined);
    if (!java_vm.initialized && java_vm.machine != NULL)
        return error_set(error, ERROR_USAGE, "the JVM is not ready yet");
    enum output_format format = arguments_format(arguments);
    if (format != FORMAT_NONE && format != FORMAT_JFR && !profile_text_can_write(format, error))
        return false; /* now, not after the recording */
    if (!event_plan_make(&plan, arguments, error) || !rate_limit_set(arguments->rate_limit, error) ||
        !thread_filter_set(arguments->filter, error) || !features_choose(arguments->features, error) ||
        !fault_guard_install(error))
        return false;
    warn_of_ignored(arguments);
    secret_patterns_declare(arguments);
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
        end_to_watch();
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

/* Without a session, an output may use its share. */
static size_t output_bytes(void)
{
    const struct memory_shares *shares = &recording.shares;
    return recording.has_session ? shares->output
                                 : shares->output + shares->session + shares->view * shares->views;
}

static bool write_to(struct output *output, const struct arguments *arguments, enum output_format format,
                     struct error *error)
{
    struct profile_view view = {atomic_load(&sampler.tables), &recording.spilled, output_bytes(), arguments,
                                recording.plan.main_kind,     recording.plan.unit};
    pthread_mutex_lock(&recording.data_mutex);
    bool written = profile_text_write(&view, format, output, error);
    pthread_mutex_unlock(&recording.data_mutex);
    return written && output_finish(output, error);
}

/* Arguments of the later command override those of the start. */
static struct arguments merge_arguments(const struct arguments *later)
{
    struct arguments merged = recording.arguments;
    if (later->file != NULL)
        merged.file = later->file;
    if (later->format != FORMAT_NONE || later->file != NULL)
        merged.format = later->format;
    if (later->format != FORMAT_NONE && later->format != FORMAT_JFR && later->file == NULL)
        merged.file = NULL; /* the start's file is that of the recording, or has another format */
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
        return error_set(error, ERROR_USAGE, "a JFR recording needs jfr and file= at the start");
    pthread_mutex_lock(&recording.data_mutex);
    bool flushed = !recording.has_session || jfr_session_flush(&recording.session, error);
    pthread_mutex_unlock(&recording.data_mutex);
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
    recording_drain();
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
        return error_set(error, ERROR_USAGE, "there is no JFR recording to rotate");
    if (arguments->file == NULL)
        return error_set(error, ERROR_USAGE, "rotate needs file=");
    if (!arguments_expand_file(arguments->file, ++recording.sequence, path, sizeof(path)))
        return error_set(error, ERROR_USAGE, "the file name %s is too long", arguments->file);
    pthread_mutex_lock(&recording.data_mutex);
    recording_release_old_tables();
    recording_drain_locked();
    bool renews = recording_begin_renewal();
    bool switched = jfr_session_switch(&recording.session, path, atomic_load(&sampler.tables), &ended, error);
    if (renews)
        recording_finish_renewal();
    pthread_mutex_unlock(&recording.data_mutex);
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
        return dump_locked(arguments, text, error); /* of the last recording */
    if (!recording.active)
        return error_set(error, ERROR_USAGE, "Profiler is not active");
    stop_engines();
    if (!close_session(error))
        return false;
    uint64_t seconds = (agent_now_ns() - recording.began_ns) / 1000000000u;
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

/* Samples in the ring and of sleeping threads belong to the time before. */
static void hand_out_samples(void)
{
    if (recording.plan.wall != NULL)
        recording.plan.wall->flush();
    recording_drain();
}

/* If handlers count samples themselves, a view needs the writer and individual samples. */
static bool feed_views(bool feed, struct error *error)
{
    bool counts = !feed && arguments_format(&recording.arguments) != FORMAT_JFR && !sampler.asks_vm;
    if (counts == atomic_load(&sampler.counts_directly))
        return true;
    atomic_store(&sampler.counts_directly, counts);
    stop_writer();
    recording_drain();
    return start_writer(error);
}

static bool start_view(const struct arguments *arguments, struct text_builder *text, struct error *error)
{
    struct recorded_events recorded = {&recording.arguments, &recording.plan, atomic_load(&sampler.tables),
                                       recording.shares.view, recording.shares.views};
    hand_out_samples();
    pthread_mutex_lock(&recording.data_mutex);
    bool started = recording_views_start(arguments, &recorded, text, error);
    pthread_mutex_unlock(&recording.data_mutex);
    if (!started || feed_views(true, error))
        return started;
    recording_views_end_all();
    return false;
}

static bool rotate_view(const struct arguments *arguments, struct error *error)
{
    struct jfr_ended_file ended;
    hand_out_samples();
    pthread_mutex_lock(&recording.data_mutex);
    bool switched = recording_views_rotate(arguments, &ended, error);
    pthread_mutex_unlock(&recording.data_mutex);
    return jfr_file_end(&ended, error) && switched;
}

static bool stop_view(const struct arguments *arguments, struct error *error)
{
    hand_out_samples();
    pthread_mutex_lock(&recording.data_mutex);
    bool stopped = recording_views_stop(arguments, error), others = recording_views_exist();
    pthread_mutex_unlock(&recording.data_mutex);
    return stopped && (others || feed_views(false, error));
}

bool recording_view(const struct arguments *arguments, struct text_builder *text, struct error *error)
{
    bool done = false;
    pthread_mutex_lock(&command_mutex);
    if (!recording.active)
        error_set(error, ERROR_USAGE, "the recording has ended");
    else if (arguments->action == ACTION_START)
        done = start_view(arguments, text, error);
    else if (arguments->action == ACTION_ROTATE)
        done = rotate_view(arguments, error);
    else if (arguments->action == ACTION_STOP)
        done = stop_view(arguments, error);
    else
        error_set(error, ERROR_USAGE, "view= needs start, rotate or stop");
    pthread_mutex_unlock(&command_mutex);
    return done;
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
    pthread_mutex_lock(&recording.data_mutex);
    if (label_details_set(label, labels)) {
        if (recording.has_session)
            jfr_session_describe(&recording.session, label);
        recording_views_describe(label);
    }
    pthread_mutex_unlock(&recording.data_mutex);
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
                            (unsigned long long)((agent_now_ns() - recording.began_ns) / 1000000000u));
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
    add_metric(text, "samples_skipped_total",
               atomic_load(&sampler.busy) + atomic_load(&sampler.unknown_thread) +
                   atomic_load(&sampler.late) + (sampler.opened ? atomic_load(&sampler.ring.dropped) : 0));
    add_metric(text, "calltracestorage_overflows_total", atomic_load(&sampler.failed[FRAME_ERROR_NO_ROOM]));
    add_metric(text, "calltracestorage_bytes", sampler_table_bytes());
    add_metric(text, "stackwalk_ns_total", atomic_load(&sampler.handler_ns));
    add_metric(text, "faults_recovered_total", fault_guard_count());
    for (uint32_t i = 0; i < FRAME_ERRORS; i++)
        text_builder_format(text, "samples_failed_total{reason=\"%s\"} %llu\n", frame_error_text(i),
                            (unsigned long long)atomic_load(&sampler.failed[i]));
    pthread_mutex_unlock(&command_mutex);
}
