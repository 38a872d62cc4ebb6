#include "collector/libraries/shared_library.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

bool shared_library_load(const struct shared_library *library, void *functions, struct error *error)
{
    if (getauxval(AT_BASE) == 0)
        return error_set(
            error, ERROR_UNSUPPORTED,
            "a static sparkflame cannot load %s: run the collector with the dynamically linked one",
            library->file);
    void *handle = dlopen(library->file, RTLD_NOW);
    if (handle == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "%s is not installed (Debian: apt install %s)",
                         library->file, library->package);
    for (size_t i = 0; i < library->count; i++) {
        void *function = dlsym(handle, library->names[i]);
        if (function == NULL)
            return error_set(error, ERROR_UNSUPPORTED, "this %s lacks %s", library->file, library->names[i]);
        memcpy((char *)functions + i * sizeof(function), &function, sizeof(function));
    }
    return true;
}
