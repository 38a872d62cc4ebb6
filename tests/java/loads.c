/* Functions for Loads: load libraries in native threads, and read import tables. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <jni.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS 64

static char paths[PATHS][512];
static int path_count;
static int pause_us;
static _Atomic int going;
static _Atomic long loads, failures;

/* Each thread loads and unloads the libraries in a different order, and calls them. */
static void *churn(void *context)
{
    unsigned seed = (unsigned)(size_t)context;
    while (atomic_load(&going)) {
        void *library = dlopen(paths[rand_r(&seed) % (unsigned)path_count], RTLD_LAZY);
        int (*work)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "work");
        if (work == NULL || work() != 42)
            atomic_fetch_add(&failures, 1);
        if (library != NULL)
            dlclose(library);
        atomic_fetch_add(&loads, 1);
        if (pause_us > 0)
            usleep((useconds_t)pause_us);
    }
    return NULL;
}

static void copy(JNIEnv *environment, jstring string, char *text, size_t size)
{
    const char *chars = (*environment)->GetStringUTFChars(environment, string, NULL);
    snprintf(text, size, "%s", chars);
    (*environment)->ReleaseStringUTFChars(environment, string, chars);
}

static pthread_t threads[16];
static int thread_count;

JNIEXPORT void JNICALL Java_Loads_startChurn(JNIEnv *environment, jclass self, jobjectArray names, jint count,
                                             jint pause)
{
    path_count = (int)(*environment)->GetArrayLength(environment, names);
    for (int i = 0; i < path_count; i++)
        copy(environment, (*environment)->GetObjectArrayElement(environment, names, i), paths[i],
             sizeof(paths[i]));
    pause_us = (int)pause;
    atomic_store(&going, 1);
    for (thread_count = 0; thread_count < count; thread_count++)
        pthread_create(&threads[thread_count], NULL, churn, (void *)(size_t)(thread_count + 1));
}

JNIEXPORT jstring JNICALL Java_Loads_endChurn(JNIEnv *environment, jclass self)
{
    char text[128];
    atomic_store(&going, 0);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    snprintf(text, sizeof(text), "%ld loads, %ld failures", atomic_exchange(&loads, 0),
             atomic_exchange(&failures, 0));
    return (*environment)->NewStringUTF(environment, text);
}

/* "libc.so.6+0x1234 r--p" */
static void describe(char *text, size_t size, void **slot)
{
    Dl_info info = {0};
    char line[4096], protection[8] = "none";
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        char found[8];
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, found) == 3 && (size_t)slot >= begin &&
            (size_t)slot < end)
            memcpy(protection, found, sizeof(found));
    }
    if (maps != NULL)
        fclose(maps);
    const char *name = dladdr(*slot, &info) == 0 ? "nothing" : strrchr(info.dli_fname, '/') + 1;
    snprintf(text, size, "%s+%#zx %s", name, (size_t)*slot - (size_t)info.dli_fbase, protection);
}

static void **find_slot(const struct link_map *map, const char *wanted)
{
    size_t values[DT_JMPREL + 1] = {0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag >= 0 && entry->d_tag <= DT_JMPREL)
            values[entry->d_tag] = entry->d_un.d_val;
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)values[DT_SYMTAB];
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *entries = (const ElfW(Rela) *)values[table == 0 ? DT_JMPREL : DT_RELA];
        size_t count = values[table == 0 ? DT_PLTRELSZ : DT_RELASZ] / sizeof(*entries);
        for (size_t i = 0; entries != NULL && i < count; i++) {
            const char *name =
                (const char *)values[DT_STRTAB] + symbols[ELF64_R_SYM(entries[i].r_info)].st_name;
            if (strcmp(name, wanted) == 0)
                return (void **)(map->l_addr + entries[i].r_offset);
        }
    }
    return NULL;
}

/* The function that an import of a library is bound to, and the protection of its page. */
JNIEXPORT jstring JNICALL Java_Loads_slot(JNIEnv *environment, jclass self, jstring library, jstring function)
{
    char path[512], name[128], text[1024] = "none";
    copy(environment, library, path, sizeof(path));
    copy(environment, function, name, sizeof(name));
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        handle = dlopen(path, RTLD_LAZY);
    struct link_map *map = handle;
    void **slot = handle == NULL ? NULL : find_slot(map, name);
    if (slot != NULL)
        describe(text, sizeof(text), slot);
    return (*environment)->NewStringUTF(environment, text);
}
