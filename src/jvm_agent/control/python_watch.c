#include "jvm_agent/control/python_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/own_thread.h"
#include "python_sampler/python_sampler.h"

#define SECOND_NS INT64_C(1000000000)

static struct python_sampler *sampler_of_children;
static struct python_watch_settings settings;
static size_t names_bytes; /* of function names, at the last stack */
static pthread_t thread;
static bool thread_runs;
static atomic_bool stop_wanted;

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Searching for children needs a read for each of our threads, so it is rare without Python processes, and skipped
 * if the kernel reports no children. */
static void wait_for_python(void)
{
    static const struct timespec pause = {0, 50000000};
    if (has_children())
        python_sampler_tick(sampler_of_children);
    for (int i = 0; i < 5 && !atomic_load(&stop_wanted); i++)
        nanosleep(&pause, NULL);
}

static void deliver(void *context, const struct python_stack *stack)
{
    const struct python_functions *functions = stack->functions;
    names_bytes = string_table_bytes(&functions->strings) + id_map_bytes(&functions->by_hash) +
                  functions->capacity * sizeof(*functions->functions);
    settings.deliver(context, stack);
}

static bool make_sampler(struct error *error)
{
    struct python_sampler_options options = {.interval_ns = SECOND_NS / settings.rate,
                                             .idle_interval_ns = settings.idle_interval_ns,
                                             .follow_children = true};
    names_bytes = 0;
    sampler_of_children = python_sampler_new(&options, deliver, NULL, error);
    return sampler_of_children != NULL && python_sampler_add(sampler_of_children, getpid(), error);
}

/* False: out of memory, sampling ends. */
static bool renew_names(void)
{
    struct error error = {0};
    if (names_bytes < settings.limit_bytes / 4 * 3)
        return true;
    python_sampler_free(sampler_of_children);
    settings.forget();
    if (make_sampler(&error))
        return true;
    agent_log(LOG_ERROR, "Python processes are no longer sampled: %s", error.message);
    return false;
}

static void *sample(void *context)
{
    own_thread_enter();
    while (!atomic_load(&stop_wanted)) {
        if (python_sampler_statistics(sampler_of_children).live_python == 0)
            wait_for_python();
        else
            python_sampler_run(sampler_of_children, SECOND_NS, &stop_wanted);
        if (!renew_names())
            break;
    }
    own_thread_leave();
    return NULL;
}

bool python_watch_start(const struct python_watch_settings *wanted, struct error *error)
{
    settings = *wanted;
    atomic_store(&stop_wanted, false);
    if (!make_sampler(error)) {
        python_watch_stop();
        return false;
    }
    thread_runs = own_thread_start(&thread, sample, NULL);
    if (!thread_runs) {
        python_watch_stop();
        return error_set(error, ERROR_SYSTEM, "cannot start the Python sampling thread");
    }
    return true;
}

void python_watch_stop(void)
{
    atomic_store(&stop_wanted, true);
    if (thread_runs)
        pthread_join(thread, NULL);
    thread_runs = false;
    python_sampler_free(sampler_of_children);
    sampler_of_children = NULL;
}
