#include "jvm_agent/python_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/own_thread.h"
#include "python_sampler/python_sampler.h"

#define SECOND_NS INT64_C(1000000000)

static struct python_sampler *sampler_of_children;
static pthread_t thread;
static bool thread_runs;
static atomic_bool stop_wanted;

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Looking for children costs a read for each of our threads, so without Python it is done seldom, and not at all when the
 * kernel says that there are none. */
static void wait_for_python(void)
{
    static const struct timespec pause = {0, 50000000};
    if (has_children())
        python_sampler_tick(sampler_of_children);
    for (int i = 0; i < 5 && !atomic_load(&stop_wanted); i++)
        nanosleep(&pause, NULL);
}

static void *sample(void *context)
{
    own_thread_enter();
    while (!atomic_load(&stop_wanted)) {
        if (python_sampler_statistics(sampler_of_children).live_python == 0)
            wait_for_python();
        else
            python_sampler_run(sampler_of_children, SECOND_NS, &stop_wanted);
    }
    own_thread_leave();
    return NULL;
}

bool python_watch_start(int64_t rate, int64_t idle_interval_ns,
                        void (*deliver)(void *context, const struct python_stack *stack), struct error *error)
{
    struct python_sampler_options options = {
        .interval_ns = SECOND_NS / rate, .idle_interval_ns = idle_interval_ns, .follow_children = true};
    sampler_of_children = python_sampler_new(&options, deliver, NULL, error);
    if (sampler_of_children == NULL)
        return false;
    atomic_store(&stop_wanted, false);
    if (!python_sampler_add(sampler_of_children, getpid(), error)) {
        python_watch_stop();
        return false;
    }
    thread_runs = own_thread_start(&thread, sample, NULL);
    if (!thread_runs) {
        python_watch_stop();
        return error_set(error, ERROR_SYSTEM, "cannot start the thread that samples Python");
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
