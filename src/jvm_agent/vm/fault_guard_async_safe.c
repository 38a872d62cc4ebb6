#include "jvm_agent/vm/fault_guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <ucontext.h>

#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/fault_install.h"
#include "jvm_agent/vm/machine.h"

struct fault_install fault_install;

static bool recover(void *context)
{
    uintptr_t pc = machine_context_pc(context);
    if (pc < fault_install.code_begin || pc >= fault_install.code_end)
        return false;
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL || record->fault_point == NULL)
        return false;
    fault_point_resume(record->fault_point, context);
    record->fault_point = NULL;
    atomic_fetch_add(&fault_install.count, 1);
    return true;
}

/* The instruction then faults again and ends the process, as without the agent. */
static void set_default(int signal_number)
{
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    sigaction(signal_number, &action, NULL);
}

static void pass_on(const struct sigaction *previous, int signal_number, siginfo_t *info, void *context)
{
    if ((previous->sa_flags & SA_SIGINFO) != 0 && previous->sa_sigaction != NULL)
        previous->sa_sigaction(signal_number, info, context);
    else if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN)
        previous->sa_handler(signal_number);
    else
        set_default(signal_number);
}

void fault_guard_handle(int signal_number, siginfo_t *info, void *context)
{
    if (!recover(context))
        pass_on(signal_number == SIGBUS ? &fault_install.previous_bus : &fault_install.previous_segv,
                signal_number, info, context);
}

bool fault_guard_unblock(const void *context)
{
    const sigset_t *mask = &((const ucontext_t *)context)->uc_sigmask;
    sigset_t faults;
    if (!sigismember(mask, SIGSEGV) && !sigismember(mask, SIGBUS))
        return false;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
    return true;
}

uint64_t fault_guard_count(void)
{
    return atomic_load(&fault_install.count);
}
