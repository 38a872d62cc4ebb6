/*
 * loaded_library.h - the libraries of this process, kept loaded while they are read.
 *
 * The loader lists a library before it has relocated it, and may unload it at any moment. library_list_open() therefore
 * opens each library again: that waits until the loader has finished with it, and adds a reference. Libraries that
 * cannot be opened by the loader's name are left out: the vdso, and those being unloaded. Libraries of other namespaces
 * (dlmopen) are not listed.
 *
 * Owns: names, and a reference to each library, until library_list_release(), which may unload some.
 * Threads: any; not inside a callback of dl_iterate_phdr(), as the loader needs the same lock.
 * Limit: LOADED_LIBRARY_HEADERS program headers; LOADED_LIBRARIES libraries.
 */
#ifndef JVM_AGENT_LOADED_LIBRARY_H
#define JVM_AGENT_LOADED_LIBRARY_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOADED_LIBRARY_HEADERS 32
#define LOADED_LIBRARIES 16384

struct loaded_library {
    char *name; /* as in the loader; "": the program itself */
    void *handle;
    uintptr_t base; /* 0 for a position-dependent program */
    const Elf64_Dyn *dynamic;
    Elf64_Phdr headers[LOADED_LIBRARY_HEADERS];
    size_t header_count;
};

struct library_list {
    struct loaded_library *libraries;
    size_t count, capacity;
};

/* As many as memory permits. */
void library_list_open(struct library_list *list);
void library_list_release(struct library_list *list);

bool loaded_library_holds(const struct loaded_library *library, const void *address);
/* True if the loader made this address read-only after relocation (RELRO). */
bool loaded_library_protects(const struct loaded_library *library, const void *address);
/* True if the library itself defines a symbol of this name. */
bool loaded_library_exports(const struct loaded_library *library, const char *name);

/* Keeps the library that contains the address loaded until the process ends. False: not found. */
bool loaded_library_pin(const void *address);

#endif
