#include "jvm_agent/fault_guard.h"

#include <link.h>
#include <stddef.h>

#include "jvm_agent/fault_install.h"

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
