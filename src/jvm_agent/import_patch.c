#include "jvm_agent/import_patch.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOBAL_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOBAL_DATA = R_AARCH64_GLOB_DAT };
#endif

struct patch {
    const struct import_hook *hooks;
    size_t count;
    const void *only_in, *except_in;
};

static void *hook_of(const struct patch *patch, const char *name)
{
    for (size_t i = 0; i < patch->count; i++)
        if (strcmp(patch->hooks[i].name, name) == 0)
            return patch->hooks[i].function;
    return NULL;
}

/* Of a library's dynamic section. */
struct tables {
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *calls, *data;
    size_t calls_bytes, data_bytes;
};

static uintptr_t in_memory(uintptr_t base, uintptr_t value)
{
    return value < base ? base + value : value; /* some loaders leave them as linked */
}

static void read_dynamic(uintptr_t base, const Elf64_Dyn *dynamic, struct tables *tables)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        uintptr_t at = in_memory(base, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_SYMTAB)
            tables->symbols = (const Elf64_Sym *)at;
        else if (dynamic->d_tag == DT_STRTAB)
            tables->names = (const char *)at;
        else if (dynamic->d_tag == DT_JMPREL)
            tables->calls = (const Elf64_Rela *)at;
        else if (dynamic->d_tag == DT_PLTRELSZ)
            tables->calls_bytes = dynamic->d_un.d_val;
        else if (dynamic->d_tag == DT_RELA)
            tables->data = (const Elf64_Rela *)at;
        else if (dynamic->d_tag == DT_RELASZ)
            tables->data_bytes = dynamic->d_un.d_val;
    }
}

/* The page is read-only when the loader has finished with it. */
static void set_slot(void **slot, void *function)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_bytes - 1));
    if (*slot == function || mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
}

static void patch_entries(const struct patch *patch, uintptr_t base, const struct tables *tables,
                          const Elf64_Rela *entries, size_t bytes)
{
    for (size_t i = 0; entries != NULL && i < bytes / sizeof(*entries); i++) {
        uint64_t type = ELF64_R_TYPE(entries[i].r_info);
        if (type != JUMP_SLOT && type != GLOBAL_DATA)
            continue;
        const Elf64_Sym *symbol = &tables->symbols[ELF64_R_SYM(entries[i].r_info)];
        void *function = hook_of(patch, tables->names + symbol->st_name);
        if (function != NULL)
            set_slot((void **)(base + entries[i].r_offset), function);
    }
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && address >= begin && address < begin + header->p_memsz)
            return true;
    }
    return false;
}

/* Neither ourselves nor the one that has the true functions. */
static bool is_wanted(const struct patch *patch, const struct dl_phdr_info *info)
{
    if (patch->only_in != NULL)
        return holds(info, (uintptr_t)patch->only_in);
    if (patch->except_in != NULL && holds(info, (uintptr_t)patch->except_in))
        return false;
    return !holds(info, (uintptr_t)&import_patch) && !holds(info, (uintptr_t)free) &&
           info->dlpi_name != NULL && strstr(info->dlpi_name, "ld-linux") == NULL &&
           strstr(info->dlpi_name, "ld-musl") == NULL;
}

static int patch_library(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct patch *patch = context;
    struct tables tables = {0};
    if (!is_wanted(patch, info))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(info->dlpi_addr, (const Elf64_Dyn *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                         &tables);
    if (tables.symbols == NULL || tables.names == NULL || info->dlpi_addr == 0)
        return 0;
    patch_entries(patch, info->dlpi_addr, &tables, tables.calls, tables.calls_bytes);
    patch_entries(patch, info->dlpi_addr, &tables, tables.data, tables.data_bytes);
    return 0;
}

void import_patch(const struct import_hook *hooks, size_t count, const void *only_in, const void *except_in)
{
    struct patch patch = {hooks, count, only_in, except_in};
    dl_iterate_phdr(patch_library, &patch);
}
