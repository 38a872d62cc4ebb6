/*
 * An agent that changes the JVM's tables of its layout before ours reads them. Its option is the field, a colon, and
 * the number to add to its offset, or "hide": "_osthread:hide", "_thread_id:8".
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t number(void *library, const char *name)
{
    return *(const uint64_t *)dlsym(library, name);
}

static void change(char *place, const void *value, size_t size)
{
    mprotect((void *)((uintptr_t)place & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE);
    memcpy(place, value, size);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *machine, char *options, void *reserved)
{
    static const char *hidden = "hidden";
    void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    char *wish = strchr(options, ':');
    char *entry = (char *)number(library, "gHotSpotVMStructs");
    uint64_t type = number(library, "gHotSpotVMStructEntryTypeNameOffset");
    uint64_t field = number(library, "gHotSpotVMStructEntryFieldNameOffset");
    uint64_t offset = number(library, "gHotSpotVMStructEntryOffsetOffset");
    for (; *(char **)(entry + type) != NULL; entry += number(library, "gHotSpotVMStructEntryArrayStride")) {
        const char *name = *(char **)(entry + field);
        if (strncmp(name, options, (size_t)(wish - options)) != 0 || name[wish - options] != 0)
            continue;
        uint64_t moved = *(uint64_t *)(entry + offset) + strtoull(wish + 1, NULL, 0);
        if (strcmp(wish + 1, "hide") == 0)
            change(entry + field, &hidden, sizeof(hidden));
        else
            change(entry + offset, &moved, sizeof(moved));
    }
    return 0;
}
