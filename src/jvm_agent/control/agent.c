#include "jvm_agent/control/agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/agent_marker.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/control/recording.h"
#include "jvm_agent/control/vm_events.h"
#include "jvm_agent/engines/engine.h"
#include "jvm_agent/engines/event_plan.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/handler/walk_trial.h"
#include "jvm_agent/hooks/loaded_library.h"
#include "jvm_agent/labels/spark_names.h"
#include "jvm_agent/vm/java_vm.h"

#define REPLY_LIMIT_BYTES ((size_t)1 << 30)
#define EXIT_ARGUMENTS 100
#define EXIT_COMMAND 200
#define AGENT_EXPORT __attribute__((visibility("default")))

static char *delayed_arguments; /* of -agentpath, until Java code runs */
static bool events_installed;

static void list_events(struct text_builder *text)
{
    text_builder_add_c_string(text, "Basic events:\n  cpu\n  alloc\n  lock\n  wall\n");
    for (size_t i = 0; engine_at(i) != NULL; i++)
        if (engine_at(i) != &engine_wall)
            text_builder_format(text, "  %-10s %s\n", engine_at(i)->name, engine_at(i)->summary);
    text_builder_add_c_string(text, "Perf events:\n");
    perf_choice_list(text);
    text_builder_add_c_string(text,
                              "  rNNN, PMU/EVENT/, CATEGORY:TRACEPOINT, mem:ADDRESS[:rwx], kprobe:NAME, "
                              "uprobe:FILE+OFFSET\n  FUNCTION of this process\n");
}

static bool run_action(struct arguments *arguments, struct text_builder *text, struct error *error)
{
    if (arguments->view != NULL)
        return recording_view(arguments, text, error);
    switch (arguments->action) {
    case ACTION_START:
    case ACTION_RESUME:
        if (!recording_start(arguments, arguments->action == ACTION_RESUME, error))
            return false;
        text_builder_add_c_string(text, "Profiling started\n");
        return true;
    case ACTION_STOP:
        return recording_stop(arguments, text, error);
    case ACTION_DUMP:
        return recording_dump(arguments, text, error);
    case ACTION_ROTATE:
        return recording_rotate(arguments, error);
    case ACTION_STATUS:
        recording_status(text);
        return true;
    case ACTION_METRICS:
        recording_metrics(text);
        return true;
    case ACTION_LIST:
        list_events(text);
        return true;
    case ACTION_VERSION:
        text_builder_add_c_string(text, SPARKFLAME_VERSION "\n");
        return true;
    default:
        return arguments_format(arguments) == FORMAT_NONE || recording_dump(arguments, text, error);
    }
}

bool agent_execute(const char *text_arguments, struct text_builder *text, struct error *error)
{
    struct arguments arguments;
    if (!arguments_parse(&arguments, text_arguments, error))
        return false;
    agent_log_open(arguments.log, arguments.log_level);
    if (arguments.unknown != NULL)
        agent_log(LOG_WARN, "Unknown argument: %s", arguments.unknown);
    bool done = run_action(&arguments, text, error);
    arguments_release(&arguments);
    return done;
}

static void on_init(JNIEnv *environment)
{
    struct error error = {0};
    struct text_builder text;
    text_builder_init(&text, REPLY_LIMIT_BYTES);
    if (!java_vm_ready(environment, &error)) {
        agent_log(LOG_ERROR, "sparkflame is off: %s", error.message);
    } else {
        vm_events_watch_threads();
        spark_names_watch(environment);
        walk_trial_make(environment);
        if (delayed_arguments != NULL && !agent_execute(delayed_arguments, &text, &error))
            agent_log(LOG_ERROR, "%s", error.message);
    }
    free(delayed_arguments);
    delayed_arguments = NULL;
    text_builder_release(&text);
}

static void write_reply(const char *data, size_t size, const char *path)
{
    /* It may name methods and threads of the application. */
    int descriptor = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (path != NULL && file == NULL)
        agent_log(LOG_ERROR, "cannot write %s", path);
    fwrite(data, 1, size, file == NULL ? stderr : file);
    if (file != NULL)
        fclose(file);
}

/* Writes the requested output of the start, if the recording is still running. */
static void on_death(void)
{
    struct error error = {0};
    struct text_builder text;
    struct arguments none;
    java_vm.dying = true;
    if (!recording_is_active() || !arguments_parse(&none, "stop", &error))
        return;
    text_builder_init(&text, REPLY_LIMIT_BYTES);
    if (!recording_stop(&none, &text, &error))
        agent_log(LOG_ERROR, "%s", error.message);
    else if (none.file == NULL && text.size > 0)
        write_reply(text.data, text.size, NULL);
    text_builder_release(&text);
    arguments_release(&none);
}

static const struct vm_event_handlers handlers = {.on_init = on_init, .on_death = on_death};

bool agent_open(JavaVM *machine, bool live, struct error *error)
{
    if (!java_vm_open(machine, live, error))
        return false;
    if (!loaded_library_pin(
            (const void *)(uintptr_t)&agent_open)) /* handlers and callbacks outlive who loaded it */
        return error_set(error, ERROR_SYSTEM, "this library cannot be kept in memory");
    if (sparkflame_agent_state.opened_ns == 0)
        sparkflame_agent_state.opened_ns = agent_now_ns();
    if (!events_installed && !vm_events_install(live, &handlers, error))
        return false;
    events_installed = true;
    if (!live)
        return true;
    JNIEnv *environment = java_vm_environment();
    if (environment == NULL)
        return error_set(error, ERROR_SYSTEM, "the calling thread is not attached to the JVM");
    if (!java_vm_ready(environment, error))
        return false;
    vm_events_watch_threads();
    spark_names_watch(environment);
    walk_trial_make(environment);
    return true;
}

/* Where an attach command's words go: the file it names, unless that is the recording's. */
static bool reply_file(const char *options, char *path, size_t size)
{
    struct arguments arguments;
    struct error error = {0};
    if (!arguments_parse(&arguments, options, &error))
        return false;
    bool to_file = arguments.file != NULL && arguments.action != ACTION_START &&
                   arguments.action != ACTION_RESUME && arguments.action != ACTION_STOP &&
                   arguments.action != ACTION_DUMP && arguments.action != ACTION_ROTATE &&
                   arguments_expand_file(arguments.file, 1, path, size);
    arguments_release(&arguments);
    return to_file;
}

/* "reply=PATH" in the arguments, which may be invalid otherwise. */
static bool reply_path(const char *options, char *path, size_t size)
{
    const char *at = options == NULL ? NULL : strstr(options, ",reply=");
    if (at == NULL)
        return false;
    at += strlen(",reply=");
    snprintf(path, size, "%.*s", (int)strcspn(at, ","), at);
    return true;
}

static jint run_attached(const char *options)
{
    struct error error = {0};
    struct text_builder text;
    char path[4096];
    text_builder_init(&text, REPLY_LIMIT_BYTES);
    bool done = agent_execute(options, &text, &error), replies = reply_path(options, path, sizeof(path));
    /* The error is reported to the caller; it is not logged to the program's standard error as well. */
    if (!done && (!replies || strstr(options, ",log=") != NULL))
        agent_log(LOG_ERROR, "%s", error.message);
    if (replies)
        write_reply(done ? text.data : error.message, done ? text.size : strlen(error.message), path);
    else if (!done)
        text_builder_clear(&text);
    else if (text.size > 0 && reply_file(options, path, sizeof(path)))
        write_reply(text.data, text.size, path);
    else if (text.size > 0)
        agent_log(LOG_INFO, "%.*s", (int)(text.size - 1 < 1000 ? text.size - 1 : 1000), text.data);
    text_builder_release(&text);
    return done ? JNI_OK : error.code == ERROR_USAGE ? EXIT_ARGUMENTS : EXIT_COMMAND;
}

/* A JVM does not start if its agent fails to load: log the reason and return success. */
AGENT_EXPORT JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *machine, char *options, void *reserved)
{
    struct error error = {0};
    struct arguments arguments;
    if (!arguments_parse(&arguments, options, &error)) {
        agent_log(LOG_ERROR, "sparkflame is off: %s", error.message);
        return JNI_OK;
    }
    agent_log_open(arguments.log, arguments.log_level);
    bool opened = agent_open(machine, false, &error);
    if (opened)
        event_plan_prepare(&arguments);
    arguments_release(&arguments);
    if (!opened) {
        agent_log(LOG_ERROR, "sparkflame is off: %s", error.message);
        return JNI_OK;
    }
    free(delayed_arguments);
    delayed_arguments = options == NULL ? NULL : strdup(options);
    return JNI_OK;
}

AGENT_EXPORT JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *machine, char *options, void *reserved)
{
    struct error error = {0};
    if (!agent_open(machine, true, &error)) {
        agent_log(LOG_ERROR, "%s", error.message);
        return EXIT_COMMAND;
    }
    return run_attached(options);
}

/* System.load(): only opens the agent. */
AGENT_EXPORT JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved)
{
    struct error error = {0};
    if (!agent_open(machine, true, &error))
        agent_log(LOG_ERROR, "sparkflame is off: %s", error.message);
    return JNI_VERSION_1_6;
}
