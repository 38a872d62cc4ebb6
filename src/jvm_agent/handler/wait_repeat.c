#include "jvm_agent/handler/wait_repeat.h"

#include <link.h>
#include <stddef.h>
#include <unistd.h>

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t inside = *(const uintptr_t *)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || inside < begin || inside >= end)
            continue;
        wait_repeat.libc_begin = begin;
        wait_repeat.libc_end = end;
        return 1;
    }
    return 0;
}

void wait_repeat_prepare(void)
{
    uintptr_t inside = (uintptr_t)&syscall; /* a function that is not interposed */
    if (wait_repeat.libc_end == 0)
        dl_iterate_phdr(find_libc, &inside);
}
