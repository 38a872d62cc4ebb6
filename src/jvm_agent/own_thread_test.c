#include "jvm_agent/own_thread.h"

#include <signal.h>

#include "unit_test.h"

static void *note_mask(void *context)
{
    pthread_sigmask(SIG_BLOCK, NULL, context);
    return NULL;
}

TEST(signals_are_blocked_but_those_of_faults_and_process_timers)
{
    sigset_t mask;
    pthread_t thread;
    sigemptyset(&mask);
    CHECK(own_thread_start(&thread, note_mask, &mask));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sigismember(&mask, SIGVTALRM) == 1);
    CHECK(sigismember(&mask, SIGTERM) == 1);
    CHECK(sigismember(&mask, SIGSEGV) == 0);
    CHECK(sigismember(&mask, SIGBUS) == 0);
    CHECK(sigismember(&mask, SIGTRAP) == 0);
    CHECK(sigismember(&mask, SIGPROF) == 0);
}
