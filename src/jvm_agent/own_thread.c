#include "jvm_agent/own_thread.h"

#include <signal.h>
#include <sys/prctl.h>

#include "jvm_agent/thread_table.h"

bool own_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* The kernel's name lets people see what the agent costs them. */
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
