#include "jvm_agent/hooks/import_patch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jvm_agent/hooks/import_table.h"
#include "unit_test.h"

static struct import_hook get_pid;
static int calls, foreign_calls;
static void *foreign_next;

static pid_t get_pid_hook(void)
{
    calls++;
    return IMPORT_NEXT(get_pid, getpid)();
}

static pid_t chained_get_pid(void)
{
    struct import_chain chain = import_chain_begin(&get_pid);
    pid_t pid = ((__typeof__(getpid) *)chain.function)();
    import_chain_end(chain);
    return pid;
}

/* Another tool's hook. */
static pid_t foreign_hook(void)
{
    foreign_calls++;
    return ((__typeof__(getpid) *)foreign_next)();
}

static int weak_hook(void)
{
    return 0;
}

static struct import_hook get_pid = {"getpid", (void *)get_pid_hook, (void *)chained_get_pid};
static struct import_group pid_group = {&get_pid, 1, IMPORTS_OF_ALL};

struct opened {
    void *handle;
    pid_t (*call)(void);
    void **slot;
    const char *name;
};

static void note_slot(void **slot, const char *name, void *context)
{
    struct opened *opened = context;
    if (strcmp(name, opened->name) == 0)
        opened->slot = slot;
}

static struct opened open_library_of(const char *file, const char *name)
{
    struct library_list list;
    struct opened opened = {.handle = dlopen(file, RTLD_LAZY), .name = name};
    CHECK(opened.handle != NULL);
    opened.call = (pid_t(*)(void))dlsym(opened.handle, "getpid_of_library");
    library_list_open(&list);
    for (size_t i = 0; i < list.count; i++)
        if (loaded_library_holds(&list.libraries[i], (const void *)(uintptr_t)opened.call))
            import_table_each(&list.libraries[i], note_slot, &opened);
    library_list_release(&list);
    CHECK(opened.slot != NULL);
    return opened;
}

static struct opened open_library(const char *file)
{
    return open_library_of(file, "getpid");
}

static void protection_of(const void *address, char *text)
{
    char line[4096];
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECK(maps != NULL);
    memcpy(text, "none", sizeof("none"));
    while (fgets(line, sizeof(line), maps) != NULL) {
        char *rest;
        begin = strtoul(line, &rest, 16);
        end = strtoul(rest + 1, &rest, 16);
        if ((uintptr_t)address >= begin && (uintptr_t)address < end)
            memcpy(text, rest + 1, 4);
    }
    fclose(maps);
}

static void want(bool wanted)
{
    CHECK(import_group_open(&pid_group));
    atomic_store(&pid_group.wanted, wanted);
    import_patch_update(NULL);
}

static void check_in_and_out(const char *file, const char *protection)
{
    char found[8] = "";
    struct opened library = open_library(file);
    void *before = *library.slot;
    protection_of(library.slot, found);
    CHECK_TEXT(found, protection);
    want(true);
    CHECK(*library.slot == (void *)get_pid_hook);
    protection_of(library.slot, found);
    CHECK_TEXT(found, protection);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(calls, 1);
    want(true);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(calls, 2);
    want(false);
    CHECK(*library.slot == before);
    protection_of(library.slot, found);
    CHECK_TEXT(found, protection);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(calls, 2);
}

TEST(hooks_of_a_lazily_bound_library_go_in_and_out)
{
    check_in_and_out(HOOKED_LAZY, "rw-p");
}

TEST(hooks_of_a_library_that_is_bound_at_once_go_in_and_out_and_its_pages_stay_read_only)
{
    check_in_and_out(HOOKED_NOW, "r--p");
}

/* async-profiler makes such pages writable once, and relies on it. */
TEST(pages_that_somebody_made_writable_stay_so)
{
    char found[8] = "";
    struct opened library = open_library(HOOKED_NOW);
    uintptr_t page = (uintptr_t)library.slot & ~(uintptr_t)4095;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    want(true);
    want(false);
    protection_of(library.slot, found);
    CHECK_TEXT(found, "rw-p");
}

static void put_foreign(const struct opened *library, void *next)
{
    uintptr_t page = (uintptr_t)library->slot & ~(uintptr_t)4095;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    foreign_next = next;
    *library->slot = (void *)foreign_hook;
}

TEST(a_hook_that_was_there_before_is_called_and_put_back)
{
    struct opened library = open_library(HOOKED_NOW);
    put_foreign(&library, dlsym(RTLD_DEFAULT, "getpid"));
    want(true);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(calls, 1);
    CHECK_INT(foreign_calls, 1);
    want(false);
    CHECK(*library.slot == (void *)foreign_hook);
}

TEST(a_hook_that_came_later_is_left_in_place)
{
    struct opened library = open_library(HOOKED_NOW), other = open_library(HOOKED_LAZY);
    want(true);
    put_foreign(&library, *library.slot);
    put_foreign(&other, *other.slot);
    want(true);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(calls, 1);
    CHECK_INT(foreign_calls, 1);
    want(false);
    CHECK(*library.slot == (void *)foreign_hook);
    want(true);
    CHECK(*library.slot == (void *)foreign_hook);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(calls, 2);
    CHECK_INT(foreign_calls, 2);
}

TEST(hooks_that_lead_to_each_other_end)
{
    struct opened library = open_library(HOOKED_NOW);
    put_foreign(&library, (void *)get_pid_hook);
    want(true);
    CHECK(*library.slot == (void *)get_pid_hook);
    CHECK_INT(library.call(), getpid());
    CHECK_INT(foreign_calls, 1);
    CHECK(!import_chain_is_nested());
}

/* The loader binds a slot, or another tool removes a hook that it had placed over ours. */
TEST(a_slot_that_was_bound_again_gets_its_hook_again)
{
    struct opened library = open_library(HOOKED_LAZY);
    want(true);
    *library.slot = dlsym(RTLD_DEFAULT, "getpid");
    want(true);
    CHECK(*library.slot == (void *)get_pid_hook);
}

/* Sanitizers do not support this way of loading. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
static char *get_env_hook(const char *name)
{
    calls++;
    return (char *)name;
}

static struct import_hook get_env = {"getenv", (void *)get_env_hook, (void *)get_env_hook};
static struct import_group env_group = {&get_env, 1, IMPORTS_OF_ALL};

static void check_own_function(const char *file)
{
    CHECK(dlopen(file, RTLD_LAZY | RTLD_DEEPBIND) != NULL);
    struct opened library = open_library_of(file, "getenv");
    char *(*call)(const char *) = (char *(*)(const char *))dlsym(library.handle, "own_getenv_of_library");
    CHECK(import_group_open(&env_group));
    atomic_store(&env_group.wanted, true);
    import_patch_update(NULL);
    CHECK(*library.slot != (void *)get_env_hook);
    CHECK_TEXT(call("HOME"), "own");
    CHECK_INT(calls, 0);
}

TEST(a_function_that_a_library_defines_itself_is_not_hooked)
{
    check_own_function(HOOKED_NOW);
}

TEST(a_function_that_a_library_defines_itself_and_is_not_bound_yet_is_not_hooked)
{
    check_own_function(HOOKED_LAZY);
}
#endif

TEST(what_is_not_bound_stays_so)
{
    struct opened library = open_library_of(HOOKED_NOW, "function_that_is_not_there");
    int (*(*call)(void))(void) = (int (*(*)(void))(void))dlsym(library.handle, "weak_of_library");
    struct import_hook weak = {.name = "getpid", (void *)weak_hook, (void *)weak_hook};
    struct import_group group = {&weak, 1, IMPORTS_OF_ALL};
    CHECK(import_group_open(&group));
    weak.name = "function_that_is_not_there";
    atomic_store(&group.wanted, true);
    import_patch_update(NULL);
    CHECK(call() == NULL);
}

TEST(unloaded_libraries_are_forgotten)
{
    for (int i = 0; i < 20; i++) {
        struct opened library = open_library(HOOKED_LAZY);
        want(true);
        CHECK_INT(library.call(), getpid());
        CHECK(dlclose(library.handle) == 0);
        CHECK(dlopen(HOOKED_LAZY, RTLD_LAZY | RTLD_NOLOAD) == NULL);
        want(i % 2 == 0);
    }
    CHECK_INT(calls, 20);
}
