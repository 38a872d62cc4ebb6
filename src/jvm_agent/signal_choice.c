#include "jvm_agent/signal_choice.h"

#include <stddef.h>

static bool is_free(int signal_number, signal_handler *handler)
{
    struct sigaction action;
    if (sigaction(signal_number, NULL, &action) != 0)
        return false;
    if ((action.sa_flags & SA_SIGINFO) != 0)
        return action.sa_sigaction == handler;
    return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
}

/* Neither may interrupt the other: both walk with the same thread's fault point. */
static bool install(int signal_number, signal_handler *handler, struct error *error)
{
    struct sigaction action = {0};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    sigdelset(&action.sa_mask, SIGILL);
    sigdelset(&action.sa_mask, SIGFPE);
    sigdelset(&action.sa_mask, SIGTRAP);
    if (sigaction(signal_number, &action, NULL) != 0)
        return error_set_system(error, "signal %d", signal_number);
    return true;
}

bool signal_choose(int wanted, int first, signal_handler *handler, int *chosen, struct error *error)
{
    if (wanted > 0) {
        if (!is_free(wanted, handler))
            return error_set(error, ERROR_USAGE, "signal %d is used by something else in this process",
                             wanted);
        *chosen = wanted;
        return install(wanted, handler, error);
    }
    int candidates[] = {first, SIGPROF, SIGVTALRM, SIGRTMAX - 3, SIGRTMAX - 4, SIGRTMAX - 5, SIGRTMAX - 6};
    for (size_t i = 0; i < COUNT_OF(candidates); i++)
        if (is_free(candidates[i], handler)) {
            *chosen = candidates[i];
            return install(candidates[i], handler, error);
        }
    return error_set(error, ERROR_SYSTEM,
                     "no free signal: another profiler uses SIGPROF; stop it, or give signal=N");
}
