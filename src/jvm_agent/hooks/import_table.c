#include "jvm_agent/hooks/import_table.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOBAL_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOBAL_DATA = R_AARCH64_GLOB_DAT };
#endif

/* From a library's dynamic section. */
struct tables {
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *calls, *data;
    size_t calls_bytes, data_bytes;
};

static uintptr_t in_memory(uintptr_t base, uintptr_t value)
{
    return value < base ? base + value : value; /* some loaders leave them unrelocated */
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

struct entries {
    const Elf64_Rela *first;
    size_t bytes;
};

static void visit_entries(const struct loaded_library *library, const struct tables *tables,
                          struct entries entries, import_visit *visit, void *context)
{
    for (size_t i = 0; entries.first != NULL && i < entries.bytes / sizeof(*entries.first); i++) {
        const Elf64_Rela *entry = &entries.first[i];
        uint64_t type = ELF64_R_TYPE(entry->r_info);
        if (type != JUMP_SLOT && type != GLOBAL_DATA)
            continue;
        const Elf64_Sym *symbol = &tables->symbols[ELF64_R_SYM(entry->r_info)];
        visit((void **)(library->base + entry->r_offset), tables->names + symbol->st_name, context);
    }
}

void import_table_each(const struct loaded_library *library, import_visit *visit, void *context)
{
    struct tables tables = {0};
    read_dynamic(library->base, library->dynamic, &tables);
    if (tables.symbols == NULL || tables.names == NULL)
        return;
    visit_entries(library, &tables, (struct entries){tables.calls, tables.calls_bytes}, visit, context);
    visit_entries(library, &tables, (struct entries){tables.data, tables.data_bytes}, visit, context);
}

/*
 * Tests whether a word is writable without changing it: the kernel atomically adds 0, and fails where a store would.
 * Other tools make import tables writable permanently and rely on it, so the protection is restored only if it was
 * read-only.
 */
static bool is_writable(void *word)
{
    uint32_t nobody_waits = 0;
    return syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, word,
                   FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static bool replace(void **slot, void *expected, void *function)
{
    return __atomic_compare_exchange_n(slot, &expected, function, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool import_slot_replace(const struct loaded_library *library, void **slot, void *expected, void *function)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_bytes - 1));
    if (!loaded_library_protects(library, slot) || is_writable(slot))
        return replace(slot, expected, function);
    if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    bool replaced = replace(slot, expected, function);
    mprotect(page, page_bytes, PROT_READ);
    return replaced;
}
