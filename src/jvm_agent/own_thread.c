#include "jvm_agent/own_thread.h"

#include <signal.h>
#include <sys/prctl.h>

#include "base/attributes.h"
#include "jvm_agent/thread_table.h"

/* The kernel kills a process if a thread faults while it blocks that signal. The JVM and other profilers use faults
 * (safepoints, breakpoints in allocation), also on threads that only query the JVM. SIGPROF comes from a process timer,
 * ours or another profiler's: if this thread used the CPU time and blocked it, a waiting thread would get it. */
static const int open_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGPROF};

bool own_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < COUNT_OF(open_signals); i++)
        sigdelset(&all, open_signals[i]);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* The name shows users the cost of the agent. */
void own_thread_enter(void)
{
    prctl(PR_SET_NAME, "sparkflame");
    struct thread_record *record = thread_table_add(thread_own_id());
    if (record != NULL)
        atomic_store(&record->own, true);
}

void own_thread_leave(void)
{
    thread_table_remove(thread_own_id());
}
