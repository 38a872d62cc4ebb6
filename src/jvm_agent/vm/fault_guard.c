#include "jvm_agent/vm/fault_guard.h"

#include <link.h>
#include <signal.h>
#include <stddef.h>

#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/fault_install.h"
#include "jvm_agent/vm/machine.h"

static int find_own_code(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t own = (uintptr_t)&fault_guard_handle;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && own >= begin && own < end) {
            fault_install.code_begin = begin;
            fault_install.code_end = end;
            return 1;
        }
    }
    return 0;
}

static bool install(int signal_number, struct sigaction *previous, struct error *error)
{
    struct sigaction action = {0};
    if (sigaction(signal_number, NULL, previous) != 0)
        return error_set_system(error, "signal %d", signal_number);
    action.sa_sigaction = fault_guard_handle;
    action.sa_mask = previous->sa_mask;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | (previous->sa_flags & (SA_ONSTACK | SA_RESTART));
    if (sigaction(signal_number, &action, NULL) != 0)
        return error_set_system(error, "signal %d", signal_number);
    return true;
}

bool fault_guard_install(struct error *error)
{
    if (fault_install.installed)
        return true;
    dl_iterate_phdr(find_own_code, NULL);
    if (fault_install.code_end == 0)
        return error_set(error, ERROR_SYSTEM, "cannot find this library's own code");
    fault_install.installed = install(SIGSEGV, &fault_install.previous_segv, error) &&
                              install(SIGBUS, &fault_install.previous_bus, error);
    return fault_install.installed;
}

/* Not inlined, so that its results are in memory when a fault returns here. */
__attribute__((noinline)) static bool call(struct thread_record *record, void (*run)(void *context),
                                           void *context)
{
    struct fault_point point, *outer = record->fault_point;
    volatile bool done = false;
    if (fault_point_set(&point) == 0) {
        record->fault_point = &point;
        run(context);
        done = true;
    }
    record->fault_point = outer;
    return done;
}

bool fault_guard_call(void (*run)(void *context), void *context)
{
    struct error error = {0};
    struct thread_record *record = fault_guard_install(&error) ? thread_table_add(thread_own_id()) : NULL;
    if (record == NULL)
        return false;
    sigset_t faults, before;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &faults, &before);
    bool done = call(record, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
}
