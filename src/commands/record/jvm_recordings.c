#include "commands/record/jvm_recordings.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "commands/record/agent_library.h"
#include "commands/processes/spark_targets.h"
#include "formats/reader.h"
#include "jvm_attach/attach.h"
#include "jvm_attach/jvm_process.h"
#include "model/selection.h"

#define ANSWER_LIMIT_BYTES ((size_t)1 << 20)
#define SECOND_NS 1000000000
#define GRACE_S 60 /* a recording or view that is not stopped lasts this much longer */

bool is_jvm(pid_t pid)
{
    struct jvm_process process;
    struct error error = {0};
    if (!jvm_process_read(&process, pid, &error))
        return false;
    bool known = process.kind == JVM_HOTSPOT;
    jvm_process_release(&process);
    return known;
}

/* ---- which ---- */

bool jvm_recordings_add(struct jvm_recordings *recordings, pid_t pid, const char *application,
                        const char *executor, struct error *error)
{
    for (size_t i = 0; i < recordings->count; i++)
        if (recordings->all[i].pid == pid)
            return true;
    if (!array_reserve(&recordings->all, &recordings->capacity, recordings->count + 1, JVM_RECORDINGS_LIMIT))
        return error_set(error, ERROR_MEMORY, "too many JVMs to record");
    struct jvm_recording *recording = &recordings->all[recordings->count++];
    *recording = (struct jvm_recording){.pid = pid};
    snprintf(recording->application, sizeof(recording->application), "%s", application);
    snprintf(recording->executor, sizeof(recording->executor), "%s", executor);
    jvm_file_name(pid, recording->path);
    return true;
}

bool jvm_recordings_add_application(struct jvm_recordings *recordings, const char *application,
                                    struct error *error)
{
    struct process_list list;
    process_list_init(&list);
    bool good = process_list_read(&list, "/proc", error);
    for (size_t i = 0; good && i < list.count; i++) {
        const struct process *process = &list.processes[i];
        bool works = process->role == SPARK_ROLE_DRIVER || process->role == SPARK_ROLE_EXECUTOR ||
                     process->role == SPARK_ROLE_APPLICATION_MASTER || process->role == SPARK_ROLE_SERVER;
        if (works && spark_target_matches(&list, process, application))
            good =
                jvm_recordings_add(recordings, process->pid, process->application, process->executor, error);
    }
    process_list_release(&list);
    return good;
}

/* ---- start and stop ---- */

static bool tell(const struct jvm_recordings *recordings, const struct jvm_recording *recording,
                 const char *line, struct error *error)
{
    struct text_builder answer;
    text_builder_init(&answer, ANSWER_LIMIT_BYTES);
    bool good = attach_agent_command(recording->pid, recordings->library, line, &answer, error);
    text_builder_release(&answer);
    return good;
}

/* After it the agent ends what a killed command has left behind. */
static int64_t limit_s(const struct jvm_recordings *recordings)
{
    int64_t duration_ns = recordings->duration_ns > 0 ? recordings->duration_ns : JVM_RECORDINGS_DURATION_NS;
    return duration_ns / SECOND_NS + GRACE_S;
}

/* A recording is already running: its samples are used, at its rate. */
static bool start_view(const struct jvm_recordings *recordings, struct jvm_recording *recording,
                       struct error *error)
{
    struct jvm_view *view = &recording->view;
    if (!jvm_view_start(view, recording->pid, recordings->library, recordings->event, limit_s(recordings),
                        error))
        return false;
    recording->is_view = true;
    memcpy(recording->path, view->path, sizeof(recording->path));
    if (view->interval_ns != 0 && view->interval_ns != recording->interval_ns)
        command_complain(
            recordings->command,
            "process %d: a recording is already running; using its samples, at its interval of %g ms",
            (int)recording->pid, (double)view->interval_ns / 1e6);
    if (view->interval_ns != 0)
        recording->interval_ns = view->interval_ns;
    return true;
}

static bool start_one(const struct jvm_recordings *recordings, struct jvm_recording *recording,
                      const char *line)
{
    struct error error = {0};
    recording->interval_ns = recordings->interval_ns;
    bool good = tell(recordings, recording, line, &error) ||
                (jvm_view_is_needed(&error) && start_view(recordings, recording, &error));
    if (!good)
        command_complain(recordings->command, "process %d: %s", (int)recording->pid, error.message);
    return good;
}

static void stop_one(const struct jvm_recordings *recordings, struct jvm_recording *recording)
{
    struct error error = {0};
    bool good = recording->is_view ? jvm_view_stop(&recording->view, &error)
                                   : tell(recordings, recording, "stop,quiet", &error);
    if (!good)
        command_complain(recordings->command, "process %d: %s", (int)recording->pid, error.message);
}

bool jvm_recordings_start(struct jvm_recordings *recordings, struct error *error)
{
    size_t started = 0;
    const char *event = recordings->event == NULL ? "cpu" : recordings->event;
    bool is_timed = strcmp(event, "alloc") != 0 && strcmp(event, "live") != 0 && strcmp(event, "lock") != 0;
    char interval[40] = "";
    if (!agent_library_find(NULL, recordings->library, error))
        return false;
    if (is_timed)
        snprintf(interval, sizeof(interval), ",interval=%" PRId64, recordings->interval_ns);
    for (size_t i = 0; i < recordings->count; i++) {
        char line[400];
        snprintf(line, sizeof(line), "start,quiet,event=%s%s,timeout=%" PRId64 ",jfr,file=%s", event,
                 interval, limit_s(recordings), recordings->all[i].path);
        recordings->all[i].started = start_one(recordings, &recordings->all[i], line);
        started += recordings->all[i].started;
    }
    return started > 0 || error_set(error, ERROR_SYSTEM, "no JVM can be recorded");
}

size_t jvm_recordings_live(const struct jvm_recordings *recordings)
{
    size_t live = 0;
    for (size_t i = 0; i < recordings->count; i++)
        live += recordings->all[i].started && kill(recordings->all[i].pid, 0) == 0;
    return live;
}

/* ---- what they wrote ---- */

static uint32_t label_value(struct profile *profile, const char *text)
{
    return text[0] == '\0' ? 0 : profile_string(profile, text_of(text));
}

/* The label set plus labels of the process; those of the recording take precedence. */
static uint32_t add_labels(struct profile *profile, uint32_t number, const struct label *more, size_t count)
{
    struct label labels[LABEL_KEY_LIMIT];
    struct context context = context_table_get(&profile->contexts, number);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        labels[size++] = more[i];
    for (size_t i = 0; i < context.size && size < LABEL_KEY_LIMIT; i++)
        labels[size++] = context.labels[i];
    return context_table_add(&profile->contexts, labels, size);
}

static bool label_samples(struct profile *profile, const struct jvm_recording *recording)
{
    char process[16];
    snprintf(process, sizeof(process), "%d", (int)recording->pid);
    struct label more[] = {
        {LABEL_PROCESS, label_value(profile, process)},
        {LABEL_APPLICATION, label_value(profile, recording->application)},
        {LABEL_EXECUTOR, label_value(profile, recording->executor)},
    };
    size_t known = profile->contexts.size;
    uint32_t *to = calloc(known + 1, sizeof(*to));
    bool good = to != NULL;
    for (size_t i = 0; good && i < COUNT_OF(more); i++)
        good = more[i].value != NO_STRING;
    for (uint32_t i = 0; good && i < known; i++) {
        to[i] = add_labels(profile, i, more, COUNT_OF(more));
        good = to[i] != NO_CONTEXT;
    }
    for (size_t i = 0; good && i < profile->sample_count; i++)
        profile->samples[i].context = to[profile->samples[i].context];
    free(to);
    return good;
}

/* A sample of cpu or wall stands for an interval, as in the Python sampler. */
static void weigh_samples(struct profile *profile, int64_t interval_ns)
{
    bool is_timed[EVENT_LIMIT] = {false};
    for (size_t i = 0; i < profile->event_count; i++) {
        struct text_view name = profile_text(profile, profile->events[i].name);
        is_timed[i] = profile->events[i].unit == UNIT_COUNT &&
                      (text_equal(name, TEXT("cpu")) || text_equal(name, TEXT("wall")));
        if (is_timed[i])
            profile->events[i].unit = UNIT_NANOSECONDS;
    }
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct sample *sample = &profile->samples[i];
        if (is_timed[sample->event])
            sample->value = sample->count * (double)interval_ns;
    }
}

static bool add_profile(const struct jvm_recordings *recordings, struct profile *from, struct profile *into,
                        struct error *error)
{
    struct selection selection;
    struct profile grouped;
    if (!recordings->by_thread)
        return profile_merge(into, from, error);
    selection_init(&selection);
    selection.group_names[selection.group_count++] = "thread";
    bool good = profile_init(&grouped, from->keep_times, error);
    if (good) {
        good = selection_apply(&selection, from, &grouped, error) && profile_merge(into, &grouped, error);
        profile_release(&grouped);
    }
    selection_release(&selection);
    return good;
}

static bool read_recording(const struct jvm_recordings *recordings, const struct jvm_recording *recording,
                           const struct profile_needs *needs, struct profile *into, struct error *error)
{
    char path[JVM_FILE_LIMIT];
    struct profile read;
    struct read_options options = {
        .threads = 1,
        .needs_lines = true,
        .needs_contexts = true,
        .joins_java_kinds = !needs->kinds,
        .event = text_of(recordings->event == NULL ? "cpu" : ""),
    };
    int descriptor = jvm_file_open(recording->pid, recording->path, path);
    if (descriptor < 0)
        return error_set_system(error, "%s", recording->path);
    if (!profile_init(&read, into->keep_times, error)) {
        close(descriptor);
        return false;
    }
    bool good = read_profile(path, reader_by_name(TEXT("jfr")), &options, &read, error);
    if (good || read.sample_count > 0) {
        weigh_samples(&read, recording->interval_ns);
        good = (label_samples(&read, recording) || error_set_memory(error)) &&
               add_profile(recordings, &read, into, error) && good;
    }
    close(descriptor);
    profile_release(&read);
    return good;
}

bool jvm_recordings_take(struct jvm_recordings *recordings, const struct profile_needs *needs,
                         struct profile *profile)
{
    bool any = false;
    for (size_t i = 0; i < recordings->count; i++)
        if (recordings->all[i].started && kill(recordings->all[i].pid, 0) == 0)
            stop_one(recordings, &recordings->all[i]);
    for (size_t i = 0; i < recordings->count; i++) {
        struct error error = {0};
        if (!recordings->all[i].started)
            continue;
        if (read_recording(recordings, &recordings->all[i], needs, profile, &error))
            any = true;
        else
            command_complain(recordings->command, "process %d: %s", (int)recordings->all[i].pid,
                             error.message);
    }
    return any;
}

void jvm_recordings_release(struct jvm_recordings *recordings)
{
    for (size_t i = 0; i < recordings->count; i++)
        if (recordings->all[i].started)
            jvm_file_remove(recordings->all[i].pid, recordings->all[i].path);
    free(recordings->all);
    recordings->all = NULL;
    recordings->count = recordings->capacity = 0;
}
