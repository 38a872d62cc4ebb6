#include "jvm_agent/hooks/import_patch.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "jvm_agent/hooks/import_table.h"

#define SLOT_LIMIT ((size_t)1 << 20)
#define ATTEMPTS 3

/* A slot that holds our function, or one that calls it. */
struct patched_slot {
    void **slot;
    void *before;
    const struct import_hook *hook;
    uintptr_t base; /* of its library */
};

_Atomic bool import_chains;

static struct import_group *_Atomic groups;
static struct patched_slot *patched;
static size_t patched_count, patched_capacity;
static const void *in_libc;
static __thread bool in_chain;

bool import_chain_is_nested(void)
{
    return in_chain;
}

struct import_chain import_chain_begin(const struct import_hook *hook)
{
    struct import_chain chain = {in_chain ? hook->original : hook->foreign, !in_chain};
    in_chain = true;
    return chain;
}

void import_chain_end(struct import_chain chain)
{
    if (chain.entered)
        in_chain = false;
}

/* dlsym() reads symbol tables, which hooks do not change, and finds what ordinary libraries bind the name to. */
bool import_group_open(struct import_group *group)
{
    if (group->opened)
        return true;
    for (size_t i = 0; i < group->count; i++) {
        group->hooks[i].original = dlsym(RTLD_DEFAULT, group->hooks[i].name);
        if (group->hooks[i].original == NULL)
            return false;
        atomic_store(&group->hooks[i].next, group->hooks[i].original);
    }
    in_libc = dlsym(RTLD_DEFAULT, "sysconf");
    group->opened = true;
    group->later = atomic_load(&groups);
    atomic_store(&groups, group);
    return true;
}

static struct patched_slot *find_patched(void *const *slot)
{
    for (size_t i = 0; i < patched_count; i++)
        if (patched[i].slot == slot)
            return &patched[i];
    return NULL;
}

/* Removes the slots of unloaded libraries. */
static void forget_unloaded(const struct library_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < patched_count; i++) {
        bool loaded = false;
        for (size_t j = 0; j < list->count && !loaded; j++)
            loaded = list->libraries[j].base == patched[i].base &&
                     loaded_library_holds(&list->libraries[j], patched[i].slot);
        if (loaded)
            patched[kept++] = patched[i];
    }
    patched_count = kept;
}

/* Called before slots are checked: finds hooks placed over ours. */
static void find_covering(void)
{
    for (struct import_group *group = groups; group != NULL; group = group->later)
        for (size_t i = 0; i < group->count; i++)
            for (size_t j = 0; j < patched_count; j++) {
                void *value = __atomic_load_n(patched[j].slot, __ATOMIC_ACQUIRE);
                if (patched[j].hook == &group->hooks[i] && value != group->hooks[i].function &&
                    value != group->hooks[i].original && value != patched[j].before)
                    group->hooks[i].covering = value;
            }
}

struct import_visit {
    const struct library_list *list;
    const struct loaded_library *library;
    bool is_jvm;
};

static const struct loaded_library *library_of(const struct library_list *list, const void *address)
{
    for (size_t i = 0; i < list->count; i++)
        if (loaded_library_holds(&list->libraries[i], address))
            return &list->libraries[i];
    return NULL;
}

/* A library may depend on one that defines the function itself, and only the loader knows which definition it will
 * bind. libc's comes last: it is used only if there is no other, such as an allocator in LD_PRELOAD, which then is
 * the original. */
static bool will_bind_to_original(const struct import_visit *visit, const struct import_hook *hook)
{
    const void *found = dlsym(visit->library->handle, hook->name);
    if (found == NULL || found == hook->original)
        return true;
    const struct loaded_library *owner = library_of(visit->list, found);
    return owner != NULL && loaded_library_holds(owner, in_libc);
}

static bool is_definition(const struct loaded_library *library, const struct import_hook *hook,
                          const void *value)
{
    return library != NULL && dlsym(library->handle, hook->name) == value;
}

/* Another tool hooked the slot before us. One such hook can be called, and its library must stay loaded. */
static bool chain(struct import_hook *hook, void *value)
{
    if (hook->foreign == NULL && value != hook->covering) {
        (void)loaded_library_pin(value);
        hook->foreign = value;
        atomic_store(&import_chains, true);
        atomic_store(&hook->next, hook->chained);
    }
    return hook->foreign == value;
}

/* True if a slot with this value may be changed. */
static bool may_replace(const struct import_visit *visit, struct import_hook *hook, void *value)
{
    if (value == NULL || value == hook->function)
        return false; /* an undefined weak symbol, which the library may test for */
    const struct loaded_library *owner = library_of(visit->list, value);
    if (value == hook->original || (owner != NULL && loaded_library_holds(owner, hook->original)))
        return true;
    if (is_definition(owner, hook, value))
        return false;
    if (owner == visit->library)
        return will_bind_to_original(visit, hook); /* not bound yet: the value points to the loader */
    return chain(hook, value);
}

struct slot_change {
    const struct loaded_library *library;
    void **slot;
    void *expected, *value;
    bool done;
};

static int make_change(struct dl_phdr_info *info, size_t size, void *context)
{
    struct slot_change *change = context;
    change->done = import_slot_replace(change->library, change->slot, change->expected, change->value);
    return 1;
}

/* Under the loader's lock, as two copies of this library must not change the protection of a page at the same time. */
static bool replace(const struct loaded_library *library, void **slot, void *expected, void *value)
{
    struct slot_change change = {library, slot, expected, value, false};
    dl_iterate_phdr(make_change, &change);
    return change.done;
}

/* The loader binding a slot at that moment, or another tool, may have restored the previous value. */
static bool is_done(void **slot, const struct import_hook *hook)
{
    struct patched_slot *known = find_patched(slot);
    void *value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (known == NULL || (value != hook->original && value != known->before))
        return known != NULL;
    *known = patched[--patched_count];
    return false;
}

static void put_in(const struct import_visit *visit, void **slot, struct import_hook *hook)
{
    if (is_done(slot, hook) || !array_reserve(&patched, &patched_capacity, patched_count + 1, SLOT_LIMIT))
        return;
    for (int i = 0; i < ATTEMPTS; i++) {
        void *value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!may_replace(visit, hook, value))
            return;
        if (replace(visit->library, slot, value, hook->function)) {
            patched[patched_count++] = (struct patched_slot){slot, value, hook, visit->library->base};
            return;
        }
    }
}

static void take_out(const struct import_visit *visit, void **slot, struct import_hook *hook)
{
    struct patched_slot *known = find_patched(slot);
    if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != hook->function)
        return;
    void *before = known == NULL ? hook->original : known->before;
    if (replace(visit->library, slot, hook->function, before) && known != NULL)
        *known = patched[--patched_count];
}

static void see_slot(void **slot, const char *name, void *context)
{
    const struct import_visit *visit = context;
    for (struct import_group *group = groups; group != NULL; group = group->later) {
        if (group->place != IMPORTS_OF_ALL && (group->place == IMPORTS_OF_JVM) != visit->is_jvm)
            continue;
        for (size_t i = 0; i < group->count; i++) {
            if (strcmp(group->hooks[i].name, name) != 0)
                continue;
            if (atomic_load(&group->wanted))
                put_in(visit, slot, &group->hooks[i]);
            else
                take_out(visit, slot, &group->hooks[i]);
        }
    }
}

static bool defines_a_function(const struct loaded_library *library)
{
    for (struct import_group *group = groups; group != NULL; group = group->later)
        for (size_t i = 0; i < group->count; i++)
            if (loaded_library_holds(library, group->hooks[i].original))
                return true;
    return false;
}

/* Copies of this library, and the libraries that define the originals. */
static bool is_left_alone(const struct loaded_library *library)
{
    return loaded_library_holds(library, (const void *)(uintptr_t)&import_patch_update) ||
           loaded_library_exports(library, "sparkflame_agent_marker") ||
           loaded_library_exports(library, "Java_org_sparkflame_Agent_execute") || /* in older versions */
           defines_a_function(library) || strstr(library->name, "ld-linux") != NULL ||
           strstr(library->name, "ld-musl") != NULL;
}

void import_patch_update(const void *jvm)
{
    struct library_list list;
    library_list_open(&list);
    forget_unloaded(&list);
    find_covering();
    for (size_t i = 0; i < list.count; i++) {
        struct import_visit visit = {&list, &list.libraries[i],
                                     jvm != NULL && loaded_library_holds(&list.libraries[i], jvm)};
        if (!is_left_alone(visit.library))
            import_table_each(visit.library, see_slot, &visit);
    }
    library_list_release(&list);
}
