/*
 * import_patch.h - hooks functions in the import tables of libraries, and removes the hooks again.
 *
 * A hook replaces a function of libc and calls `next`, never the function by name: this library's own imports may be
 * hooked by others. `next` is the function that the process binds the name to (dlsym) or, if another tool hooked the
 * slot first, that tool's hook, so that both see the calls. A slot that another tool hooks after us is not changed
 * again, not even when our hooks are removed: its hook calls ours, which therefore keeps working until the process
 * ends.
 *
 * Never changed: this library, other copies of it, the loader, the libraries that define the functions, and slots bound
 * to another definition (a library with its own allocator) or to none.
 *
 * Owns: a list of the changed slots.
 * Threads: import_group_open() one at a time, import_patch_update() one at a time; hooks run concurrently.
 */
#ifndef JVM_AGENT_IMPORT_PATCH_H
#define JVM_AGENT_IMPORT_PATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct import_hook {
    const char *name; /* of a libc function */
    void *function;   /* our function */
    /* Calls the previous value of the slot, between import_chain_begin() and import_chain_end(). */
    void *chained;
    void *original;
    void *foreign; /* another tool's hook */
    _Atomic(void *) next;
    void *covering; /* was placed over ours and calls it */
};

enum import_place { IMPORTS_OF_ALL, IMPORTS_OF_JVM, IMPORTS_OF_OTHERS };

struct import_group {
    struct import_hook *hooks;
    size_t count;
    enum import_place place;
    _Atomic bool wanted; /* state that import_patch_update() establishes */
    bool opened;
    struct import_group *later;
};

/* `next` with that function type. */
#define IMPORT_NEXT(hook, function) \
    ((__typeof__(function) *)atomic_load_explicit(&(hook).next, memory_order_relaxed))

/* Finds the originals and registers the group for import_patch_update(). False: an original is missing. */
bool import_group_open(struct import_group *group);
/* Installs or removes hooks in all loaded libraries, according to the groups. Waits for the loader. `jvm`: an
 * address in the JVM's library, or NULL. */
void import_patch_update(const void *jvm);

/* The function that a chained call calls: another tool's hook, or the original if that hook would call us again. */
struct import_chain {
    void *function;
    bool entered;
};
struct import_chain import_chain_begin(const struct import_hook *hook);
void import_chain_end(struct import_chain chain);
/* True if any hook is chained. */
extern _Atomic bool import_chains;
/* True in a call from another tool's hook that our hook called. */
bool import_chain_is_nested(void);

#endif
