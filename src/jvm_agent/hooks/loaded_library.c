#include "jvm_agent/hooks/loaded_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

/* Copies the name, which is freed if the library is unloaded meanwhile. */
static int note_name(struct dl_phdr_info *info, size_t size, void *context)
{
    struct library_list *list = context;
    if (info->dlpi_name == NULL ||
        !array_reserve(&list->libraries, &list->capacity, list->count + 1, LOADED_LIBRARIES))
        return 0;
    bool is_program = info->dlpi_name[0] == 0;
    if (!is_program && strchr(info->dlpi_name, '/') == NULL)
        return 0; /* the vdso: dlopen() would search folders for it */
    struct loaded_library *library = &list->libraries[list->count];
    *library = (struct loaded_library){.name = strdup(info->dlpi_name), .base = info->dlpi_addr};
    if (library->name != NULL)
        list->count++;
    return 0;
}

static int copy_headers(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded_library *library = context;
    if (info->dlpi_addr != library->base || info->dlpi_name == NULL ||
        strcmp(info->dlpi_name, library->name) != 0 || info->dlpi_phnum > LOADED_LIBRARY_HEADERS)
        return 0;
    memcpy(library->headers, info->dlpi_phdr, info->dlpi_phnum * sizeof(info->dlpi_phdr[0]));
    library->header_count = info->dlpi_phnum;
    return 1;
}

/* The name of an unloaded library may find another one. The headers are those of the library opened here. */
static bool open_library(struct loaded_library *library)
{
    const struct link_map *map = NULL;
    library->handle = dlopen(library->name[0] == 0 ? NULL : library->name, RTLD_LAZY | RTLD_NOLOAD);
    if (library->handle == NULL)
        return false;
    if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == library->base &&
        map->l_ld != NULL && dl_iterate_phdr(copy_headers, library) != 0) {
        library->dynamic = map->l_ld;
        return true;
    }
    dlclose(library->handle);
    return false;
}

void library_list_open(struct library_list *list)
{
    size_t kept = 0;
    *list = (struct library_list){.libraries = NULL};
    dl_iterate_phdr(note_name, list);
    for (size_t i = 0; i < list->count; i++) {
        if (open_library(&list->libraries[i]))
            list->libraries[kept++] = list->libraries[i];
        else
            free(list->libraries[i].name);
    }
    list->count = kept;
    dlerror(); /* clears errors of those that could not be opened */
}

void library_list_release(struct library_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        dlclose(list->libraries[i].handle);
        free(list->libraries[i].name);
    }
    free(list->libraries);
    *list = (struct library_list){.libraries = NULL};
    dlerror();
}

bool loaded_library_holds(const struct loaded_library *library, const void *address)
{
    for (size_t i = 0; i < library->header_count; i++) {
        const Elf64_Phdr *header = &library->headers[i];
        uintptr_t begin = library->base + header->p_vaddr;
        if (header->p_type == PT_LOAD && (uintptr_t)address - begin < header->p_memsz)
            return true;
    }
    return false;
}

/* Only whole pages are protected; the rest of the last one stays writable, as it holds other data, too. */
bool loaded_library_protects(const struct loaded_library *library, const void *address)
{
    uintptr_t page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    for (size_t i = 0; i < library->header_count; i++) {
        const Elf64_Phdr *header = &library->headers[i];
        uintptr_t begin = (library->base + header->p_vaddr) & page_mask;
        uintptr_t end = (library->base + header->p_vaddr + header->p_memsz) & page_mask;
        if (header->p_type == PT_GNU_RELRO && (uintptr_t)address >= begin && (uintptr_t)address < end)
            return true;
    }
    return false;
}

bool loaded_library_exports(const struct loaded_library *library, const char *name)
{
    const void *found = dlsym(library->handle, name); /* also searches its dependencies */
    return found != NULL && loaded_library_holds(library, found);
}

/* RTLD_NODELETE would also apply to a library whose loading fails halfway, which glibc does not support (bug 20839). */
bool loaded_library_pin(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}
