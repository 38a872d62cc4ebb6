#include "jvm_agent/engines/signal_choice.h"

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

/* No handler interrupts another one, but for that of a process timer (see signal_choice.h). */
static bool install(int signal_number, signal_handler *handler, int process_timer, struct error *error)
{
    struct sigaction action = {0};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (signal_number == process_timer ? SA_NODEFER : 0);
    sigfillset(&action.sa_mask);
    if (process_timer != 0)
        sigdelset(&action.sa_mask, process_timer);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    sigdelset(&action.sa_mask, SIGILL);
    sigdelset(&action.sa_mask, SIGFPE);
    sigdelset(&action.sa_mask, SIGTRAP);
    if (sigaction(signal_number, &action, NULL) != 0)
        return error_set_system(error, "signal %d", signal_number);
    return true;
}

bool signal_choose(int wanted, int first, int process_timer, signal_handler *handler, int *chosen,
                   struct error *error)
{
    if (wanted > 0) {
        if (!is_free(wanted, handler))
            return error_set(error, ERROR_USAGE, "signal %d is already used in this process", wanted);
        *chosen = wanted;
        return install(wanted, handler, process_timer, error);
    }
    int candidates[] = {first, SIGPROF, SIGVTALRM, SIGRTMAX - 3, SIGRTMAX - 4, SIGRTMAX - 5, SIGRTMAX - 6};
    for (size_t i = 0; i < COUNT_OF(candidates); i++)
        if (is_free(candidates[i], handler)) {
            *chosen = candidates[i];
            return install(candidates[i], handler, process_timer, error);
        }
    return error_set(error, ERROR_SYSTEM,
                     "no free signal: another profiler uses SIGPROF; stop it, or use signal=N");
}
